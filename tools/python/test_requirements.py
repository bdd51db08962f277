# SPDX-License-Identifier: Apache-2.0
"""The lock files have all requested packages, and nothing specific to one machine."""

import re
from pathlib import Path

import pytest

from tools.python.update_requirements import wanted_pins

FOLDER = Path("tools/python")
BUILD, CHECKS, DOCS, PROOFS = "requirements", "checks", "docs", "proofs"
LOCKS = {name: (FOLDER / f"{name}.txt").read_text() for name in (BUILD, CHECKS, DOCS, PROOFS)}
PINS = {
    name: dict(re.findall(r"^([A-Za-z0-9._-]+)==(\S+) \\$", text, re.MULTILINE))
    for name, text in LOCKS.items()
}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("name", LOCKS)
def test_what_is_asked_for_is_pinned(name: str) -> None:
    asked = (FOLDER / f"{name}.in").read_text()
    found = re.findall(r"^([A-Za-z][\w.-]*)(?:==(\S+)|<\S+)?$", asked, re.MULTILINE)
    assert len(found) > 2
    pins = {**PINS[BUILD], **PINS[name]}
    for package, version in found:
        assert normal(package) in pins, package
        assert version in ("", pins[normal(package)]), package


def test_nothing_is_pinned_twice() -> None:
    assert PINS[BUILD].keys().isdisjoint(PINS[CHECKS])
    assert PINS[BUILD].keys().isdisjoint(PINS[DOCS])
    assert PINS[BUILD].keys().isdisjoint(PINS[PROOFS])


@pytest.mark.parametrize("name", LOCKS)
def test_every_pin_has_a_hash(name: str) -> None:
    blocks = re.split(r"\n(?=[A-Za-z0-9])", LOCKS[name])
    pinned = [block for block in blocks if "==" in block.splitlines()[0]]
    assert len(pinned) == len(PINS[name])
    for block in pinned:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", block), block.splitlines()[0]


@pytest.mark.parametrize("name", LOCKS)
def test_no_host_path_or_option(name: str) -> None:
    for line in LOCKS[name].splitlines():
        assert re.fullmatch(r"|#.*|[\w.-]+==\S+ \\|    --hash=sha256:[0-9a-f]{64}( \\)?", line), (
            line
        )
    assert not re.search(r"https?:|file:", LOCKS[name])


def test_nothing_for_graphics_cards() -> None:
    assert "+cpu" in PINS[BUILD]["torch"]
    assert [name for name in PINS[BUILD] if re.match(r"nvidia|cuda|triton", name)] == []


_RESOLVED = """\
a==1 \\
    --hash=sha256:1
    # via -r mine.in
b==2 \\
    --hash=sha256:2 \\
    --hash=sha256:3
    # via
    #   -c other.txt
    #   a
    #   d
c==3 \\
    --hash=sha256:4
    # via d
d==4 \\
    --hash=sha256:5
    # via a
"""


def test_left_out_goes_with_what_it_alone_wants() -> None:
    pins = wanted_pins(_RESOLVED, "mine.in", {"d"})
    assert [pin.partition("==")[0] for pin in pins] == ["a", "b"]
    assert pins[1].splitlines()[1:] == ["    --hash=sha256:2 \\", "    --hash=sha256:3"]
    assert len(wanted_pins(_RESOLVED, "mine.in", set())) == 4
