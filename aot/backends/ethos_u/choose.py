# SPDX-License-Identifier: Apache-2.0
"""Choice of a region's forms: Vela compiles candidates, the cheapest one stays.

Two figures judge a candidate. The first one decides.

1. On U55 and U65 the functional model's estimate of the commands; on U85 Vela's cycles.
2. Vela's cycles.

Vela's cycles and the scratch memory may not exceed those of the plain forms.

Order and number of the tries are fixed: the choice depends on the region and the NPU only.
"""

from __future__ import annotations

import functools
import hashlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace

from absl import logging
from torch.fx import GraphModule

from aot.backends.ethos_u.emit import Choice, Emitted, emitted, matching
from aot.backends.ethos_u.forms import FormError, check_forms
from aot.backends.ethos_u.vela import VelaError, VelaProgram, compile_tosa
from aot.backends.npus import Npu
from npu.ethos_u.npu_model import EthosUError, EthosUModel
from npu.ethos_u.payload import parse_payload

MOST_TRIES = 24
"""Programs compiled for a region, at most. Vela takes 0.05 s for a small one."""

_CHOICES: dict[tuple[object, ...], Choice] = {}
"""Choices made so far: placement looks at the regions that are compiled later."""


@dataclass(frozen=True)
class Candidate:
    """A region's graph in some choice of forms, and Vela's program for it.

    Attributes:
      cycles: by the yardstick of the NPU.
    """

    choice: Choice
    graph: Emitted
    program: VelaProgram
    cycles: int

    @property
    def figures(self) -> tuple[int, int]:
        return self.cycles, self.program.cycles

    @functools.cached_property
    def scratch_bytes(self) -> int:
        return parse_payload(self.program.payload).scratch_size


def compiled(region: GraphModule, npu: Npu, choice: Choice, check: bool) -> Candidate:
    """Return the candidate of a choice.

    Raises:
      FormError: with `check`, Vela compiles one of the graph's operators wrongly.
      VelaError: Vela does not compile the graph.
    """
    graph = emitted(region, npu, choice)
    if check:
        check_forms(graph.tosa, npu)
    program = compile_tosa(graph.tosa, npu)
    return Candidate(choice, graph, program, estimated(program, npu))


def estimated(program: VelaProgram, npu: Npu) -> int:
    """Return the cycles of a program by the yardstick of the NPU.

    The model counts commands: Vela books a transpose as one operation, of .375 cycles a value, and
    the stream has a copy of a depth of 1 for each channel, of some 8. A program that the model
    refuses takes longer than any other.
    """
    if npu.is_u85:  # the model estimates none
        return program.cycles
    try:
        return EthosUModel(npu.name).inspect(program.payload).counts.cycles
    except EthosUError:
        return sys.maxsize


def choose(region: GraphModule, npu: Npu, plain: Candidate, tries: int = MOST_TRIES) -> Candidate:
    """Return the cheapest candidate of a region within a number of tries, or the plain one."""
    found = matching(region, npu)
    graph = hashlib.sha256(plain.graph.tosa).digest()
    key = graph, npu, tries, plain.choice.key, *((f, *names) for f, names in found.items())
    if key not in _CHOICES:
        best = _best(region, npu, plain, tries, found)
        _CHOICES[key] = best.choice
        return best
    choice = _CHOICES[key]
    return plain if choice == plain.choice else compiled(region, npu, choice, check=True)


def _best(
    region: GraphModule, npu: Npu, plain: Candidate, tries: int, found: Mapping[str, list[str]]
) -> Candidate:
    search = _Search(region, npu, plain, tries)
    if not npu.is_u85:
        search.attempt(replace(plain.choice, limits=True))
    for limits in (False, not npu.is_u85):  # twice, as a form may win beside others only
        for form, names in found.items():
            base = replace(search.best.choice, limits=limits or search.best.choice.limits)
            search.attempt(_with(base, dict.fromkeys(names, form)))
    for form, names in found.items():
        if len(names) > 1:
            for name in names:
                search.attempt(_toggled(search.best.choice, name, form))
    return search.best


class _Search:
    """The best candidate so far."""

    def __init__(self, region: GraphModule, npu: Npu, plain: Candidate, tries: int) -> None:
        self.region, self.npu, self.plain, self.best = region, npu, plain, plain
        self._most = tries
        self._tried = [plain.choice]

    def attempt(self, choice: Choice) -> None:
        """Compile a choice, and keep it if it is better."""
        if choice in self._tried or len(self._tried) >= self._most:
            return
        self._tried.append(choice)
        try:
            found = compiled(self.region, self.npu, choice, check=True)
        except (FormError, VelaError) as error:
            logging.debug("%s: %s is not taken: %s", self.npu.name, choice, error)
            return
        if (
            found.figures < self.best.figures
            and found.program.cycles <= self.plain.program.cycles
            and found.scratch_bytes <= self.plain.scratch_bytes
        ):
            self.best = found


def _with(choice: Choice, forms: Mapping[str, str]) -> Choice:
    return replace(choice, forms={**choice.forms, **forms})


def _toggled(choice: Choice, name: str, form: str) -> Choice:
    """Return a choice with one op in a form, or in its emitter's if it has that form."""
    if choice.forms.get(name) != form:
        return _with(choice, {name: form})
    return replace(choice, forms={n: f for n, f in choice.forms.items() if n != name})
