# SPDX-License-Identifier: Apache-2.0
"""Search for the settings of a model with the best quality under limits, by lowering.

It starts with int8, keeps settings of the whole model that help, then gives int16 to the layers
whose quantization alone costs most, and four-bit weights to the largest that bear it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aot.errors import LoweringError
from aot.lower import Lowered
from aot.options import Quantize
from aot.quality.layers import only_moves, settings_of
from aot.quantizer.by_layer import DEFAULT
from aot.rules import fused_clamp
from aot.rules.four_bits import has_four_bit_form
from measure.fit.cost import FitCost, FitCosts
from tools.text.progress import show

_WHOLE: Sequence[Mapping[str, Any]] = (
    {"correct_bias": True},
    {"observer": "minmax"},
    {"observer": "mse"},
    {"equalize": True},
)
_WORTH_DB = 0.2
"""A setting with a smaller gain is left out."""

_AFFORDABLE_DB = 1.0
"""Acceptable loss for four-bit weights, if there is no limit of the metric."""

_FOUR_BITS = "int8w4g32"

Lower = Callable[[Quantize], Lowered]


@dataclass(frozen=True)
class FitLimits:
    """Upper limits of costs, and the least metric; None: no limit. `max_flash` and `max_ram` are
    bytes.
    """

    max_ms: float | None = None
    max_flash: int | None = None
    max_ram: int | None = None
    min_metric: float | None = None

    def hold(self, trial: Trial) -> bool:
        """Return True if a trial keeps all limits. An unknown time keeps none."""
        cost = trial.cost
        if cost is None or (self.max_ms is not None and cost.ms is None):
            return False
        pairs = ((cost.ms, self.max_ms), (cost.flash, self.max_flash), (cost.ram, self.max_ram))
        if any(most is not None and is_ is not None and is_ > most for is_, most in pairs):
            return False
        return self.bears(trial)

    def bears(self, trial: Trial) -> bool:
        """Return True if the metric is large enough."""
        return self.min_metric is None or trial.metric >= self.min_metric


@dataclass(frozen=True)
class Trial:
    """One lowering.

    Attributes:
      quantize: its settings.
      metric: the user's metric, else accuracy, else SQNR in dB.
      sqnr_db: of the outputs, the mean over them.
      cost: None if the model does not fit on the board.
    """

    quantize: Quantize
    metric: float
    sqnr_db: float
    cost: FitCost | None

    @property
    def quality(self) -> tuple[float, float]:
        return self.metric, self.sqnr_db

    def dominates(self, other: Trial) -> bool:
        """Return True if it is as good in all, and better in one."""
        if self.cost is None or other.cost is None:
            return self.cost is not None
        mine, theirs = _coordinates(self), _coordinates(other)
        return mine != theirs and all(a >= b for a, b in zip(mine, theirs, strict=True))


def _coordinates(trial: Trial) -> tuple[float, ...]:
    """Return a trial's measures, larger is better."""
    cost = trial.cost
    assert cost is not None
    return (*trial.quality, -cost.instructions, -cost.flash, -cost.ram)


@dataclass
class Search:
    """A search.

    Args:
      lower: lowers the model, without limits of quality.
      costs: of the board.
      limits: to keep.
      most: upper limit for the lowerings.

    Attributes:
      trials: lowerings so far.
      refused: settings that lowering refuses, with the reason.
    """

    lower: Lower
    costs: FitCosts
    limits: FitLimits
    most: int = 30
    trials: list[Trial] = field(default_factory=list)
    refused: list[tuple[Quantize, str]] = field(default_factory=list)
    _tried: list[Quantize] = field(default_factory=list)

    def run(self, start: Quantize) -> Trial | None:
        """Return the trial with the best quality that keeps the limits; None if there is none."""
        first = self._try(start)
        if first is None:
            raise LoweringError(self.refused[0][1])
        best, lowered = first
        for change in _WHOLE:
            found = self._try(replace(best.quantize, **change))
            if found is not None and _is_better(found[0], best):
                best, lowered = found
        self._wider(best, lowered)
        for trial in [*self.trials]:
            if trial in self.front():
                self._smaller(trial, lowered)
        fitting = [trial for trial in self.trials if self.limits.hold(trial)]
        return max(fitting, key=lambda t: (t.quality, _coordinates(t)), default=None)

    def front(self) -> list[Trial]:
        """Return the trials that no other dominates, the best first."""
        alive = [t for t in self.trials if not any(o.dominates(t) for o in self.trials)]
        return sorted((t for t in alive if t.cost is not None), key=lambda t: t.quality)[::-1]

    def _wider(self, best: Trial, lowered: Lowered) -> None:
        """Try int16 for the most costly layers: one, two, four and so on, then for all."""
        names = [*_by_cost(lowered)]
        count = 1
        while count < len(names):
            self._try(_with(best.quantize, names[:count], "int16"))
            count *= 2
        self._try(replace(best.quantize, quantization="int16"))

    def _smaller(self, trial: Trial, lowered: Lowered) -> None:
        """Add four-bit weights layer by layer, the largest first, while quality bears it."""
        for name in _by_weights(lowered):
            if self._has(trial, name):
                continue
            found = self._try(_with(trial.quantize, [name], _FOUR_BITS))
            if found is None:
                continue
            after = found[0]
            is_near = after.sqnr_db >= trial.sqnr_db - _AFFORDABLE_DB
            if self.limits.bears(after) if self.limits.min_metric is not None else is_near:
                trial = after

    @staticmethod
    def _has(trial: Trial, name: str) -> bool:
        asked = trial.quantize.quantization
        return asked != "int8" and (isinstance(asked, str) or name in asked)

    def _try(self, quantize: Quantize) -> tuple[Trial, Lowered] | None:
        """Return the result of a lowering; None if it is refused, known, or one too many."""
        if len(self._tried) >= self.most or quantize in self._tried:
            return None
        self._tried.append(quantize)
        show(f"lowering {len(self._tried)} of at most {self.most}")
        try:
            lowered = self.lower(quantize)
        except LoweringError as error:
            self.refused.append((quantize, str(error)))
            return None
        trial = _trial(quantize, lowered, self.costs.of(lowered.pte, lowered.report))
        self.trials.append(trial)
        return trial, lowered


def _trial(quantize: Quantize, lowered: Lowered, cost: FitCost | None) -> Trial:
    quality = lowered.quality
    sqnr = 0.0 if quality.mean_sqnr_db is None else round(quality.mean_sqnr_db, 3)
    metric = sqnr
    if quality.metric is not None:
        metric = quality.metric.int8
    elif quality.accuracy is not None:
        metric = quality.accuracy[1]
    return Trial(quantize, metric, sqnr, cost)


def _is_better(one: Trial, other: Trial) -> bool:
    """Return True if a trial is better than another, and not worse in the metric."""
    return one.metric > other.metric or (
        one.metric == other.metric and one.sqnr_db > other.sqnr_db + _WORTH_DB
    )


def _with(quantize: Quantize, names: Sequence[str], kind: str) -> Quantize:
    asked = quantize.quantization
    by_layer = {DEFAULT: asked} if isinstance(asked, str) else {**asked}
    return replace(quantize, quantization={**by_layer, **dict.fromkeys(names, kind)})


def _by_cost(lowered: Lowered) -> Iterator[str]:
    """Yield layers by the noise that their quantization alone costs, the largest first.

    An int8 layer rounds an int16 value that it reads, so the readers of a layer come with it.
    """
    nodes = {node.name: node for node in lowered.floats.graph.nodes}
    every = [v for v in lowered.quality.values if v.noise_to_signal]
    seen = set[str]()
    for value in sorted(every, key=lambda v: -(v.noise_to_signal or 0.0)):
        whole = nodes[value.value.name]
        for node in (whole, *(n for n in whole.users if n.op == "call_function")):
            for name in settings_of(node) if not only_moves(node) else ():
                if name not in seen:
                    seen.add(name)
                    yield name


def _by_weights(lowered: Lowered) -> list[str]:
    """Return the layers that have a form with four-bit weights, those with most bytes first."""
    nodes = {node.name: node for node in lowered.floats.graph.nodes}
    ops = {op["id"]: op for op in lowered.report["ops"]}
    sizes: dict[str, int] = {}
    for row in lowered.report["quality"]["values"]:
        node = nodes[row["name"]]
        fused = fused_clamp(node) if node.op == "call_function" else None
        layer = node if fused is None else fused[0]
        if row["id"] in ops and has_four_bit_form(layer):
            for name in settings_of(layer):
                sizes[name] = sizes.get(name, 0) + ops[row["id"]]["constant_bytes"]
    return sorted(sizes, key=lambda name: -sizes[name])
