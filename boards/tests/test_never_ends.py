# SPDX-License-Identifier: Apache-2.0
"""The simulator stops a program that never ends."""

from pathlib import Path

import pytest

from boards.board import load_board
from tools.simulator.simulate import simulate


@pytest.mark.parametrize(
    ("time_limit", "silence", "count", "why"),
    [
        (4, 300, False, "no end after 4 s"),
        (300, 4, True, "no end, and nothing on the console for 4 s"),
    ],
)
def test_a_program_that_never_ends_is_stopped(
    time_limit: float, silence: float, count: bool, why: str
) -> None:
    run = simulate(
        Path("boards/tests/hang.corstone300.elf"),
        load_board(Path("boards/corstone300/corstone300.json")),
        time_limit=time_limit,
        silence=silence,
        count=count,
    )
    assert run.exit_status is None
    ended, place, *_ = run.problem.split("\n  at   ")
    assert ended == f"{why}; the console ended with:\n  waiting"
    assert "main+0x" in place and "boards/tests/programs/hang.c:" in place
    assert run.seconds < 300


def test_a_program_that_waits_for_a_clock_that_the_simulator_does_not_have() -> None:
    folder = Path("boards/tests")
    board = load_board(folder / "netduinoplus2_max/netduinoplus2_max.json")
    run = simulate(folder / "hello.netduinoplus2_max.elf", board)
    said, *_ = run.problem.splitlines()
    assert said.startswith(
        "the register 0x40023800 is 0x01000000 in the simulator, and start-up waits until of its "
        "bits 0x02000000 those of 0x02000000 are 1: QEMU's machine does not have what is behind it"
    )
    assert run.seconds < 30
