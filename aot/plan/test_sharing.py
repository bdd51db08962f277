# SPDX-License-Identifier: Apache-2.0
"""Concatenations, in-place calls and lifetimes, proved by running plans on names."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aot.plan.check import PlanError
from aot.plan.graph import build_graph
from aot.plan.layout import AliasGroup
from aot.plan.planner import lower_bound
from aot.plan.program import PlanProgram
from aot.plan.sharing import Sharing, share_memory
from aot.plan.testing_calls import Address, Calls, addresses, check, plan, select
from aot.plan.testing_sharing import share_memory_simply
from kernels.common.kernel import Constant, Isa, KernelCall, OpCall, Value


def constant(*shape: int) -> Value:
    return Value("constant", "int8", shape, np.ones(shape, np.int8))


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


@pytest.mark.parametrize("kind", ["twice", "part", "inner", "swapped", "constant"])
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
    elif kind == "constant":
        y = calls.cat(z, constant(8, 4))
    else:
        y = calls.cat(calls.slice(x, 0, 4, 8), calls.slice(x, 0, 0, 4))
    _, sharing = plan(calls.program(y, x))
    assert sharing.steps[-1].op.op == "pl::cat"


def test_cat_is_not_joined_if_that_needs_more_memory() -> None:
    """The joined result would be live together with a large tensor. Without the join, only one of
    the inputs is.
    """
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
    """The second input is a slice of the first, so writing over one would destroy the other."""
    calls = Calls()
    x = calls.compute(calls.input(8, 8))
    row = calls.slice(x, 0, 2, 3)
    _, sharing = plan(calls.program(calls.compute(x, row, in_place=True)))
    assert not sharing.in_place


def test_no_in_place_over_a_constant() -> None:
    calls = Calls()
    x = calls.compute(calls.input(8))
    y = calls.compute(constant(8), x, in_place=True)
    _, sharing = plan(calls.program(y))
    assert sharing.in_place == {2: (x.name, y.name)}


def test_in_place_over_the_first_of_two_inputs() -> None:
    calls = Calls()
    x = calls.input(8)
    a, b = calls.compute(x), calls.compute(x)
    y = calls.compute(a, b, in_place=True)
    _, sharing = plan(calls.program(y))
    assert sharing.in_place == {3: (a.name, y.name)}


def test_only_the_output_in_place_overwrites_the_input() -> None:
    """Through a concatenation, the second output would alias the rest of the input."""

    def first_in_place(call: OpCall, isa: Isa) -> KernelCall:
        kernel = select(call, isa)
        pair = (call.args["inputs"][0].name, call.outputs[0].name)
        return replace(kernel, in_place=(pair,))

    calls = Calls()
    x = calls.input(64)
    first, second = calls.value(32), calls.value(32)
    calls.calls.append(OpCall("test::op", {"inputs": [x]}, (first, second)))
    y = calls.cat(calls.compute(first), second)
    result = calls.compute(y, scratch=1024)  # the peak: memory before it is no reason not to join
    graph = build_graph(calls.program(result), "scalar", first_in_place)
    sharing = share_memory(graph)
    check(graph, sharing)
    assert [step.op.op for step in sharing.steps] == ["test::op"] * 3
    assert sharing.in_place == {1: (x.name, first.name), 3: (y.name, result.name)}


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


def test_constants_do_not_need_memory() -> None:
    def with_constant(call: OpCall, isa: Isa) -> KernelCall:
        kernel = select(call, isa)
        packed = Constant(np.zeros(8, np.int8))
        return replace(kernel, data={**kernel.data, "weight": packed})

    calls = Calls()
    program = calls.program(calls.compute(calls.input(4)))
    assert len(share_memory(build_graph(program, "scalar", with_constant)).blocks) == 2


def test_result_over_its_input() -> None:
    """The first step uses 512 bytes. The result may not start closer to its input than the alias
    distance.
    """
    calls = Calls()
    x = calls.input(256)
    y = calls.stream(x, 24, 256)
    graph, sharing = plan(calls.program(calls.stream(y, 24, 16)))
    at = addresses(sharing)
    assert at[x.name].offset - at[y.name].offset == 32
    assert lower_bound(sharing.blocks, 16) == 256 + 32
    for distance, fits in ((24, True), (16, False), (8, False)):
        input_end = replace(at[x.name], offset=at[y.name].offset + distance)

        def spoil(places: dict[str, Address], at: Address = input_end) -> None:
            places[x.name] = at

        if fits:
            check(graph, sharing, spoil)
        else:
            with pytest.raises(PlanError, match="step 1 writes"):
                check(graph, sharing, spoil)


@pytest.mark.parametrize(
    "kind", ["read later", "an output", "read as two", "not the first to write"]
)
def test_no_result_over_an_input_that_is_in_use(kind: str) -> None:
    calls = Calls()
    x = calls.compute(calls.input(8, 32))
    if kind == "read as two":
        inputs = [x, calls.slice(x, 0, 0, 1)]
        y = calls.call("test::op", (8, 32), inputs=inputs, distance=0)
    else:
        y = calls.stream(x, 0, 8, 32)
    outputs = [y]
    if kind == "read later":
        outputs = [calls.compute(y, x)]
    elif kind == "an output":
        outputs = [y, x]
    elif kind == "not the first to write":
        z = calls.compute(calls.input(8, 32))
        calls.calls.insert(0, calls.calls.pop())
        outputs = [calls.cat(z, y)]
    _, sharing = plan(calls.program(*outputs))
    assert not any(block.over for block in sharing.blocks)


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


@st.composite
def programs(draw: st.DrawFn) -> PlanProgram:
    """Any mixture of calls."""
    calls = Calls()
    live = [calls.input(2, 24) for _ in range(draw(st.integers(1, 3)))]
    for _ in range(draw(st.integers(0, 14))):
        x = draw(st.sampled_from(live))
        rows = x.shape[0]
        kinds = [
            "op",
            "op",
            "op",
            "stream",
            "stream",
            "split",
            "reshape",
            "slice",
            "cat",
            "move",
            "delegate",
        ]
        match draw(st.sampled_from(kinds)):
            case "op":
                others = [v for v in live if v.shape == x.shape]
                live.append(
                    calls.compute(
                        x,
                        draw(st.sampled_from(others)),
                        in_place=draw(st.booleans()),
                        scratch=draw(st.sampled_from([0, 0, 40])),
                    )
                )
            case "stream":
                distance = draw(st.integers(-x.bytes, 72))
                live.append(calls.stream(x, distance, draw(st.sampled_from([1, 2, 3])), 24))
            case "split" if x.size % 2 == 0:
                live += calls.split(x, in_place=draw(st.booleans()))
            case "reshape" if x.size % 24 == 0:
                live.append(calls.reshape(x, x.size // 24, 24))
            case "slice" if rows > 1:
                start = draw(st.integers(0, rows - 1))
                end = draw(st.integers(start + 1, rows))
                live.append(calls.slice(x, 0, start, end))
            case "cat":
                others = [v for v in live if v.shape[1:] == x.shape[1:]]
                live.append(calls.cat(x, draw(st.sampled_from(others))))
            case "delegate":
                live += calls.delegate(
                    draw(st.lists(st.sampled_from(live), min_size=1, max_size=2)),
                    *([2, 24], [3, 24])[: draw(st.integers(1, 2))],
                    scratch=draw(st.sampled_from([0, 40])),
                    alignment=draw(st.sampled_from([1, 8, 16, 64])),
                )
            case "move" if len(x.shape) == 2:
                live.append(calls.transpose(x, 1, 0))
    return calls.program(*draw(st.lists(st.sampled_from(live), min_size=1, max_size=3)))


@settings(max_examples=200, deadline=None)
@given(programs())
def test_random_programs(program: PlanProgram) -> None:
    """Every mixture of calls gives a plan that passes the proof and stays within the bounds."""
    _, sharing = plan(program)
    unshared = build_graph(program, "scalar", select)
    total = sum(v.bytes for v in unshared.activations.values())
    assert lower_bound(sharing.blocks) <= total + 40 * len(sharing.steps)


@settings(max_examples=400, deadline=None)
@given(programs())
def test_decides_as_the_simple_form_does(program: PlanProgram) -> None:
    graph = build_graph(program, "scalar", select)
    sharing, simple = share_memory(graph), share_memory_simply(graph)
    for part in fields(Sharing):
        assert getattr(sharing, part.name) == getattr(simple, part.name), part.name


def test_results_of_one_step_do_not_overlap() -> None:
    """One result has its only use in the step that writes it. The second, unread result of a kernel
    is the same case.
    """
    for first in (AliasGroup(1, 1), AliasGroup(1, 3)):
        for second in (AliasGroup(1, 1), AliasGroup(1, 3)):
            assert first.clashes(second)
    assert not AliasGroup(1, 2).clashes(AliasGroup(2, 3))
    assert not AliasGroup(2, 3).clashes(AliasGroup(1, 2))
