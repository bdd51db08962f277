# SPDX-License-Identifier: Apache-2.0
"""Aliases among calls, and their effect on constants."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aot.plan.graph import alias_offset, build_graph
from aot.plan.sharing import share_memory
from aot.plan.testing_calls import Calls, plan, select
from kernels.common.kernel import Isa, KernelCall, KernelError, OpCall, Value
from kernels.registry import kernel_call


def test_reshape_and_noop_transpose_are_aliases() -> None:
    calls = Calls()
    x = calls.input(1, 4, 4, 1)
    nchw = calls.transpose(x, 0, 3, 1, 2)
    flat = calls.reshape(nchw, 16)
    y = calls.compute(flat)
    graph, sharing = plan(calls.program(y))
    assert [step.op.op for step in sharing.steps] == ["test::op"]
    assert sharing.locations[flat.name] == sharing.locations[x.name]
    assert len(sharing.blocks) == 2


def test_moving_transpose_is_a_kernel_call() -> None:
    calls = Calls()
    x = calls.input(1, 4, 4, 2)
    _, sharing = plan(calls.program(calls.transpose(x, 0, 3, 1, 2)))
    assert [step.op.op for step in sharing.steps] == ["pl::transpose"]


def test_outer_slice_is_an_alias_and_others_are_kernel_calls() -> None:
    calls = Calls()
    x = calls.input(1, 6, 4)
    outer = calls.slice(x, 1, 2, 5)
    inner = calls.slice(x, 2, 0, 2)
    stepped = calls.slice(x, 1, 0, 6, 2)
    single = calls.slice(x, 1, 1, 3, 5)
    _, sharing = plan(calls.program(outer, inner, stepped, single))
    assert len(sharing.steps) == 2
    assert sharing.locations[outer.name].offset == sharing.locations[x.name].offset + 8
    assert sharing.locations[single.name].offset == sharing.locations[x.name].offset + 4


def test_constants_stay_constants_through_aliases() -> None:
    calls = Calls()
    x = calls.input(4)
    table = Value("table", "int8", (2, 4), np.arange(8, dtype=np.int8).reshape(2, 4))
    row = calls.slice(table, 0, 1, 2)
    flat = calls.reshape(row, 4)
    y = calls.compute(x, flat)
    graph, sharing = plan(calls.program(y, row))
    assert flat.name not in sharing.locations
    constant = graph.constants[flat.name].constant
    assert constant is not None and constant.tolist() == [4, 5, 6, 7]
    assert [value.name for value in sharing.steps[0].reads] == [x.name]


def test_output_that_its_kernel_does_not_compute() -> None:
    def without_second(call: OpCall, isa: Isa) -> KernelCall:
        return select(replace(call, outputs=call.outputs[:1]), isa)

    calls = Calls()
    x = calls.input(4)
    second = calls.value(4)
    first = calls.compute(x)
    calls.calls[-1] = replace(calls.calls[-1], outputs=(first, second))
    program = calls.program(calls.compute(second))
    with pytest.raises(KernelError, match="does not compute"):
        build_graph(program, "scalar", without_second)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_alias_offset_is_what_numpy_says(data: st.DataObject) -> None:
    """A call is an alias exactly if its result is one contiguous piece of the source."""
    calls = Calls()
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    x = calls.input(*shape)
    indices = np.arange(x.size).reshape(shape)
    if data.draw(st.booleans()):
        perm = data.draw(st.permutations(range(len(shape))))
        calls.transpose(x, *perm)
        expected = indices.transpose(perm)
    else:
        dim = data.draw(st.integers(0, len(shape) - 1))
        start = data.draw(st.integers(0, shape[dim] - 1))
        end = data.draw(st.integers(start + 1, shape[dim]))
        step = data.draw(st.integers(1, 3))
        calls.slice(x, dim, start, end, step)
        window = [slice(None)] * len(shape)
        window[dim] = slice(start, end, step)
        expected = indices[tuple(window)]
    flat = expected.reshape(-1)
    offset = alias_offset(calls.calls[-1])
    if offset is not None:
        assert flat.tolist() == list(range(offset, offset + flat.size))
    elif calls.calls[-1].op == "pl::transpose":
        assert flat.tolist() != list(range(x.size))


def test_what_holds_of_one_operand_does_not_of_the_same_tensor_as_another() -> None:
    """x.scatter(0, indices, x) reads x after it would be overwritten."""
    for same in (True, False):
        calls = Calls()
        x = calls.compute(calls.input(8, 4))
        values = x if same else calls.compute(calls.input(8, 4))
        indices = Value("indices", "int32", (8,), np.arange(8, dtype=np.int32)[::-1].copy())
        y = calls.call("pl::scatter", (8, 4), base=x, indices=indices, values=values)

        def chosen(call: OpCall, isa: Isa) -> KernelCall:
            return (kernel_call if call.op == "pl::scatter" else select)(call, isa)

        graph = build_graph(calls.program(y), "scalar", chosen)
        assert bool(graph.steps[-1].kernel.in_place) is not same
        assert bool(share_memory(graph).in_place) is not same
