# SPDX-License-Identifier: Apache-2.0
"""Read a suite of Debian's archive: its signed index, and the dependencies of packages."""

from __future__ import annotations

import hashlib
import lzma
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from tools.bootstrap.download import read_url
from tools.bootstrap.lock import Locked, LockedPackage, Request
from tools.bootstrap.machine import HERE, Architecture
from tools.bootstrap.openpgp import SignatureError, read_keys, verify
from tools.bootstrap.report import SetupError, say

_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+")


def _fields(stanza: str) -> dict[str, str]:
    return dict(re.findall(r"^([A-Za-z0-9-]+):[ \t]*(.*(?:\n[ \t].*)*)", stanza, re.MULTILINE))


class Archive:
    """One suite of one mirror."""

    def __init__(
        self,
        mirror: str,
        suite: str,
        may_be_expired: bool = False,
        architecture: Architecture = HERE,
    ):
        """Fetch the suite's index.

        Args:
            mirror: base address, without `/dists`.
            suite: for example "trixie".
            may_be_expired: accept an index after its Valid-Until, as frozen mirrors have it.
            architecture: of the packages.

        Raises:
            SetupError: the index is not reachable, not signed by Debian, or expired.
        """
        self._suite = suite
        self._stanzas: dict[str, str] = {}
        self._providers: dict[str, list[str]] = defaultdict(list)
        base = f"{mirror}/dists/{suite}"
        index = f"main/binary-{architecture.debian}/Packages.xz"
        release = self._release(base, may_be_expired)
        self.date = parsedate_to_datetime(release["Date"]).astimezone(UTC)
        rows = [line.split() for line in release["SHA256"].splitlines()]
        (sha256,) = (row[0] for row in rows if row[2:] == [index])
        data = read_url(f"{base}/{index}")
        if hashlib.sha256(data).hexdigest() != sha256:
            raise SetupError(f"{base}/{index} has the wrong checksum")
        self._read(lzma.decompress(data).decode("utf-8"))

    def _release(self, base: str, may_be_expired: bool) -> dict[str, str]:
        keys = read_keys()
        try:
            text, signers = verify(read_url(f"{base}/InRelease"), keys)
        except SignatureError as error:
            raise SetupError(f"{base}/InRelease: {error}") from error
        if len(signers) < 2:
            say(
                f"warning: of {len(keys)} pinned keys only {', '.join(signers)} signed {base}. "
                "Add Debian's new keys to debian_keys.txt"
            )
        release = _fields(text)
        if self._suite not in (release.get("Suite"), release.get("Codename")):
            raise SetupError(f"{base} is Debian {release.get('Codename')}; {self._suite} is needed")
        until = release.get("Valid-Until")
        if until and not may_be_expired and parsedate_to_datetime(until).timestamp() < time.time():
            raise SetupError(f"{base} is out of date: it was valid until {until}")
        return release

    def _read(self, index: str) -> None:
        for stanza in index.split("\n\n"):
            name, _, rest = stanza[len("Package: ") :].partition("\n")
            self._stanzas[name] = rest
            at = rest.find("\nProvides: ")
            if at >= 0:
                for word in rest[at + 11 :].partition("\n")[0].split(","):
                    self._providers[word.split()[0]].append(name)

    def _choose(self, group: str, present: Iterable[str]) -> str | None:
        """Return the package for one dependency with its alternatives; None if one is present."""
        names = [match[0] for word in group.split("|") if (match := _NAME.search(word))]
        for name in names:
            if not {name, *self._providers.get(name, ())}.isdisjoint(present):
                return None
        for name in names:
            if name in self._stanzas:
                return name
            if name in self._providers:
                return min(self._providers[name])
        raise SetupError(f"Debian {self._suite} has no package {group.strip()}")

    def _closure(self, request: Request) -> Mapping[str, dict[str, str]]:
        chosen: dict[str, dict[str, str]] = {}
        waiting = list(request.packages)
        groups: list[str] = []
        while waiting or groups:
            if not waiting:
                # Dependencies without alternatives first: they decide those with.
                groups.sort(key=lambda group: "|" in group)
                found = self._choose(groups.pop(0), {*chosen, *request.without})
                waiting += [found] if found else []
                continue
            name = waiting.pop(0)
            if name in chosen or name in request.without:
                continue
            if name not in self._stanzas:
                raise SetupError(f"Debian {self._suite} has no package {name}")
            chosen[name] = _fields(self._stanzas[name])
            for key in ("Pre-Depends", "Depends"):
                text = chosen[name].get(key, "")
                groups += [group for group in text.split(",") if group.strip()]
        return chosen

    def resolve(self, request: Request) -> Locked:
        """Return the packages of a request and all their dependencies.

        Raises:
            SetupError: the suite lacks a package.
        """
        packages = [
            LockedPackage(name, row["Version"], row["SHA256"], int(row["Size"]), row["Filename"])
            for name, row in self._closure(request).items()
        ]
        packages.sort(key=lambda package: package.file)
        return Locked(snapshot_date(self.date), tuple(packages))


def snapshot_date(published: datetime) -> str:
    """Return the time of a snapshot with all packages of an index.

    The snapshot archive returns the last snapshot before a given time. It takes four a day, the
    first up to six hours after the publication. Packages removed from an index stay in the pool for
    a day.
    """
    return (published + timedelta(hours=12)).strftime("%Y%m%dT%H%M%SZ")
