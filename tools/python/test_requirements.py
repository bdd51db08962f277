# SPDX-License-Identifier: Apache-2.0
"""The lock file has all that is asked for, and nothing that ties it to one machine."""

import re
from pathlib import Path

FOLDER = Path("tools/python")
ASKED = (FOLDER / "requirements.in").read_text()
LOCK = (FOLDER / "requirements.txt").read_text()
PINS = dict(re.findall(r"^([A-Za-z0-9._-]+)==(\S+) \\$", LOCK, re.MULTILINE))


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_what_is_asked_for_is_pinned() -> None:
    asked = re.findall(r"^([A-Za-z][\w.-]*)(?:==(\S+))?$", ASKED, re.MULTILINE)
    assert len(asked) > 10
    for name, version in asked:
        assert normal(name) in PINS, name
        assert version in ("", PINS[normal(name)]), name


def test_every_pin_has_a_hash() -> None:
    blocks = re.split(r"\n(?=[A-Za-z0-9])", LOCK)
    pinned = [block for block in blocks if "==" in block.splitlines()[0]]
    assert len(pinned) == len(PINS)
    for block in pinned:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", block), block.splitlines()[0]


def test_no_host_path_or_option() -> None:
    for line in LOCK.splitlines():
        assert re.fullmatch(r"|#.*|[\w.-]+==\S+ \\|    --hash=sha256:[0-9a-f]{64}( \\)?", line), (
            line
        )
    assert not re.search(r"https?:|file:", LOCK)


def test_nothing_for_graphics_cards() -> None:
    assert "+cpu" in PINS["torch"]
    assert [name for name in PINS if re.match(r"nvidia|cuda|triton", name)] == []
