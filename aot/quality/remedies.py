# SPDX-License-Identifier: Apache-2.0
"""Remedies for a part of an output, or for some samples, measured by runs of the model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping

import torch

from aot.dialect.quantization import INT16
from aot.quality.change import NO_CHANGE, Change
from aot.quality.layers import of_one_scale, only_moves, settings_of
from aot.quality.outputs import Output
from aot.quality.parts import OutputParts
from aot.quality.subject import Subject
from aot.quality.tally import Tally, finite_parts
from aot.quality.values import Values

_SAMPLES = 16
"""Number of samples to run."""

_WORTH_DB = 3.0
"""A remedy with a smaller gain is none."""

_STEPS = 255


class Remedies:
    """Runs of a lowered model with changes.

    Args:
      subject: the model.
      output: one of its outputs.
      judge: the decibels to improve, from the measured output.
    """

    def __init__(self, subject: Subject, output: Output, judge: Callable[[Tally], float]) -> None:
        self._subject = subject
        self._values = Values(subject.quantized, subject.floats, subject.folded, _SAMPLES)
        self._samples = [(starts, [x.contiguous() for x in xs]) for starts, xs in subject.samples]
        self._index = [o.name for o in subject.outputs].index(output.name)
        self._parts = output.tally.parts
        self._judge = judge
        nodes = {node.name: node for node in subject.floats.graph.nodes}
        self._head = of_one_scale(nodes[output.name])

    def told(self, apart: str = "") -> str:
        """Return the remedies that help, with their decibels, for a message.

        Args:
          apart: advice to compute the parts apart; "" if they need no scales of their own.
        """
        before = self._measured(NO_CHANGE)
        layers = [n for n in self._head if not only_moves(n)]
        names = dict.fromkeys(name for node in layers for name in settings_of(node))
        head = Change(wide=self._named(n.name for n in self._head), ranges=self._ranges)
        everything = Change(wide=self._named(self._ranges), ranges=self._ranges)
        plain = Change(unrounded=head.wide)
        tried = [(apart, self._measured(plain, self._parts))] if apart else []
        tried.append((_setting(dict.fromkeys(names, "int16")), self._measured(head)))
        tried.append(('quantization="int16"', self._measured(everything)))
        good = [f"{what}: {after:.1f} dB" for what, after in tried if after > before + _WORTH_DB]
        if not good:
            best = max(after for _, after in tried)
            return f"int16 does not help: {before:.1f} dB -> {best:.1f} dB"
        return f"measured, from {before:.1f} dB: {'; or '.join(good)}"

    @property
    def _ranges(self) -> Mapping[str, tuple[float, float]]:
        return {v.value.name: (v.low, v.high) for v in self._subject.values}

    def _named(self, names: Iterable[str]) -> frozenset[str]:
        """Return those of the names whose values are int8."""
        wide = {v.value.name for v in self._subject.values if v.quantization.type is INT16}
        return frozenset(names) - wide

    def _measured(self, change: Change, apart: OutputParts | None = None) -> float:
        runs = [found[self._index] for found in self._values.runs(self._samples, change)]
        tally = Tally(self._parts)
        exact = torch.stack([e for e, _ in runs])
        rough = torch.stack([r for _, r in runs])
        if apart is not None:
            rough = _with_own_scales(exact, rough, apart)
        for e, r in zip(exact, rough, strict=True):
            tally.add(True, *finite_parts(e, r))
        return self._judge(tally)


def _setting(by_layer: Mapping[str, str]) -> str:
    return f"quantization={json.dumps(dict(by_layer), ensure_ascii=False)}"


def _with_own_scales(exact: torch.Tensor, rough: torch.Tensor, parts: OutputParts) -> torch.Tensor:
    """Return results rounded to int8, each part with the range that it has in float."""
    found = rough.clone()
    for index in range(len(parts.names)):
        mine = (parts.of.expand(exact.shape) == index) & torch.isfinite(exact)
        if not mine.any():
            continue
        low, high = (min(0.0, float(exact[mine].min())), max(0.0, float(exact[mine].max())))
        scale = (high - low) / _STEPS or 1.0
        found[mine] = (rough[mine].clamp(low, high) / scale).round() * scale
    return found
