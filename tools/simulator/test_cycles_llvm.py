# SPDX-License-Identifier: Apache-2.0
"""Facts included in LLVM's models of cores, and omissions; programs by models and tables."""

from collections import Counter
from pathlib import Path

import pytest

from boards.board import load_board
from tools.simulator.blocks import CyclesError
from tools.simulator.counts import Region
from tools.simulator.cycles import CycleTools, cycles_of_blocks, estimate
from tools.simulator.silicon import calibration
from tools.simulator.simulate import simulate

_ADDS = ("add.w r0, r1, #1", "add.w r2, r3, #1", "add.w r4, r5, #1", "add.w r6, r7, #1")


def _cycles(core: str, *block: str) -> float:
    return cycles_of_blocks([block], core, CycleTools.of_build(core))[block]


@pytest.mark.parametrize(
    ("core", "block", "cycles"),
    [
        ("cortex-m7", _ADDS, 2),  # two at a time
        ("cortex-m85", _ADDS, 2),
        ("cortex-m55", ("mul r0, r0, r1",), 2),  # waits for the product before
        ("cortex-m55", ("vadd.i32 q0, q1, q2",), 2),  # two beats a cycle
        ("cortex-m55", ("vldrw.u32 q0, [r0]", "vmladava.s8 r2, q3, q4"), 2),  # they overlap
    ],
)
def test_what_models_know(core: str, block: tuple[str, ...], cycles: float) -> None:
    assert _cycles(core, *block) == pytest.approx(cycles, abs=0.05)


@pytest.mark.parametrize(
    ("core", "instruction", "cycles"),
    [
        ("cortex-m7", "bne target", 1),  # taken or not
        ("cortex-m55", "vldrb.u8 q0, [r0, q1]", 2),  # sixteen addresses as one
    ],
)
def test_what_models_leave_out(core: str, instruction: str, cycles: float) -> None:
    assert _cycles(core, instruction) == pytest.approx(cycles, abs=0.05)


def test_cores_are_not_to_be_compared() -> None:
    """LLVM's M85 model starts no load together with a VMLADAV; its M55 model does."""
    block = ("vldrw.u32 q0, [r0]", "vmladava.s8 r2, q3, q4")
    assert _cycles("cortex-m85", *block) == pytest.approx(4, abs=0.05)


def test_instructions_that_a_model_lacks() -> None:
    """They count a cycle, but the end of a loop none; a block may have nothing else."""
    add = "vadd.i32 q0, q1, q2"
    assert _cycles("cortex-m55", add, "letp lr, target") == _cycles("cortex-m55", add)
    assert _cycles("cortex-m55", "dls lr, r2") == 1
    assert _cycles("cortex-m7", "it eq", "moveq r0, r1") == 1 + _cycles("cortex-m7", "mov r0, r1")


def test_what_is_no_instruction_is_an_error() -> None:
    with pytest.raises(CyclesError, match="llvm-mca failed: .*error: unexpected token"):
        _cycles("cortex-m7", "not an instruction")


@pytest.mark.parametrize("core", ["cortex-m33", "cortex-m55", "cortex-m85"])
def test_a_program(core: str) -> None:
    """Every executed instruction is in a block."""
    elf = Path("boards/tests/hello.corstone300.elf")
    board = load_board(Path("boards/corstone300/corstone300.json"))
    run = simulate(elf, board, time_limit=60, count=True)
    assert run.counts is not None
    at = run.counts.at()
    (ran,) = estimate(elf, core, [Region(at=Counter(at))], calibration(core))
    assert sum(part.times * len(part.block) for part in ran) == sum(at.values())
    assert "main" in {part.function for part in ran}
    assert sum(at.values()) / 2 < sum(part.cycles for part in ran) < 4 * sum(at.values())
