# SPDX-License-Identifier: Apache-2.0
"""Slower calls with a smaller arena: used if memory is short, and only then."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from aot.plan.check import PlanError, check_plan
from aot.plan.grouping import work_of
from aot.plan.plan import Address, DoesNotFitError, Plan, make_plan
from aot.plan.program import PlanProgram
from aot.plan.testing import sample_board
from aot.plan.testing_calls import Calls
from aot.plan.testing_convolutions import depthwise, pointwise
from boards.board import Board, Pool
from kernels.common.kernel import Isa, Value
from kernels.testing.calls import constant, per_channel
from kernels.testing.folders import folder

FAST, NEAR = "pl_linear_blocks_s8", "pl_conv2d_blocks_s8"


def network() -> PlanProgram:
    """32 to 32 to 8 to 8 channels: the first needs most, the last one little."""
    calls = Calls()
    x = calls.input(1, 8, 8, 32)
    for channels in (32, 8, 8):
        x = pointwise(calls, x, channels)
    return calls.program(x)


def plan(size: int, optimize: str = "speed", isa: Isa = "mve") -> Plan:
    board: Board = sample_board()
    pools = tuple(Pool(pool.name, size) for pool in board.arena)
    return make_plan(network(), replace(board, isa=isa, arena=pools), optimize)


def functions(made: Plan) -> list[str]:
    return [step.kernel.function for step in made.sharing.steps]


def test_fast_where_there_is_memory() -> None:
    made = plan(1 << 16)
    assert (made.arena_bytes, functions(made)) == (2 * 2048, [FAST] * 3)


def test_what_is_no_program_or_way_is_named() -> None:
    with pytest.raises(ValueError, match="optimize must be one of speed, memory, size; got 'fast'"):
        plan(1 << 16, "fast")
    with pytest.raises(TypeError, match="expected Board, as load_board returns it; got str"):
        make_plan(network(), "mps2_an386")  # type: ignore[arg-type]
    for most in (-1, 2.5, True, "1024"):
        with pytest.raises(ValueError, match=f"0 or more, or None .* got {most!r}"):
            make_plan(network(), sample_board(), most=most)  # type: ignore[arg-type]


def test_blocks_where_there_is_not() -> None:
    """Each block of eight of the 64 result pixels is computed before its input is overwritten."""
    made = plan(2368)
    assert made.arena_bytes == 2048 + 8 * 32 + 8 * 8
    assert functions(made) == [NEAR, NEAR, FAST]


@pytest.mark.parametrize(("size", "isa"), [(1 << 16, "scalar"), (1 << 16, "dsp"), (2368, "mve")])
def test_a_result_16_bytes_nearer_to_its_input_is_refused(size: int, isa: Isa) -> None:
    made = plan(size, isa=isa)

    def scratch(step: int) -> Address:
        return Address(f"beside step {step}", 0)  # nothing else is in the way

    over = [
        near.result
        for step in made.sharing.steps
        for near in step.kernel.overlap
        if 0
        <= made.address(near.source).offset - made.address(near.result).offset - near.distance
        < 16
    ]
    assert over
    for result in over:

        def nearer(name: str, moved: str = result) -> Address:
            at = made.address(name)
            return replace(at, offset=at.offset + 16) if name == moved else at

        check_plan(made.graph, made.sharing, made.address, scratch)
        with pytest.raises(PlanError, match=f"writes {result} over"):
            check_plan(made.graph, made.sharing, nearer, scratch)


@pytest.mark.parametrize(("size", "optimize"), [(1 << 16, "memory"), (2304, "speed")])
def test_rows_where_there_is_less(size: int, optimize: str) -> None:
    """A group moves once: its result is a row of the image before its input."""
    made = plan(size, optimize)
    assert made.arena_bytes == 2048 + 8 * 32
    assert functions(made) == ["pl_rows", FAST]


def test_too_small_for_blocks_and_rows_too() -> None:
    with pytest.raises(DoesNotFitError) as error:
        plan(2303)
    assert error.value.need == 2304


def test_rows_that_nothing_divides_are_not_cut() -> None:
    calls = Calls()
    x = pointwise(calls, calls.input(1, 1, 11, 8), 8)
    board = replace(sample_board(), isa="mve")
    assert functions(make_plan(calls.program(x), board, "memory")) == [FAST]


@pytest.mark.parametrize("isa", ["scalar", "dsp"])
def test_other_cores_have_no_need_of_blocks(isa: Isa) -> None:
    fast, small = plan(1 << 16, isa=isa), plan(1 << 16, "memory", isa)
    assert fast.arena_bytes == small.arena_bytes < 2 * 2048
    assert functions(fast) == functions(small)
    assert not any("conv2d" in function for function in functions(fast))


@pytest.mark.parametrize(
    ("isa", "fast", "near", "scratch"),
    [("mve", "columns", "direct", 0), ("dsp", "planes", "conv2d", 288)],
)
def test_depthwise_takes_pixels_before_channels(
    isa: Isa, fast: str, near: str, scratch: int
) -> None:
    """Two images of 4,096 bytes are a row and two pixels apart; a window is in scratch."""
    calls = Calls()
    x = calls.input(1, 16, 8, 32)
    program, board = calls.program(depthwise(calls, x)), replace(sample_board(), isa=isa)
    large, small = make_plan(program, board), make_plan(program, board, "memory")
    assert functions(large) == [f"pl_depthwise_{fast}_s8"]
    assert functions(small) == [f"pl_depthwise_{near}_s8"]
    assert large.arena_bytes > 2 * 4096 > small.arena_bytes
    assert small.arena_bytes == 4096 + (8 + 2) * 32 + scratch


def test_strips_as_wide_as_fit() -> None:
    """Four windows of a row in strips, where one by one is not asked for."""
    calls = Calls()
    program = calls.program(depthwise(calls, calls.input(1, 16, 8, 32)))
    size = 4096 + (8 + 2 + 3) * 32 + 352
    pools = tuple(Pool(pool.name, size) for pool in sample_board().arena)
    made = make_plan(program, replace(sample_board(), isa="mve", arena=pools))
    assert made.arena_bytes == size
    pools = tuple(replace(pool, bytes=size - 1) for pool in pools)
    assert make_plan(program, replace(sample_board(), isa="mve", arena=pools)).arena_bytes < size


@pytest.mark.parametrize("isa", ["mve", "dsp"])
def test_small_functions(isa: Isa) -> None:
    fast, small = plan(1 << 16, isa=isa), plan(1 << 16, "size", isa)
    assert set(functions(small)) == {"pl_linear_s8"}
    assert not set(functions(fast)) & set(functions(small))


def test_an_arena_of_so_many_bytes() -> None:
    """The plan equals the plan for a board with so much memory, also if it is in consecutive
    memories.
    """
    board = replace(sample_board(), isa="mve")
    made = make_plan(network(), board, most=2368)
    assert (made.arena_bytes, functions(made)) == (2368, [NEAR, NEAR, FAST])
    assert [use.pool.bytes for use in made.pools] == [pool.bytes for pool in board.arena]
    assert make_plan(network(), board, most=1 << 20).arena_bytes == 2 * 2048
    with pytest.raises(DoesNotFitError) as error:
        make_plan(network(), board, most=2303)
    assert (error.value.need, error.value.have) == (2304, 2303)
    two = replace(board, arena=(Pool("fast", 1024), Pool("slow", 1 << 16)))
    made = make_plan(network(), two, most=3000)
    assert sum(use.placement.size for use in made.pools) == made.arena_bytes <= 3000
    with pytest.raises(DoesNotFitError) as error:
        make_plan(network(), two, most=2368)
    assert error.value.need > error.value.have == 2368, "in two memories it takes more"


def test_more_memory_is_never_slower() -> None:
    """Work falls as memory grows, and the need of an error is the smallest plan's."""
    calls = Calls()
    x = calls.input(1, 16, 16, 8)
    for channels in (48, 8, 32, 16, 40):
        x = depthwise(calls, pointwise(calls, x, channels))
    program, board = calls.program(x), replace(sample_board(), isa="dsp")
    smallest = make_plan(program, board, "memory").arena_bytes
    largest = make_plan(program, board).arena_bytes
    with pytest.raises(DoesNotFitError) as error:
        make_plan(program, board, most=smallest - 1)
    assert error.value.need == smallest
    made = [make_plan(program, board, most=m) for m in range(smallest, largest + 512, 512)]
    work = [work_of(plan.sharing.steps) for plan in made]
    assert len(set(work)) > 3
    assert work == sorted(work, reverse=True)


def one_channel(calls: Calls) -> Value:
    return pointwise(calls, calls.input(1, 8, 8, 16), 1)


def four_bits(calls: Calls) -> Value:
    valid = next(v.call for v in folder("linear").calls if v.call.op == "pl::linear_w4")
    rows, depth, channels = 6, 24, 16
    args = {
        **valid.args,
        "input": calls.input(rows, depth),
        "weight": constant(np.ones((channels, depth // 2))),
        "group_scale": constant(np.ones((channels, 1))),
        **per_channel(channels),
        "group": depth,
    }
    return calls.call("pl::linear_w4", (rows, channels), **args)


@pytest.mark.parametrize("make", [one_channel, four_bits])
@pytest.mark.parametrize("isa", ["scalar", "thumb1", "dsp", "mve"])
def test_fallbacks_without_a_window_have_a_cost(make: Callable[[Calls], Value], isa: Isa) -> None:
    """Too little memory is an error showing the need, also if products are fallbacks."""
    calls = Calls()
    program = calls.program(make(calls))
    board = replace(sample_board(), isa=isa)
    smallest = make_plan(program, board, "memory").arena_bytes
    assert smallest <= make_plan(program, board).arena_bytes
    short = replace(board, arena=tuple(Pool(pool.name, 64) for pool in board.arena))
    with pytest.raises(DoesNotFitError):
        make_plan(program, short)
