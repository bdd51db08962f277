# SPDX-License-Identifier: Apache-2.0
"""Aliases, concatenations, in-place calls and lifetimes, proved by running plans on names."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.plan.check import PlanError, check_plan
from firmware.plan.graph import Graph, alias_offset, build_graph
from firmware.plan.planner import lower_bound, place_blocks
from firmware.plan.program import Port, Program
from firmware.plan.sharing import ALIGNMENT, Sharing, scratch_name, share_memory
from kernels.common.kernel import Constant, Isa, KernelCall, KernelError, OpCall, Value


@dataclass(frozen=True)
class Address:
    pool: str
    offset: int


class Calls:
    """Builds a program call by call; tensors are int8."""

    def __init__(self) -> None:
        self.calls: list[OpCall] = []
        self.inputs: list[Value] = []
        self.count = 0

    def value(self, *shape: int) -> Value:
        self.count += 1
        return Value(f"value {self.count}", "int8", shape)

    def input(self, *shape: int) -> Value:
        value = self.value(*shape)
        self.inputs.append(value)
        return value

    def call(self, op: str, result_shape: Sequence[int], **args: Any) -> Value:
        result = self.value(*result_shape)
        self.calls.append(OpCall(op, args, (result,)))
        return result

    def compute(self, *inputs: Value, in_place: bool = False, scratch: int = 0) -> Value:
        """An op with a kernel; its result has the shape of the first input."""
        return self.call(
            "test::op", inputs[0].shape, inputs=list(inputs), in_place=in_place, scratch=scratch
        )

    def reshape(self, value: Value, *shape: int) -> Value:
        return self.call("pl::reshape", shape, input=value, shape=list(shape))

    def transpose(self, value: Value, *perm: int) -> Value:
        shape = [value.shape[dim] for dim in perm]
        return self.call("pl::transpose", shape, input=value, perm=list(perm))

    def slice(self, value: Value, dim: int, start: int, end: int, step: int = 1) -> Value:
        shape = list(value.shape)
        shape[dim] = len(range(start, end, step))
        return self.call("pl::slice", shape, input=value, dim=dim, start=start, end=end, step=step)

    def cat(self, *values: Value, dim: int = 0) -> Value:
        shape = list(values[0].shape)
        shape[dim] = sum(value.shape[dim] for value in values)
        return self.call("pl::cat", shape, inputs=list(values), dim=dim)

    def program(self, *outputs: Value) -> Program:
        def port(value: Value) -> Port:
            return Port(value, value.shape, 0.5, 0, "row_major")

        return Program(tuple(self.calls), tuple(map(port, self.inputs)), tuple(map(port, outputs)))


def select(call: OpCall, isa: Isa) -> KernelCall:
    """A kernel for anything."""
    operands = call.args.get("inputs", [call.args.get("input")])
    data = {f"input_{i}": value for i, value in enumerate(operands)}
    data["output"] = call.outputs[0]
    in_place: tuple[tuple[str, str], ...] = ()
    if call.args.get("in_place"):
        in_place = tuple((value.name, call.outputs[0].name) for value in operands)
    scratch = call.args.get("scratch", 0)
    return KernelCall("pl_any", "any.h", {}, {}, data, scratch, in_place)


def plan(program: Program) -> tuple[Graph, Sharing]:
    """Shares memory, places it and checks the result."""
    graph = build_graph(program, "scalar", select)
    sharing = share_memory(graph)
    check(graph, sharing)
    return graph, sharing


def addresses(sharing: Sharing) -> dict[str, Address]:
    offsets = place_blocks(sharing.blocks, ALIGNMENT).offsets
    return {
        name: Address("ram", offsets[location.block] + location.offset)
        for name, location in sharing.locations.items()
    }


def check(
    graph: Graph, sharing: Sharing, change: Callable[[dict[str, Address]], None] = lambda _: None
) -> None:
    offsets = place_blocks(sharing.blocks, ALIGNMENT).offsets
    places = addresses(sharing)
    change(places)
    check_plan(
        graph,
        sharing,
        places.__getitem__,
        lambda step: Address("ram", offsets[scratch_name(step)]),
    )


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


def test_cat_inputs_are_written_into_the_result() -> None:
    calls = Calls()
    x = calls.input(1, 32)
    a, b = calls.compute(x), calls.compute(x)
    y = calls.cat(a, b, dim=1)
    _, sharing = plan(calls.program(y))
    assert [step.op.op for step in sharing.steps] == ["test::op"] * 2
    assert sharing.locations[b.name].offset == sharing.locations[y.name].offset + 32


def test_cat_of_split_is_the_source() -> None:
    calls = Calls()
    x = calls.compute(calls.input(8, 4))
    y = calls.cat(calls.slice(x, 0, 0, 3), calls.slice(x, 0, 3, 8))
    _, sharing = plan(calls.program(y))
    assert len(sharing.steps) == 1
    assert sharing.locations[y.name] == sharing.locations[x.name]


@pytest.mark.parametrize("kind", ["twice", "part", "inner", "swapped"])
def test_cat_that_must_copy(kind: str) -> None:
    calls = Calls()
    x = calls.compute(calls.input(8, 4))
    z = calls.compute(x)
    if kind == "twice":
        y = calls.cat(x, x)
    elif kind == "part":
        y = calls.cat(calls.slice(x, 0, 0, 3), z)
    elif kind == "inner":
        y = calls.cat(x, z, dim=1)
    else:
        y = calls.cat(calls.slice(x, 0, 4, 8), calls.slice(x, 0, 0, 4))
    _, sharing = plan(calls.program(y, x))
    assert sharing.steps[-1].op.op == "pl::cat"


def test_cat_is_not_joined_if_that_needs_more_memory() -> None:
    """The result would be in use while a large tensor is, which only one of the inputs must."""
    calls = Calls()
    early = calls.compute(calls.input(1, 256))
    x = calls.input(1, 1024)
    for _ in range(3):
        x = calls.compute(x)
    late = calls.compute(calls.slice(x, 1, 0, 256))
    _, sharing = plan(calls.program(calls.cat(early, late, dim=1)))
    assert sharing.steps[-1].op.op == "pl::cat"
    assert lower_bound(sharing.blocks) == 256 + 2 * 1024


def test_in_place_chain_needs_one_buffer() -> None:
    calls = Calls()
    x = calls.input(64)
    for _ in range(4):
        x = calls.compute(x, in_place=True)
    _, sharing = plan(calls.program(x))
    assert [block.size for block in sharing.blocks] == [64]
    assert len(sharing.in_place) == 4


def test_no_in_place_if_the_input_is_read_later() -> None:
    calls = Calls()
    x = calls.input(64)
    y = calls.compute(x, in_place=True)
    z = calls.compute(y, x, in_place=True)
    _, sharing = plan(calls.program(z))
    assert sharing.in_place.keys() == {2}


def test_no_in_place_over_a_model_output() -> None:
    calls = Calls()
    x = calls.compute(calls.input(64))
    _, sharing = plan(calls.program(x, calls.compute(x, in_place=True)))
    assert not sharing.in_place


def test_no_in_place_over_another_input_of_the_step() -> None:
    """The second input is a piece of the first: writing over one would spoil the other."""
    calls = Calls()
    x = calls.compute(calls.input(8, 8))
    row = calls.slice(x, 0, 2, 3)
    _, sharing = plan(calls.program(calls.compute(x, row, in_place=True)))
    assert not sharing.in_place


def test_same_tensor_twice_may_be_overwritten() -> None:
    calls = Calls()
    x = calls.compute(calls.input(8, 8))
    _, sharing = plan(calls.program(calls.compute(x, x, in_place=True)))
    assert len(sharing.in_place) == 1


def test_in_place_inside_of_a_concatenation() -> None:
    calls = Calls()
    x = calls.input(1, 32)
    a = calls.compute(calls.compute(x), in_place=True)
    b = calls.compute(x)
    _, sharing = plan(calls.program(calls.cat(a, b, dim=1)))
    assert len(sharing.in_place) == 1
    assert sorted(block.size for block in sharing.blocks) == [32, 64]


def test_output_that_is_an_input() -> None:
    calls = Calls()
    x = calls.input(4, 4)
    _, sharing = plan(calls.program(calls.reshape(x, 16)))
    assert not sharing.steps
    assert [(block.first, block.last) for block in sharing.blocks] == [(0, 1)]


def test_unused_input_has_memory_of_its_own() -> None:
    calls = Calls()
    x, _unused = calls.input(64), calls.input(64)
    _, sharing = plan(calls.program(calls.compute(x)))
    assert len(sharing.blocks) == 3


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


def test_constants_do_not_need_memory() -> None:
    def with_constant(call: OpCall, isa: Isa) -> KernelCall:
        kernel = select(call, isa)
        packed = Constant(np.zeros(8, np.int8))
        return replace(kernel, data={**kernel.data, "weight": packed})

    calls = Calls()
    program = calls.program(calls.compute(calls.input(4)))
    assert len(share_memory(build_graph(program, "scalar", with_constant)).blocks) == 2


def test_output_that_its_kernel_does_not_compute() -> None:
    def without_second(call: OpCall, isa: Isa) -> KernelCall:
        return select(call, isa)

    calls = Calls()
    x = calls.input(4)
    second = calls.value(4)
    first = calls.compute(x)
    calls.calls[-1] = replace(calls.calls[-1], outputs=(first, second))
    program = calls.program(calls.compute(second))
    with pytest.raises(KernelError, match="does not compute"):
        build_graph(program, "scalar", without_second)


@pytest.mark.parametrize("kind", ["overlap", "moved alias", "wrong pool"])
def test_check_finds_wrong_places(kind: str) -> None:
    """The proof itself must be able to fail."""
    calls = Calls()
    x = calls.input(64)
    y = calls.compute(x, scratch=32)
    flat = calls.reshape(y, 8, 8)
    z = calls.compute(flat, x)
    graph, sharing = plan(calls.program(z))

    def spoil(places: dict[str, Address]) -> None:
        if kind == "overlap":
            places[y.name] = places[flat.name] = replace(places[x.name], offset=32)
        elif kind == "moved alias":
            places[flat.name] = replace(places[flat.name], offset=places[flat.name].offset + 1)
        else:
            places[flat.name] = replace(places[flat.name], pool="other")

    with pytest.raises(PlanError):
        check(graph, sharing, spoil)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_random_programs(data: st.DataObject) -> None:
    """Any mixture of calls gives a plan that passes the proof, within the bounds."""
    calls = Calls()
    live = [calls.input(2, 24) for _ in range(data.draw(st.integers(1, 3)))]
    for _ in range(data.draw(st.integers(0, 14))):
        x = data.draw(st.sampled_from(live))
        rows = x.shape[0]
        match data.draw(st.sampled_from(["op", "op", "op", "reshape", "slice", "cat", "move"])):
            case "op":
                others = [v for v in live if v.shape == x.shape]
                live.append(
                    calls.compute(
                        x,
                        data.draw(st.sampled_from(others)),
                        in_place=data.draw(st.booleans()),
                        scratch=data.draw(st.sampled_from([0, 0, 40])),
                    )
                )
            case "reshape" if x.size % 24 == 0:
                live.append(calls.reshape(x, x.size // 24, 24))
            case "slice" if rows > 1:
                start = data.draw(st.integers(0, rows - 1))
                end = data.draw(st.integers(start + 1, rows))
                live.append(calls.slice(x, 0, start, end))
            case "cat":
                others = [v for v in live if v.shape[1:] == x.shape[1:]]
                live.append(calls.cat(x, data.draw(st.sampled_from(others))))
            case "move":
                live.append(calls.transpose(x, 1, 0))
    outputs = data.draw(st.lists(st.sampled_from(live), min_size=1, max_size=3))
    graph, sharing = plan(calls.program(*outputs))
    unshared = build_graph(calls.program(*outputs), "scalar", select)
    total = sum(math.prod(v.shape) for v in unshared.activations.values())
    assert lower_bound(sharing.blocks) <= total + 40 * len(sharing.steps)


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
