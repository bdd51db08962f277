# SPDX-License-Identifier: Apache-2.0
"""Warning about calibration data that differ from training data, by BatchNorm statistics.

A typical error: images in 0..255 for a network trained on 0..1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

from aot.dialect.graph import initial_state
from aot.passes.aten.norms.fuse_batch_norm import TrainedNorm, trained_with
from aot.quality.finding import Finding, finding_at, name_of
from aot.quality.subject import Subject
from aot.quality.watch import KEPT_SAMPLES

_SAMPLES = 16
"""Number of samples to run, if they give enough values for each channel."""

_FAR = 3.0
"""Limit for the root mean square of a typical sample, where training had 1. From here on,
calibration data are unlike the training data.
"""

_VERY_FAR = 8.0
"""The same limit for few samples, which may be rare ones of training."""

_NARROW = 0.55
"""Warn if the standard deviation is below this share of training's. This catches one half, as with
0..1 for 0..2. Samples of one class only, or half-empty ones, seldom fall below it.
"""

_SHIFTED = 0.75
"""Warn if the median of the samples' means is shifted by this many standard deviations. A median of
training data is at most one from the mean, and few are half of one.
"""

_FEW_VALUES = 64
"""Minimum number of values for each channel. Fewer do not show the variation, unless they come from
KEPT_SAMPLES samples.
"""

_SMALLEST = 1e-6


def find(subject: Subject) -> Iterator[Finding]:
    """Yield at most one finding, for the first BatchNorm whose input is unlike training."""
    floats = subject.floats  # without BatchNorms
    trained = {n: known for n in floats.graph.nodes if (known := trained_with(n)) is not None}
    if not trained:
        return
    outputs = _Outputs(floats, {n: known.dim for n, known in trained.items()})
    for count, (_, inputs) in enumerate(subject.seen.samples[:KEPT_SAMPLES]):
        if count >= _SAMPLES and all(map(_is_enough, outputs.by_channel.values())):
            break
        outputs.run(*(x.contiguous() for x in inputs), *initial_state(floats))
    for node, known in trained.items():
        if what := _unlike(known, outputs.by_channel[node]):
            is_input = node.op == "placeholder"
            name = name_of(node) if is_input else f"what {name_of(node)} gives"
            yield finding_at(
                "unlike_training",
                node,
                f"{name} for the calibration samples is {what} for those that its BatchNorm was "
                "trained with. Give samples in the scale and normalisation of training",
            )
            return


def _unlike(known: TrainedNorm, found: Sequence[torch.Tensor]) -> str:
    """Describe how a value in each sample, [C, ...], differs from training; "" if it does not."""
    deviation = known.deviation.clamp(min=_SMALLEST)[:, None]
    centred = [(values - known.mean[:, None]) / deviation for values in found]
    sizes = torch.stack([x.square().mean(1).sqrt() for x in centred])  # [samples, C]
    size, together = _typical(sizes), float(sizes.square().mean(0).sqrt().median())
    means = torch.stack([x.mean(1) for x in centred])
    is_many = len(means.unique(dim=0)) >= _SAMPLES
    if (is_many and size > _FAR) or min(size, together) > _VERY_FAR:
        return f"{size:.3g} times as far out as"
    spread = float(_deviation(torch.cat(centred, 1)).median())
    if spread < _NARROW and (len(found) == KEPT_SAMPLES or _is_enough(found)):
        return f"{spread:.2g} times as wide as"
    if is_many and (shift := _typical(means)) > _SHIFTED:
        return f"typically {shift:.2g} deviations away from what it was"
    return ""


def _deviation(rows: torch.Tensor) -> torch.Tensor:
    """Return the standard deviation of each row, five times as fast as torch's own function."""
    off = rows - rows.mean(1, keepdim=True)
    return off.square_().sum(1).div_(rows.shape[1] - 1).sqrt_()


def _typical(numbers: torch.Tensor) -> float:
    """Return the medians of [samples, channels], over samples and then over the channel."""
    return float(numbers.median(0).values.abs().median())


def _is_enough(found: Sequence[torch.Tensor]) -> bool:
    return sum(x.shape[1] for x in found) >= _FEW_VALUES


class _Outputs(Interpreter):
    """Runner of a graph that keeps the results of some nodes as [C, ...]."""

    def __init__(self, module: GraphModule, dims: Mapping[Node, int]) -> None:
        super().__init__(module)
        self._dims = dims
        self.by_channel: dict[Node, list[torch.Tensor]] = {node: [] for node in dims}

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        if n in self.by_channel:
            self.by_channel[n].append(result.detach().movedim(self._dims[n], 0).flatten(1))
        return result
