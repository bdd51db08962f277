# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from tools.bootstrap.sources import MIRROR_VARIABLE, machine_mirrors, read_logins

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
            "Suites: bookworm\nComponents: main\n",
            "m.list": "# mine\nhttp://c.example/debian/ priority:1\ntor+http://d.example/debian\n",
        },
        ["http://c.example/debian"],
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
    assert machine_mirrors(root) == expected


def test_variable_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MIRROR_VARIABLE, "http://mine.example/debian/")
    root = make_root(tmp_path, {"sources.list": "deb http://a.example/debian bookworm main\n"})
    assert machine_mirrors(root) == ["http://mine.example/debian"]


def test_logins_of_apt(tmp_path: Path) -> None:
    root = make_root(
        tmp_path,
        {
            "auth.conf": "# mine\nmachine a.example login me password secret\n",
            "auth.conf.d/b.conf": "machine https://b.example/debian\nlogin you\npassword p\n",
            "auth.conf.d/c.old": "machine c.example login x password y\n",
        },
    )
    assert read_logins(root) == {
        "a.example": "Basic bWU6c2VjcmV0",
        "b.example": "Basic eW91OnA=",
    }
