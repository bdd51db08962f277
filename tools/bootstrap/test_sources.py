# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from tools.bootstrap.report import SetupError
from tools.bootstrap.sources import ARCHIVE_KEYRING, MIRROR_VARIABLE, machine_mirrors

DEB822 = """\
# see sources.list(5)
Types: deb
# http://old.example/archive/debian/20250101T000000Z
URIs: http://mirror.example/debian/
Suites: bookworm bookworm-updates
Components: main
Signed-By: {root}/usr/share/keyrings/other.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
"""

CASES: dict[str, tuple[dict[str, str], list[str]]] = {
    "one line": (
        {"sources.list": "deb http://a.example/debian bookworm main contrib\n"},
        ["http://a.example/debian"],
    ),
    "one line with options and a comment": (
        {
            "sources.list.d/x.list": "# deb http://no.example/debian sid main\n"
            "deb [arch=amd64 signed-by={root}/usr/share/keyrings/other.gpg] "
            "https://b.example/debian/ trixie main # yes\n"
        },
        ["https://b.example/debian"],
    ),
    "deb822 with comments, security left out": (
        {"sources.list.d/debian.sources": DEB822},
        ["http://mirror.example/debian"],
    ),
    "dated snapshot": (
        {"sources.list": "deb http://s.example/archive/debian/20250520T000000Z bookworm main\n"},
        ["http://s.example/archive/debian/20250520T000000Z"],
    ),
    "list of mirrors": (
        {
            "sources.list.d/debian.sources": "Types: deb\nURIs: mirror+file:///etc/apt/m.list\n"
            "Suites: bookworm\nComponents: main\n"
        },
        ["mirror+file:///etc/apt/m.list"],
    ),
    "sources only, disabled, or of somebody else": (
        {
            "sources.list": "deb-src http://a.example/debian bookworm main\n"
            "deb http://vendor.example/apt tool-bookworm main\n"
            "deb http://a.example/debian bookworm contrib\n",
            "sources.list.d/off.sources": "Types: deb\nURIs: http://off.example/debian\n"
            "Suites: bookworm\nComponents: main\nEnabled: no\n",
            "sources.list.d/old.bak": "deb http://bak.example/debian bookworm main\n",
        },
        [],
    ),
    "several, in order, once each": (
        {
            "sources.list": "deb http://a.example/debian bookworm main\n"
            "deb http://a.example/debian bookworm-updates main\n"
            "deb http://b.example/debian bookworm main\n"
        },
        ["http://a.example/debian", "http://b.example/debian"],
    ),
}


def make_root(folder: Path, files: dict[str, str]) -> Path:
    for keyring in (folder / ARCHIVE_KEYRING, folder / ARCHIVE_KEYRING.with_name("other.gpg")):
        keyring.parent.mkdir(parents=True, exist_ok=True)
        keyring.touch()
    for name, text in files.items():
        path = folder / "etc/apt" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("{root}", str(folder)))
    return folder


@pytest.mark.parametrize("name", CASES)
def test_mirrors(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)
    files, expected = CASES[name]
    root = make_root(tmp_path, files)
    if expected:
        assert [mirror.uri for mirror in machine_mirrors(root)] == expected
    else:
        with pytest.raises(SetupError):
            machine_mirrors(root)


def test_keyring_is_the_entrys_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)
    root = make_root(tmp_path, {"sources.list.d/debian.sources": DEB822})
    assert machine_mirrors(root)[0].keyring.name == "other.gpg"


def test_variable_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MIRROR_VARIABLE, "http://mine.example/debian/")
    root = make_root(tmp_path, {"sources.list": "deb http://a.example/debian bookworm main\n"})
    assert [mirror.uri for mirror in machine_mirrors(root)] == ["http://mine.example/debian"]


def test_no_mirror_names_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)
    with pytest.raises(SetupError, match=f"no Debian mirror found in .*set {MIRROR_VARIABLE}"):
        machine_mirrors(tmp_path)


def test_no_keyring_names_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)
    root = make_root(tmp_path, {"sources.list": "deb http://a.example/debian bookworm main\n"})
    (root / ARCHIVE_KEYRING).unlink()
    with pytest.raises(SetupError, match="install the package debian-archive-keyring"):
        machine_mirrors(root)
