# SPDX-License-Identifier: Apache-2.0
"""Programs of random calls for tests. Their plans are checked by symbolic execution."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aot.plan.check import check_delegates, check_plan
from aot.plan.delegate_call import delegate_op_call
from aot.plan.delegates import DelegatePlaces
from aot.plan.graph import Graph, build_graph
from aot.plan.layout import ALIGNMENT, scratch_name
from aot.plan.planner import place_blocks
from aot.plan.program import PlanProgram, PlanState, Port
from aot.plan.sharing import Sharing, share_memory
from aot.pte.conventions import Needs
from aot.pte.reader import StoredDelegate
from kernels.common.kernel import Isa, KernelCall, OpCall, Value
from kernels.common.overlap import Overlap, overlap


@dataclass(frozen=True)
class Address:
    pool: str
    offset: int


class Calls:
    """Builder of a program, call by call; tensors are int8."""

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
        """Add an op with a kernel. Its result has the shape of the first input."""
        return self.call(
            "test::op", inputs[0].shape, inputs=list(inputs), in_place=in_place, scratch=scratch
        )

    def stream(self, value: Value, distance: int, *shape: int) -> Value:
        """Add an op with a kernel. Its result may start `distance` bytes before its input."""
        return self.call("test::op", shape, inputs=[value], distance=distance)

    def split(self, value: Value, in_place: bool = False) -> tuple[Value, Value]:
        """Add an op with a kernel and two results, each with half of the elements."""
        results = self.value(value.size // 2), self.value(value.size // 2)
        self.calls.append(OpCall("test::op", {"inputs": [value], "in_place": in_place}, results))
        return results

    def delegate(
        self,
        inputs: Sequence[Value],
        *shapes: Sequence[int],
        scratch: int = 0,
        alignment: int = 16,
        configuration: str = "",
        cache: int = 0,
    ) -> tuple[Value, ...]:
        """Add a call of a delegate of the backend "Test", with results of these shapes."""
        outputs = tuple(self.value(*shape) for shape in shapes)
        needs = Needs(configuration, scratch, alignment, cache)
        payload = f"payload {len(self.calls)}".encode()
        delegate = StoredDelegate("Test", payload, needs)
        self.calls.append(delegate_op_call(delegate, tuple(inputs), outputs))
        return outputs

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

    def program(self, *outputs: Value) -> PlanProgram:
        def port(value: Value) -> Port:
            return Port(value, value.shape, 0.5, 0, "row_major")

        return PlanProgram(
            tuple(self.calls), tuple(map(port, self.inputs)), tuple(map(port, outputs))
        )


class Stateful(Calls):
    """Builder of programs that keep values from run to run."""

    def __init__(self) -> None:
        super().__init__()
        self.states: list[PlanState] = []

    def state(self, *shape: int) -> Value:
        value = self.value(*shape)
        new = Value(f"{value.name} (new)", "int8", shape)
        self.states.append(PlanState(value, np.zeros(shape, np.int8), new))
        return value

    def becomes(self, *news: Value) -> None:
        """Set each state's new value."""
        for state, value in zip(self.states, news, strict=True):
            self.calls.append(OpCall("pl::cat", {"inputs": [value], "dim": 0}, (state.new,)))

    def program(self, *outputs: Value) -> PlanProgram:
        return replace(super().program(*outputs), states=tuple(self.states))


def select(call: OpCall, isa: Isa) -> KernelCall:
    """Return a kernel for any call."""
    operands = call.args.get("inputs", [call.args.get("input")])
    data = {f"input_{i}": value for i, value in enumerate(operands)}
    data |= {f"output_{i}": value for i, value in enumerate(call.outputs)}
    in_place: tuple[tuple[str, str], ...] = ()
    if call.args.get("in_place"):
        in_place = tuple((v.name, result.name) for v in operands for result in call.outputs)
    over: tuple[Overlap, ...] = ()
    if "distance" in call.args:
        source, result = operands[0], call.output()
        starts = np.arange(1, result.size + 1) - call.args["distance"]
        over = overlap(source, result, np.clip(starts, 0, source.size), at_a_time=1)
    scratch = call.args.get("scratch", 0)
    return KernelCall("pl_any", "any.h", {}, {}, data, scratch, in_place, over)


def plan(program: PlanProgram) -> tuple[Graph, Sharing]:
    """Share memory, place the blocks and check the result."""
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
    graph: Graph,
    sharing: Sharing,
    change: Callable[[dict[str, Address]], None] = lambda _: None,
    reach: str = "ram",
) -> None:
    """Place everything in "ram", with the edits of `change`, and check the plan.

    Engines reach the memory `reach`.
    """
    offsets = place_blocks(sharing.blocks, ALIGNMENT).offsets
    places = addresses(sharing)
    change(places)

    def scratch(step: int) -> Address:
        name = scratch_name(step)
        return places.get(name, Address("ram", offsets[name]))

    check_plan(graph, sharing, places.__getitem__, scratch)
    reached = frozenset({reach})
    check_delegates(
        sharing,
        places.__getitem__,
        scratch,
        lambda call, delegate: DelegatePlaces(reached, reached),
    )
