# SPDX-License-Identifier: Apache-2.0
"""Late reads of a kernel, against a byte-by-byte run; plans with too short alias distances."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aot.plan.accesses import spoiled_byte
from aot.plan.check import PlanError
from aot.plan.plan import make_plan
from aot.plan.program import PlanProgram
from aot.plan.testing import sample_board
from aot.plan.testing_calls import Calls
from aot.plan.testing_convolutions import depthwise, pointwise
from kernels.common.kernel import Isa, Value
from kernels.common.overlap import Order, Overlap, elementwise_overlap, overlap

ISAS: tuple[Isa, ...] = ("scalar", "thumb1", "dsp", "mve")
NEARER = 16


def tensor(name: str, size: int, dtype: str = "int8") -> Value:
    return Value(name, dtype, (size,))


@st.composite
def kernels(draw: st.DrawFn) -> tuple[Value, Value, Order]:
    """An input, a result and any order of computing it."""
    size = draw(st.integers(1, 12))
    rows, columns, pixel = (draw(st.integers(1, 4)) for _ in range(3))
    count = rows * columns
    starts = draw(st.lists(st.integers(0, size), min_size=count, max_size=count))
    order = Order(
        np.array(starts).reshape(rows, columns), draw(st.integers(1, 5)), draw(st.booleans())
    )
    return tensor("x", size), tensor("y", count * pixel), order


def spoiled_when_run(source: Value, result: Value, order: Order, before: int) -> int | None:
    """Run block by block, with a set of the input's overwritten bytes."""
    size = result.size // order.starts.size
    overwritten: set[int] = set()
    spoiled: set[int] = set()
    for above, row in zip(
        range(0, order.starts.size, order.starts.shape[1]), order.starts, strict=True
    ):
        for begin in range(0, len(row), order.at_a_time):
            end = min(begin + order.at_a_time, len(row))
            reads = {byte for start in row[begin:end] for byte in range(start, source.size)}
            writes = range((above + begin) * size - before, (above + end) * size - before)
            late = overwritten if order.reads_first else overwritten.union(writes)
            spoiled |= reads & late
            overwritten.update(writes)
    return min(spoiled, default=None)


@settings(max_examples=400, deadline=None)
@given(kernels(), st.integers(-14, 50))
def test_bytes_that_are_read_too_late(kernel: tuple[Value, Value, Order], before: int) -> None:
    assert spoiled_byte(*kernel, before) == spoiled_when_run(*kernel, before)


@settings(max_examples=400, deadline=None)
@given(kernels())
def test_distances_are_the_least(kernel: tuple[Value, Value, Order]) -> None:
    source, result, order = kernel
    for near in overlap(source, result, order.starts, order.at_a_time, order.reads_first):
        assert spoiled_byte(*kernel, near.distance) is None
        if near.distance > -source.bytes:
            assert spoiled_byte(*kernel, near.distance - 1) is not None


@pytest.mark.parametrize(("narrow", "wide"), [("int8", "float32"), ("int16", "float32")])
def test_elements_that_become_wider(narrow: str, wide: str) -> None:
    """The last element is read before the first byte after it is written."""
    x, y = tensor("x", 10, narrow), tensor("y", 10, wide)
    (near,) = elementwise_overlap(x, y)
    assert near.order is not None
    assert near.distance == y.bytes - x.bytes - (y.item_bytes - x.item_bytes)
    assert spoiled_byte(x, y, near.order, near.distance) is None
    assert spoiled_byte(x, y, near.order, near.distance - 1) is not None


def grown() -> PlanProgram:
    """Four times the channels: the result lies before its input, at the distance."""
    calls = Calls()
    return calls.program(pointwise(calls, calls.input(1, 8, 8, 8), 32))


def widened() -> PlanProgram:
    """A group of steps with many channels within; its result lies before its input, too."""
    calls = Calls()
    x = calls.input(1, 12, 12, 8)
    return calls.program(pointwise(calls, depthwise(calls, pointwise(calls, x, 96)), 24))


def too_near(source: str, result: str, distance: int, order: Order | None = None) -> Overlap:
    return Overlap(source, result, distance - NEARER, order)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize(
    ("program", "said_by", "message"),
    [
        (grown, "kernels.common.overlap.Overlap", "has yet to read"),
        (widened, "aot.plan.row_group.Overlap", "does not find its rows|is not where"),
    ],
)
def test_plans_of_distances_that_are_too_short_are_refused(
    monkeypatch: pytest.MonkeyPatch,
    program: Callable[[], PlanProgram],
    said_by: str,
    message: str,
    isa: Isa,
) -> None:
    """The planner believes them, the proof does not."""
    board = sample_board(isa=isa)
    make_plan(program(), board, "memory")
    monkeypatch.setattr(said_by, too_near)
    with pytest.raises(PlanError, match=message):
        make_plan(program(), board, "memory")
