# SPDX-License-Identifier: Apache-2.0
"""Definition of a backend: an engine running parts of a model, from the view of lowering."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.backends.traits import Traits
from aot.dialect.delegate import DelegatePayload
from aot.dialect.library import OPS
from aot.errors import LoweringError
from aot.pte.conventions import is_name
from aot.rules import has_rule
from aot.upstream.torch import OpOverload

_DTYPES = (torch.int8, torch.int16, torch.bool)


class CannotRun(Exception):
    """Error of `compile`: a region taken by the engine cannot run there as a whole.

    Attributes:
      node: name of the first op showing the problem. The partition cuts the region before
        it. If it is the first op of the region, it is left to the next engine.
      reason: for the report, one phrase.
    """

    def __init__(self, node: str, reason: str) -> None:
        super().__init__(reason)
        self.node = node
        self.reason = reason


class NotWorth(Exception):
    """Error of `compile`: the engine can run a region, but the compiled program is slower than the
    next engine. The whole region is left to the next engine.

    Attributes:
      reason: for the report, one phrase.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _nothing(_: Any) -> str:
    return ""


def _there() -> str:
    return ""


@dataclass(frozen=True)
class Backend:
    """An engine.

    The hooks receive nodes of the dialect (see aot/dialect/graph.py: `dialect_op`, `arguments`,
    `edge_of`). Read constants with `tensor_constant(node.graph.owning_module, ...)`. A reason is
    one phrase for the report; "" means no objection.

    Attributes:
      name: in reports and messages, e.g. "ethos_u".
      delegate_id: the backend's name in ExecuTorch's runtime, e.g. "EthosUBackend".
      compile: returns the engine's payload for a region. The region is a dialect graph
        with the region's inputs and results. It may change that graph, and raise
        `CannotRun` or `NotWorth`. None for the CPU, whose ops stay calls of kernels.
      adopt: rewrites a region in place before it is compiled. Ops that the engine
        computes differently from the CPU become ops with the engine's arithmetic. The
        rewritten region is the reference for the engine's results.
      reject: the reason why the engine cannot run a node.
      reject_region: the reason why it cannot run a convex region of runnable nodes, in
        graph order.
      not_worth: the reason to leave a runnable region to the next engine, e.g. because
        the round trip takes longer than the CPU.
      place: the names of ops of a region that the next engine should take, with the
        reasons; {} keeps the region whole. It is called before `compile`, and gets the
        same graph. The other ops form regions again.
      dtypes: of the activations that it reads and writes.
      keeps: ATen ops left whole by export for it, because decomposition would scatter
        them.
      rewrites: the engine's passes over the exported float graph, in place. They keep the
        values except for rounding. They apply to the whole model.
      traits: by name of the dialect op.
      absent: the reason why it cannot compile here, such as a missing tool, and the
        remedy.
      optional: if True and it is absent, everything is left to the next engine, with a
        note in the report. Otherwise lowering fails before it starts.

    Raises:
      LoweringError: an attribute has another type, or is beyond the abilities of
        lowering.
    """

    name: str
    delegate_id: str = ""
    compile: Callable[[GraphModule], DelegatePayload] | None = None
    adopt: Callable[[GraphModule], None] | None = None
    reject: Callable[[Node], str] = _nothing
    reject_region: Callable[[Sequence[Node]], str] = _nothing
    not_worth: Callable[[Sequence[Node]], str] = _nothing
    place: Callable[[GraphModule], Mapping[str, str]] | None = None
    dtypes: tuple[torch.dtype, ...] = (torch.int8,)
    keeps: tuple[Any, ...] = ()
    rewrites: tuple[Callable[[GraphModule], object], ...] = ()
    traits: Mapping[str, Traits] = field(default_factory=dict)
    absent: Callable[[], str] = _there
    optional: bool = False

    def __post_init__(self) -> None:
        if problem := self._problem():
            raise LoweringError(f"backend {self.name!r}: {problem}")

    def _problem(self) -> str:
        if not isinstance(self.name, str) or not is_name(self.name):
            return "its name is no text of ASCII letters, digits and _.+:-"
        kinds = {"dtypes": Sequence, "keeps": Sequence, "rewrites": Sequence, "traits": Mapping}
        for attribute, kind in kinds.items():
            given = getattr(self, attribute)
            if not isinstance(given, kind):
                return f"{attribute} is {given!r}, not a {kind.__name__.lower()}"
        if not self.dtypes:
            return "dtypes is empty: it could take nothing"
        hooks: dict[str, Any] = {"reject": self.reject, "reject_region": self.reject_region}
        hooks |= {"not_worth": self.not_worth, "absent": self.absent}
        if self.adopt is not None:
            hooks["adopt"] = self.adopt
        if self.place is not None:
            hooks["place"] = self.place
        if self.compile is not None:
            hooks["compile"] = self.compile
            if not isinstance(self.delegate_id, str) or not is_name(self.delegate_id):
                return "it compiles regions, so it needs a delegate_id, e.g. 'EthosUBackend'"
        hooks |= {f"rewrites[{i}]": rewrite for i, rewrite in enumerate(self.rewrites)}
        for name, hook in hooks.items():
            if not callable(hook):
                return f"{name} is {hook!r}, not a function"
        for dtype in self.dtypes:
            if dtype not in _DTYPES:
                return f"dtypes has {dtype}: a delegate's border is int8, int16 or bool"
        return self._keeps_problem() or self._traits_problem()

    def _keeps_problem(self) -> str:
        for op in self.keeps:
            if not isinstance(op, OpOverload):
                return f"keeps has {op!r}, not an op such as torch.ops.aten.linear.default"
            if self.compile is not None and not has_rule(op):
                return (
                    f"keeps has {op}, of which no rule makes an op of the dialect: add one "
                    "(CONTRIBUTING.md, Add an op)"
                )
        return ""

    def _traits_problem(self) -> str:
        given: Mapping[Any, Any] = self.traits
        for name, traits in given.items():
            if name not in OPS:
                return f"traits of {name!r}, which is no op of the dialect"
            if not isinstance(traits, Traits):
                return f"traits of {name!r} are {traits!r}, not Traits(...)"
            if traits.weights_per_tensor and "weight" not in OPS[name].dtypes:
                return f"traits of {name!r} ask for weights_per_tensor: it has no weights"
        return ""
