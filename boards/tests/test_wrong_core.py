# SPDX-License-Identifier: Apache-2.0
"""A program on a machine with its board's memories and UART, but another core."""

import dataclasses
from pathlib import Path

import pytest

from boards.board import Simulator, load_board
from tools.simulator.simulate import simulate

_M33 = load_board(Path("boards/mps2_an505/mps2_an505.json"))
_BOARD = load_board(Path("boards/mps2_an386/mps2_an386.json"))


@pytest.mark.parametrize(("machine", "part"), [("mps2-an385", 0xC23), ("mps2-an500", 0xC27)])
def test_the_image_says_so(machine: str, part: int) -> None:
    other = dataclasses.replace(_BOARD, simulator=Simulator("qemu", machine))
    run = simulate(Path("boards/tests/hello.mps2_an386.elf"), other)
    assert run.exit_status == 1
    assert run.problem == (
        f"PL:FAIL wrong core: its part number is {part:#010x}, the image is for 0x00000c24"
    )


# Start-up code up to the check may use only features of the other core: no loops of Armv8.1-M.
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("m33_nofp_on_an521", "its class of DSP instructions is 0x00000001, the image is for 0x"),
        ("m33_on_an386", "its part number is 0x00000c24, the image is for 0x00000d21"),
        ("m55_on_an505", "its part number is 0x00000d21, the image is for 0x00000d22"),
    ],
)
def test_an_older_core(name: str, says: str) -> None:
    board = load_board(Path(f"boards/tests/other_cores/{name}/{name}.json"))
    run = simulate(Path(f"boards/tests/hello.{name}.elf"), board)
    assert run.exit_status == 1
    assert run.problem.startswith(f"PL:FAIL wrong core: {says}")


def test_a_core_without_floating_point() -> None:
    """AN521 equals AN505 except for floating point."""
    other = dataclasses.replace(_M33, simulator=Simulator("qemu", "mps2-an521"))
    run = simulate(Path("boards/tests/hello.mps2_an505.elf"), other)
    assert run.exit_status == 1
    assert run.problem == (
        "PL:FAIL wrong core: its access to a floating point unit is 0x00000000, "
        "the image is for 0x00000003"
    )
