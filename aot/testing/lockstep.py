# SPDX-License-Identifier: Apache-2.0
"""Comparison of a dialect graph with torchao's quantized graph, op by op, in quantization steps.

torchao's graph computes in float between quantize nodes. The dialect computes in integers and
sometimes rounds differently. To measure each op's own difference without inherited errors,
torchao's graph continues with the dialect's values: each quantized value is replaced after its
comparison.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

from aot.dialect.graph import border_nodes, edge_of, initial_state, state_nodes
from aot.dialect.qdq import QUANTIZE
from aot.dialect.reference import fit_inputs
from aot.dialect.results import taken_from
from aot.lower import Lowered

LARGEST = {"lstm int16": 8, "gru int16": 4, "rnn int16": 8}
"""Steps that ops may differ by; all others may differ by one. A loop carries states of 16 bits with
small steps, and one int8 step has 256 of them. States with a spare bit have steps of twice the
size.
"""


@dataclass
class Difference:
    """Difference of one kind of op from torchao's float arithmetic.

    Attributes:
      elements: number of compared values.
      off_by_one: number of values differing by one quantization step.
      largest: the largest difference in steps.
    """

    elements: int = 0
    off_by_one: int = 0
    largest: int = 0

    def add(self, actual: torch.Tensor, expected: torch.Tensor) -> None:
        distance = (actual.to(torch.int32) - expected.to(torch.int32)).abs()
        self.elements += distance.numel()
        self.off_by_one += int((distance == 1).sum())
        self.largest = max(self.largest, int(distance.max()))

    @property
    def rate(self) -> float:
        """Share of values differing by one step."""
        return self.off_by_one / max(self.elements, 1)


@dataclass
class Lockstep:
    """Differences by dialect op over all inputs compared; int16 results apart: "linear int16"."""

    by_op: dict[str, Difference] = field(default_factory=dict)

    @property
    def largest(self) -> int:
        return max((d.largest for d in self.by_op.values()), default=0)


class _Recorder(Interpreter):
    """Runs the dialect graph and keeps the value of every node that stands for a torchao quantize
    node.
    """

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.values: dict[str, tuple[str, torch.Tensor]] = {}
        self.chain: dict[str, str] = {}

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        origin = n.meta.get("origin")
        if isinstance(result, torch.Tensor) and origin is not None and origin.quantized:
            op = str(taken_from(n)[0].target).split(".")[1]
            op += " int16" if result.dtype is torch.int16 else ""
            # The last node of a rule's emission has the value; the last compute op names it.
            if origin.quantized not in self.chain or op not in ("transpose", "reshape"):
                self.chain[origin.quantized] = op
            self.values[origin.quantized] = (self.chain[origin.quantized], result)
        return result


class _Forced(Interpreter):
    """Runs torchao's graph, comparing and then replacing quantized values."""

    def __init__(
        self, module: GraphModule, values: Mapping[str, tuple[str, torch.Tensor]], into: Lockstep
    ) -> None:
        super().__init__(module)
        self._values = values
        self._into = into

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        if n.target is torch.ops.aten.topk.default:
            return _first_of_equals(*self.fetch_args_kwargs_from_env(n))
        if n.target is not QUANTIZE or n.name not in self._values:
            return result
        op, actual = self._values[n.name]
        # If a function is undefined, so is torch's conversion of NaN to an integer.
        defined = ~torch.isnan(self.env[n.args[0]])  # type: ignore[index]
        self._into.by_op.setdefault(op, Difference()).add(actual[defined], result[defined])
        return actual


def _first_of_equals(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Compute topk with equal values in their order. The dialect keeps this order and torch leaves
    it open.
    """
    x, k = args[:2]
    if x.dim() == 0:
        return torch.topk(*args, **kwargs)
    dim = args[2] if len(args) > 2 else -1
    descending = kwargs.get("largest", args[3] if len(args) > 3 else True)
    values, indices = x.sort(dim=dim, descending=descending, stable=True)
    return values.narrow(dim, 0, k), indices.narrow(dim, 0, k)


def compare(lowered: Lowered, samples: Sequence[Sequence[torch.Tensor]]) -> Lockstep:
    """Run both graphs on float samples (contiguous), one sequence, and return the differences."""
    into = Lockstep()
    nodes, _ = border_nodes(lowered.folded)
    quantizations = [edge_of(old).quantization for old, _ in state_nodes(lowered.folded)]
    state = initial_state(lowered.folded)
    with torch.no_grad():
        for sample in samples:
            contiguous = [x.contiguous() for x in sample]
            recorder = _Recorder(lowered.folded)
            results = recorder.run(*fit_inputs(contiguous, nodes), *state)
            floats = [
                q.dequantize(x) if q is not None else x
                for x, q in zip(state, quantizations, strict=True)
            ]
            _Forced(lowered.quantized, recorder.values, into).run(*contiguous, *floats)
            state = results[len(results) - len(state) :] if state else state
    return into
