# SPDX-License-Identifier: Apache-2.0
"""Definition of a target: the engines for lowering, in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from torch.fx import GraphModule

from aot.backends.backend import Backend
from aot.backends.cortex_m import CORTEX_M
from aot.backends.traits import Traits
from aot.errors import LoweringError, describe


@dataclass(frozen=True)
class Exporter:
    """Another format of the whole model, for other tools than ours.

    Attributes:
      write: returns the file of a dialect graph. The format's own functions may be off by
        a step. It then may put their tables into the graph; the graph is the reference of
        the file. It raises LoweringError if the format has no form for an op.
      traits: by name of the dialect op, the format's needs for its values.
    """

    write: Callable[[GraphModule], bytes]
    traits: Mapping[str, Traits] = field(default_factory=dict)


@dataclass(frozen=True)
class Target:
    """A name and backends.

    Attributes:
      name: in the report.
      backends: each takes its ops from those left by earlier backends; the CPU is the
        last.
      exporter: writes the model in another format next to the .pte; None: there is none.

    Raises:
      LoweringError: an attribute has another type; a backend is none, is there twice, or
        has no `compile`; the last is not the CPU.
    """

    name: str
    backends: tuple[Backend, ...] = (CORTEX_M,)
    exporter: Exporter | None = None

    def __post_init__(self) -> None:
        if problem := self._problem():
            raise LoweringError(f"target {self.name!r}: {problem}")

    def _problem(self) -> str:
        if not isinstance(self.name, str) or not self.name:
            return "its name must be a non-empty string"
        given: object = self.backends
        if not isinstance(given, Sequence):
            return f"backends must be a sequence; got {describe(given)}"
        for backend in given:
            if not isinstance(backend, Backend):
                return f"{backend!r} is not an aot.backends.backend.Backend"
        names = [b.name for b in self.backends]
        if len(set(names)) < len(names):
            return f"two backends have the same name: {', '.join(names)}"
        if not self.backends or self.backends[-1] is not CORTEX_M:
            return (
                "the last backend must be aot.backends.cortex_m.CORTEX_M: it takes the ops that "
                "no other backend takes"
            )
        for engine in self.engines:
            if engine.compile is None:
                return f"backend {engine.name!r} has no `compile`"
        return ""

    @property
    def engines(self) -> tuple[Backend, ...]:
        """Return the backends with delegates: all except the CPU."""
        return self.backends[:-1]

    @property
    def absences(self) -> Mapping[str, str]:
        """Return, for each engine that cannot compile here, the reason and the remedy."""
        said = {engine.name: engine.absent() for engine in self.engines}
        return {name: reason for name, reason in said.items() if reason}

    def check(self) -> None:
        """Raise LoweringError if a required engine cannot compile here."""
        for engine in self.engines:
            if not engine.optional and (reason := engine.absent()):
                raise LoweringError(f"target {self.name!r}: backend {engine.name!r}: {reason}")

    @property
    def keeps(self) -> tuple[Any, ...]:
        """Return the ATen ops left whole by export."""
        return tuple(dict.fromkeys(op for b in self.backends for op in b.keeps))

    @property
    def rewrites(self) -> tuple[Callable[[GraphModule], object], ...]:
        """Passes over the exported graph."""
        return tuple(dict.fromkeys(rewrite for b in self.backends for rewrite in b.rewrites))

    @property
    def traits(self) -> Mapping[str, Traits]:
        """Return, by dialect op, the needs of all backends together: each one only narrows."""
        wanted = [b.traits for b in self.backends]
        wanted += [] if self.exporter is None else [self.exporter.traits]
        names = dict.fromkeys(name for traits in wanted for name in traits)
        return {name: _all_of([traits.get(name, Traits()) for traits in wanted]) for name in names}


def _all_of(traits: list[Traits]) -> Traits:
    return Traits(**{key: any(asdict(t)[key] for t in traits) for key in asdict(Traits())})
