# SPDX-License-Identifier: Apache-2.0
"""Output of the apps, and their failure if outputs differ from the stored ones."""

import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def run(program: str) -> tuple[int, str]:
    """Exit status and console of one of this folder's programs."""
    done = subprocess.run(
        [str(FOLDER / f"{program}.elf")], capture_output=True, text=True, timeout=60, check=False
    )
    sys.stderr.write(done.stderr)
    return done.returncode, done.stdout


def stats(console: str) -> dict[str, int]:
    """Return the results a program prints."""
    found = re.findall(r"^PL:STAT (\S.*) (\d+)$", console, re.MULTILINE)
    return {name: int(value) for name, value in found}


def test_check_passes() -> None:
    status, console = run("check_program")
    assert status == 0
    assert stats(console) == {"vectors": 12, "equal": 12}
    assert console.endswith("\nPL:PASS\n")


def test_check_names_the_first_difference() -> None:
    status, console = run("wrong_check_program")
    assert status == 1
    assert stats(console) == {"vectors": 12, "equal": 11}
    line = re.search(r"^vector 2, output 0, element 5 is (-?\d+), expected (-?\d+)$", console, re.M)
    assert line is not None
    assert int(line[1]) ^ 1 == int(line[2])
    assert console.endswith("\nPL:FAIL outputs differ from the stored ones\n")


def test_classify_counts() -> None:
    status, console = run("classify_program")
    assert status == 0
    assert stats(console) == {
        "test images": 12,
        "correct on device": 9,
        "equal to the reference": 12,
    }
    assert console.endswith("\nPL:PASS\n")


def test_classify_fails_if_outputs_are_not_the_reference() -> None:
    status, console = run("wrong_classify_program")
    assert status == 1
    assert stats(console) == {
        "test images": 12,
        "correct on device": 9,
        "equal to the reference": 11,
    }
    assert console.endswith("\nPL:FAIL outputs differ from the reference\n")
