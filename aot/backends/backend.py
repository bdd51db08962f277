# SPDX-License-Identifier: Apache-2.0
"""What a backend is: an engine that runs parts of a model, as lowering sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.backends.traits import Traits
from aot.dialect.delegate import Payload
from aot.dialect.library import OPS
from aot.errors import LoweringError
from aot.pte.conventions import is_name
from aot.rules import has_rule
from aot.upstream.torch import OpOverload

_DTYPES = (torch.int8, torch.int16, torch.bool)


class CannotRun(Exception):
    """Raised by `compile`: a region that the engine took does not run there as a whole.

    Attributes:
      node: name of the first op with which that shows. The partition cuts the region in front of
        it; where it is the first of the region, it is left to the next engine.
      reason: for the report, one phrase.
    """

    def __init__(self, node: str, reason: str) -> None:
        super().__init__(reason)
        self.node = node
        self.reason = reason


class NotWorth(Exception):
    """Raised by `compile`: a region that the engine can run, but takes longer for, as the program
    shows, than the next engine. The whole region is left to that.

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

    The hooks are given nodes of the dialect (see aot/dialect/graph.py: `dialect_op`, `arguments`,
    `edge_of`); constants are read by `tensor_constant(node.graph.owning_module, ...)`. A reason is
    one phrase, for the report; "" means that there is nothing to say against it.

    Attributes:
      name: in reports and messages, e.g. "ethos_u".
      delegate_id: as ExecuTorch's runtime knows the backend, e.g. "EthosUBackend".
      compile: what the engine runs for a region, a dialect graph whose inputs and results are the
        region's border. It may change the graph that it is given, and raise `CannotRun` or
        `NotWorth`. None for the CPU, whose ops stay calls of kernels.
      adopt: rewrites a region, in place, before it is compiled: ops that the engine computes
        otherwise than the CPU become ops with the engine's arithmetic. What comes out is the
        reference of what the engine computes.
      reject: why the engine cannot run a node.
      reject_region: why it cannot run a convex region of nodes, in the order of the graph, each of
        which it can run.
      not_worth: why it should leave a region that it can run, e.g. because the round trip takes
        longer than the CPU would.
      dtypes: of the activations that it reads and writes.
      keeps: ATen ops that export leaves whole for it, where decomposition would scatter them.
      rewrites: passes over the exported graph, of floats, that it wants. What they change, in
        place, gives the same values but for rounding. They are for the whole model.
      traits: by name of the dialect op.
      absent: why it cannot compile here, such as a tool that is not installed, and what to do.
      optional: where it is absent, everything is left to the next engine, as the report says;
        otherwise lowering fails before it starts.

    Raises:
      LoweringError: an attribute is of another type, or asks for what lowering cannot do.
    """

    name: str
    delegate_id: str = ""
    compile: Callable[[GraphModule], Payload] | None = None
    adopt: Callable[[GraphModule], None] | None = None
    reject: Callable[[Node], str] = _nothing
    reject_region: Callable[[Sequence[Node]], str] = _nothing
    not_worth: Callable[[Sequence[Node]], str] = _nothing
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
