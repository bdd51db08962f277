# SPDX-License-Identifier: Apache-2.0
"""Search for the Debian mirrors, logins and proxies already used by this machine.

The repository contains no mirror. PILOTLIGHT_DEBIAN_MIRROR sets one, or the machine's apt, in
one-line `.list` files and deb822 `.sources` files. Checksums verify the packages, not the mirror.
"""

from __future__ import annotations

import base64
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

MIRROR_VARIABLE = "PILOTLIGHT_DEBIAN_MIRROR"

# Suite names of Debian's own archive; third-party archives use other names.
_SUITES = re.compile(
    r"(stable|oldstable|oldoldstable|testing|unstable|sid|bullseye|bookworm|trixie|forky|duke)"
    r"(-updates|-backports)?"
)


@dataclass(frozen=True)
class _Entry:
    uris: tuple[str, ...]
    suites: tuple[str, ...]
    components: tuple[str, ...]


def _one_line_entries(text: str) -> Iterator[_Entry]:
    for line in text.splitlines():
        match = re.match(r"\s*deb\s+(?:\[[^]]*\]\s*)?(\S+)\s+(\S+)\s+([^#]+)", line)
        if match:
            uri, suite, components = match.groups()
            yield _Entry((uri,), (suite,), tuple(components.split()))


def _deb822_entries(text: str) -> Iterator[_Entry]:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for stanza in re.split(r"\n\s*\n", "\n".join(lines)):
        fields: dict[str, str] = {}
        key = ""
        for line in stanza.splitlines():
            if line[:1].isspace():
                fields[key] = fields.get(key, "") + "\n" + line
            elif ":" in line:
                key, _, value = line.partition(":")
                key = key.strip().lower()
                fields[key] = value
        if "deb" not in fields.get("types", "").split():
            continue
        if fields.get("enabled", "yes").strip().lower() in ("no", "false", "0"):
            continue
        yield _Entry(
            tuple(fields.get("uris", "").split()),
            tuple(fields.get("suites", "").split()),
            tuple(fields.get("components", "").split()),
        )


def _entries(root: Path) -> Iterator[_Entry]:
    apt = root / "etc/apt"
    for path in [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*"))]:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if path.suffix == ".list":
            yield from _one_line_entries(text)
        elif path.suffix == ".sources":
            yield from _deb822_entries(text)


def _expanded(uri: str, root: Path) -> Iterator[str]:
    """Yield the address, or those of a list of mirrors; apt alone knows other kinds."""
    uris = [uri]
    if uri.startswith("mirror+file:"):
        try:
            text = (root / uri[len("mirror+file:") :].lstrip("/")).read_text(encoding="utf-8")
        except OSError:
            return
        uris = [line.split()[0] for line in text.splitlines() if line.strip()[:1] not in ("", "#")]
    for each in uris:
        if each.startswith(("http://", "https://", "file:/")):
            yield each.rstrip("/")


def machine_mirrors(root: Path = Path("/")) -> list[str]:
    """Return base addresses of Debian mirrors, without `/dists`; the best first.

    Args:
        root: folder containing `etc/apt`; another one in tests.
    """
    if override := os.environ.get(MIRROR_VARIABLE):
        return [override.rstrip("/")]
    found: list[str] = []
    for entry in _entries(root):
        if "main" in entry.components and any(map(_SUITES.fullmatch, entry.suites)):
            for uri in entry.uris:
                found += _expanded(uri, root)
    return list(dict.fromkeys(found))


@lru_cache
def read_logins(root: Path = Path("/")) -> dict[str, str]:
    """Return a header `Authorization` by host, of apt's files of logins (apt_auth.conf(5))."""
    logins = {}
    for path in [
        root / "etc/apt/auth.conf",
        *sorted((root / "etc/apt/auth.conf.d").glob("*.conf")),
    ]:
        try:
            text = path.read_text(encoding="utf-8")
        except OSError:
            continue
        for entry in re.split(r"(?:^|\s)machine\s+", re.sub(r"#.*", "", text))[1:]:
            machine, *words = entry.split()
            fields = dict(zip(words[::2], words[1::2]))  # noqa: B905 (Python 3.8)
            pair = f"{fields.get('login', '')}:{fields.get('password', '')}"
            host = re.sub(r"^\w+://|[:/].*$", "", machine)
            logins[host] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    return logins


@lru_cache
def read_proxies_of_apt() -> dict[str, str]:
    """Return the proxy of the machine's apt, by protocol."""
    try:
        command = ["apt-config", "dump", "Acquire"]
        dump = subprocess.run(command, capture_output=True, text=True).stdout
    except OSError:
        return {}
    found = re.findall(r'^Acquire::(https?)::Proxy "([^"]+)";$', dump, re.MULTILINE | re.IGNORECASE)
    return {protocol: proxy for protocol, proxy in found if proxy != "DIRECT"}
