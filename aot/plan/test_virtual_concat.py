# SPDX-License-Identifier: Apache-2.0
"""Convolutions with virtual concats, and the savings."""

import numpy as np
import pytest

from aot.plan.choose import steps_down
from aot.plan.grouping import work_of
from aot.plan.plan import Plan, graphs_of, make_plan
from aot.plan.program import PlanProgram
from aot.plan.testing import sample_board
from aot.plan.testing_calls import Calls
from aot.plan.testing_convolutions import convolved, pointwise
from aot.plan.virtual_concat import concatenations, with_virtual_concats
from kernels.common.kernel import Isa, Value

PIECES = "plan::conv2d_pieces"


def upsampled(calls: Calls, x: Value, *times: int) -> Value:
    """Nearest upsampling of the dimensions between batch and channels."""
    indices = [np.repeat(np.arange(n), t) for n, t in zip(x.shape[1:-1], times, strict=True)]
    shape = (x.shape[0], *(index.size for index in indices), x.shape[-1])
    lists = [Value("index", "int32", i.shape, i.astype(np.int32)) for i in indices]
    dims = list(range(1, len(x.shape) - 1))
    return calls.call("pl::gather", shape, input=x, dims=dims, indices=lists)


def windows(calls: Calls, x: Value, channels: int, **options: int) -> Value:
    """A 3x3 convolution with padding."""
    weight = np.ones((channels, 3, 3, x.shape[3]), np.int8)
    return convolved(calls, "pl::conv2d", x, weight, channels, 1, **{"groups": 1, **options})


def decoder() -> PlanProgram:
    """Return an image of a quarter of the pixels, upsampled and joined with a full-size one.

    It has many short rows, so row streaming would take many calls.
    """
    calls = Calls()
    small, large = calls.input(1, 32, 2, 16), calls.input(1, 64, 4, 8)
    joined = calls.cat(upsampled(calls, small, 2, 2), large, dim=3)
    return calls.program(windows(calls, joined, 8))


def ops(plan: Plan) -> list[str]:
    return [step.op.op for step in plan.sharing.steps]


@pytest.mark.parametrize("isa", ["scalar", "thumb1", "dsp", "mve"])
def test_neither_concatenation_nor_upsampled_image_is_made(isa: Isa) -> None:
    board = sample_board(isa=isa)
    fast = make_plan(decoder(), board)
    assert ops(fast) == ["pl::gather", "pl::cat", "pl::conv2d"]
    board = sample_board(arena=(8 * 8 * 16 + 16 * 16 * 16 + 2048,), isa=isa)
    small = make_plan(decoder(), board)
    assert ops(small) == [PIECES]
    (step,) = small.sharing.steps
    assert step.op.args["shifts"] == [1, 1, 0, 0]
    assert [value.shape for value in step.reads] == [(1, 32, 2, 16), (1, 64, 4, 8)]


def test_the_least_memory_is_that_of_pieces_by_rows() -> None:
    calls = Calls()
    x = calls.input(1, 16, 16, 8)
    kept = windows(calls, x, 8)
    low = windows(calls, kept, 16, stride=2)
    joined = calls.cat(upsampled(calls, low, 2, 2), kept, dim=3)
    program = calls.program(windows(calls, joined, 4))
    plan = make_plan(program, sample_board(), "memory")
    (group,) = (step.rows for step in plan.sharing.steps if step.rows is not None)
    assert group.members[-1].step.op.op == PIECES
    assert plan.arena_bytes < 16 * 16 * 8 + 12 * 16 * 8


def test_what_others_need_stays() -> None:
    """A concatenation with a pool as reader, or as an output, stays; so does an upsampled image
    with an addition as second reader.
    """
    calls = Calls()
    a, b = calls.input(1, 8, 8, 4), calls.input(1, 8, 8, 4)
    pooled, output, read = (calls.cat(a, b, dim=3) for _ in range(3))
    calls.compute(pooled)
    results = [windows(calls, value, 4) for value in (pooled, output, read, read)]
    program = calls.program(*results, output)
    assert concatenations(program) == [read.name]

    calls = Calls()
    small, large = calls.input(1, 4, 4, 8), calls.input(1, 8, 8, 8)
    up = upsampled(calls, small, 2, 2)
    result = windows(calls, calls.cat(up, large, dim=3), 4)
    program = calls.program(result, calls.compute(up))
    changed = with_virtual_concats(program, concatenations(program))
    assert [call.op for call in changed.calls] == ["pl::gather", PIECES, "test::op"]
    assert changed.calls[1].args["shifts"] == [0, 0, 0, 0]


@pytest.mark.parametrize("why", ["groups", "rows", "batches", "constant", "three times"])
def test_what_is_no_piece(why: str) -> None:
    calls = Calls()
    n, dim = 2 if why == "batches" else 1, 1 if why == "rows" else 3
    a, b = calls.input(n, 6, 6, 8), calls.input(n, 6, 6, 8)
    if why == "constant":
        b = Value("constant", "int8", b.shape, np.zeros(b.shape, np.int8))
    if why == "three times":
        a = upsampled(calls, calls.input(1, 2, 2, 8), 3, 3)
    joined = calls.cat(a, b, dim=dim)
    weight = np.ones((8, 3, 3, joined.shape[3] // (2 if why == "groups" else 1)), np.int8)
    result = convolved(
        calls, "pl::conv2d", joined, weight, 8, 1, groups=2 if why == "groups" else 1
    )
    program = calls.program(result)
    found = concatenations(program)
    assert found == ([joined.name] if why == "three times" else [])
    expected = ["pl::gather", PIECES] if found else [call.op for call in program.calls]
    assert [call.op for call in with_virtual_concats(program, found).calls] == expected


def test_sequences() -> None:
    calls = Calls()
    small, large = calls.input(1, 8, 4), calls.input(1, 32, 4)
    joined = calls.cat(upsampled(calls, small, 4), large, dim=2)
    program = calls.program(pointwise(calls, calls.reshape(joined, 1, 1, 32, 8), 4))
    (call,) = with_virtual_concats(program, concatenations(program)).calls
    assert call.args["shifts"] == [0, 2, 0, 0]
    assert [value.shape for value in call.args["inputs"]] == [(1, 1, 8, 4), (1, 1, 32, 4)]


def test_the_largest_first() -> None:
    calls = Calls()
    x = calls.input(1, 8, 8, 4)
    for channels in (4, 12, 8):
        x = pointwise(calls, calls.cat(x, calls.input(1, 8, 8, channels), dim=3), 4)
    program = calls.program(x)
    sizes = [
        [call.op for call in graph.program.calls].count(PIECES)
        for graph in graphs_of(program, sample_board(), "speed", streamed=False)
    ]
    assert sizes == [0, 1, 2, 3]
    second = [graph.program for graph in graphs_of(program, sample_board(), "speed", False)][1]
    assert [call.op for call in second.calls if call.op != "pl::cat"] == [
        "pl::conv2d",
        PIECES,
        "pl::conv2d",
    ]


@pytest.mark.parametrize("isa", ["scalar", "thumb1", "dsp", "mve"])
def test_rows_where_they_are_cheaper_than_pieces(isa: Isa) -> None:
    calls = Calls()
    small, large = calls.input(1, 4, 32, 16), calls.input(1, 8, 64, 8)
    joined = calls.cat(upsampled(calls, small, 2, 2), large, dim=3)
    program = calls.program(windows(calls, joined, 8))
    board = sample_board(arena=(4 * 32 * 16 + 8 * 64 * 16 + 4096,), isa=isa)
    assert ops(make_plan(program, board)) == ["rows"]


def test_pieces_have_a_price() -> None:
    program = decoder()
    first, *_, last = graphs_of(program, sample_board(), "speed", streamed=False)
    assert work_of(first.steps) == 0 < work_of(last.steps)
    rungs = steps_down([first, last], make_plan(program, sample_board()).arena_bytes)
    assert rungs and min(work for _, work in rungs) >= work_of(last.steps)


def test_steps_down_are_of_both() -> None:
    graphs = [*graphs_of(decoder(), sample_board(), "speed", streamed=False)]
    rungs = steps_down(graphs, 1 << 20)
    assert rungs == sorted(rungs, reverse=True)
    assert [work for _, work in rungs] == sorted(work for _, work in rungs)
