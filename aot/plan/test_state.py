# SPDX-License-Identifier: Apache-2.0
"""State in plans. It is updated in place if that is safe and copied at the end if not. It shares
memory with nothing, and a plan that loses it is rejected.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

from aot.plan.check import PlanError
from aot.plan.graph import Graph, build_graph
from aot.plan.layout import ALIGNMENT
from aot.plan.planner import place_blocks
from aot.plan.sharing import Sharing
from aot.plan.testing_calls import Stateful, addresses, check, plan, select
from kernels.common.kernel import KernelError, Value


def _computed(calls: Stateful) -> tuple[Value, ...]:
    """The new value is computed after all reads of the old one."""
    x, state = calls.input(64), calls.state(64)
    y = calls.compute(x, state)
    calls.becomes(calls.compute(y))
    return (y,)


def _in_place(calls: Stateful) -> tuple[Value, ...]:
    x, state = calls.input(64), calls.state(64)
    new = calls.compute(state, x, in_place=True)
    calls.becomes(new)
    return (new,)


def _not_in_place(calls: Stateful) -> tuple[Value, ...]:
    x, state = calls.input(64), calls.state(64)
    new = calls.compute(state, x)
    calls.becomes(new)
    return (calls.compute(new),)


def _read_later(calls: Stateful) -> tuple[Value, ...]:
    x, state = calls.input(64), calls.state(64)
    new = calls.compute(x)
    y = calls.compute(state, x)
    calls.becomes(new)
    return (y,)


def _input(calls: Stateful) -> tuple[Value, ...]:
    x, state = calls.input(64), calls.state(64)
    y = calls.compute(state)
    calls.becomes(x)
    return (y,)


def _unread_input(calls: Stateful) -> tuple[Value, ...]:
    """Nothing reads the state, but the input that replaces it is still live next to it."""
    x, _ = calls.input(64), calls.state(64)
    calls.becomes(x)
    return (calls.compute(x),)


def _unread(calls: Stateful) -> tuple[Value, ...]:
    x, _ = calls.input(64), calls.state(64)
    new = calls.compute(x)
    calls.becomes(new)
    return (calls.compute(x),)


def _piece(calls: Stateful) -> tuple[Value, ...]:
    """The new value is a slice of a larger tensor, and the state is another slice of it."""
    x, state = calls.input(64), calls.state(32)
    line = calls.cat(state, x)
    calls.becomes(calls.slice(line, 0, 64, 96))
    return (calls.compute(line),)


def _joined(calls: Stateful) -> tuple[Value, ...]:
    """The new value is a cat of computed values."""
    x, state = calls.input(64), calls.state(128)
    y = calls.compute(state)
    calls.becomes(calls.cat(calls.compute(x), calls.compute(x)))
    return (y,)


def _shift(calls: Stateful) -> tuple[Value, ...]:
    x, state = calls.input(16), calls.state(64)
    y = calls.compute(state)
    calls.becomes(calls.cat(calls.slice(state, 0, 16, 64), x))
    return (y,)


def _two(calls: Stateful) -> tuple[Value, ...]:
    x, a, b = calls.input(64), calls.state(64), calls.state(64)
    y = calls.compute(b)
    calls.becomes(calls.compute(x, a), calls.cat(a))
    return (y,)


def _same(calls: Stateful) -> tuple[Value, ...]:
    x, a, b = calls.input(64), calls.state(64), calls.state(64)
    y = calls.compute(a, b)
    new = calls.compute(x)
    calls.becomes(new, new)
    return (y,)


def _chain_in_place(calls: Stateful) -> tuple[Value, ...]:
    """A value computed over the state must not stay there if a third value becomes the state."""
    x, state = calls.input(64), calls.state(64)
    y = calls.compute(state, in_place=True)
    z = calls.compute(y, in_place=True)
    calls.becomes(calls.compute(x, scratch=256))
    return (z,)


# Programs, and how many copies their plans end with.
PROGRAMS: dict[str, tuple[Callable[[Stateful], tuple[Value, ...]], int]] = {
    "computed": (_computed, 0),
    "in place": (_in_place, 0),
    "not in place": (_not_in_place, 1),
    "read later": (_read_later, 1),
    "an input": (_input, 1),
    "an input that nothing reads as state": (_unread_input, 1),
    "unread": (_unread, 0),
    "a piece": (_piece, 1),
    "joined": (_joined, 0),
    "shift": (_shift, 1),
    "two": (_two, 1),
    "the same for two": (_same, 1),
    "chain in place": (_chain_in_place, 0),
}


def planned(name: str) -> tuple[Stateful, Graph, Sharing]:
    calls = Stateful()
    outputs = PROGRAMS[name][0](calls)
    return calls, *plan(calls.program(*outputs))


@pytest.mark.parametrize("name", PROGRAMS)
def test_copies(name: str) -> None:
    calls, _, sharing = planned(name)
    news = {state.new.name for state in calls.states}
    copies = [step for step in sharing.steps if step.op.outputs[0].name in news]
    assert len(copies) == PROGRAMS[name][1]
    for state in calls.states:
        assert sharing.locations[state.new.name] == sharing.locations[state.value.name]


@pytest.mark.parametrize("name", PROGRAMS)
def test_state_is_shared_with_nothing(name: str) -> None:
    """The state's block is in use at every step. It has the state's size and holds the new value
    and nothing else.
    """
    calls, graph, sharing = planned(name)
    for state in calls.states:
        place = sharing.locations[state.value.name]
        (block,) = (b for b in sharing.blocks if b.name == place.block)
        assert (block.first, block.last) == (0, len(sharing.steps) + 1)
        assert (block.size, place.offset) == (state.value.bytes, 0)
        written = [
            value.name
            for step in sharing.steps
            for value in step.writes
            if sharing.locations[value.name].block == block.name
        ]
        assert all(sum(graph.activations[n].bytes for n in written) <= block.size for _ in written)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_tensor_in_the_states_place_is_caught(name: str) -> None:
    """Every tensor moved onto the state is an error. The exception is a value the state's last
    reader may write there.
    """
    calls, graph, sharing = planned(name)
    places = addresses(sharing)
    for state in calls.states:
        at = places[state.value.name]
        for other in {value.name for step in sharing.steps for value in step.writes}:
            pair = (state.value.name, other)
            if places[other] == at or any(pair in step.kernel.in_place for step in sharing.steps):
                continue
            if graph.activations[other].bytes > state.value.bytes:
                continue
            with pytest.raises(PlanError):
                check(graph, sharing, lambda p, o=other, a=at: p.update({o: a}))  # type: ignore[misc]


def test_a_state_that_moves_is_caught() -> None:
    calls, graph, sharing = planned("read later")
    end = place_blocks(sharing.blocks, ALIGNMENT).size
    new = calls.states[0].new.name
    with pytest.raises(PlanError, match="not where the next run takes"):
        check(graph, sharing, lambda p: p.update({new: replace(p[new], offset=end)}))


@pytest.mark.parametrize("as_output", [True, False])
def test_state_as_it_was_is_no_result(as_output: bool) -> None:
    """The last calls write over it: who wants it takes a copy."""
    calls = Stateful()
    x, state = calls.input(64), calls.state(64)
    old = calls.reshape(state, 8, 8)
    new = calls.compute(x)
    calls.becomes(new if as_output else calls.reshape(old, 64))
    program = calls.program(old if as_output else new)
    with pytest.raises(KernelError, match="is state as it was before the run"):
        build_graph(program, "scalar", select)
