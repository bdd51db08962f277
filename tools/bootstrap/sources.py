# SPDX-License-Identifier: Apache-2.0
"""Finds the Debian mirrors that this machine already uses.

The repository names no host: the address of a mirror comes from the machine's own apt configuration
(one-line `.list` files and deb822 `.sources` files) or from PILOTLIGHT_DEBIAN_MIRROR.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.bootstrap.report import SetupError

MIRROR_VARIABLE = "PILOTLIGHT_DEBIAN_MIRROR"
ARCHIVE_KEYRING = Path("usr/share/keyrings/debian-archive-keyring.gpg")

# What the archive of Debian itself calls its suites; third-party archives use other names.
_SUITES = re.compile(
    r"(stable|oldstable|oldoldstable|testing|unstable|sid|bullseye|bookworm|trixie|forky|duke)"
    r"(-updates|-backports)?"
)


@dataclass(frozen=True)
class Mirror:
    """Base address of a Debian archive, without `/dists/...`, and the keyring that signs it."""

    uri: str
    keyring: Path


@dataclass(frozen=True)
class _Entry:
    uris: tuple[str, ...]
    suites: tuple[str, ...]
    components: tuple[str, ...]
    signed_by: str


def _one_line_entries(text: str) -> Iterator[_Entry]:
    for line in text.splitlines():
        match = re.match(r"\s*deb\s+(?:\[([^]]*)\]\s*)?(\S+)\s+(\S+)\s+([^#]+)", line)
        if not match:
            continue
        options, uri, suite, components = match.groups()
        signed_by = re.search(r"signed-by=(\S+)", options or "", re.IGNORECASE)
        yield _Entry(
            (uri,), (suite,), tuple(components.split()), signed_by.group(1) if signed_by else ""
        )


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
            fields.get("signed-by", "").strip(),
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


def machine_mirrors(root: Path = Path("/")) -> list[Mirror]:
    """Returns the Debian mirrors to try, best first.

    Args:
        root: folder that holds `etc/apt` and `usr/share/keyrings`; another one in tests.

    Raises:
        SetupError: no entry of the apt configuration is a Debian archive with component `main`,
            or the keyring that Debian signs with is not installed.
    """
    default_keyring = root / ARCHIVE_KEYRING
    found: list[Mirror] = []
    override = os.environ.get(MIRROR_VARIABLE)
    if override:
        found.append(Mirror(override.rstrip("/"), default_keyring))
    else:
        for entry in _entries(root):
            if "main" not in entry.components:
                continue
            if not any(_SUITES.fullmatch(suite) for suite in entry.suites):
                continue
            keyring = Path(entry.signed_by)
            if not keyring.is_absolute() or "\n" in entry.signed_by:
                keyring = default_keyring
            for uri in entry.uris:
                mirror = Mirror(uri.rstrip("/"), keyring)
                if mirror not in found:
                    found.append(mirror)
    if not found:
        raise SetupError(
            f"no Debian mirror found in {root / 'etc/apt'}: "
            f"set {MIRROR_VARIABLE} to the base address of one (what stands before '/dists')"
        )
    missing = [mirror.keyring for mirror in found if not mirror.keyring.is_file()]
    if len(missing) == len(found):
        raise SetupError(
            f"the keyring of the Debian archive is missing ({missing[0]}): "
            "install the package debian-archive-keyring"
        )
    return [mirror for mirror in found if mirror.keyring not in missing]
