# SPDX-License-Identifier: Apache-2.0
"""Whether calibration data are like those of training, as far as BatchNorm remembers these: images
in 0..255 for a network that was trained on 0..1, for one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

from aot.dialect.graph import initial_state
from aot.errors import module_path, source_line
from aot.passes.aten.fuse_batch_norm import Folded, folded_norm
from aot.quality.finding import Finding
from aot.quality.values import Sequences
from aot.quality.watch import KEPT_SAMPLES

_SAMPLES = 16
"""How many samples are run, where these give enough values a channel."""

_FAR = 3.0
"""The root of the mean square of what training made 1, of a sample like the others: calibration
data are unlike those of training from here on."""

_VERY_FAR = 8.0
"""The same of few samples, which may be among the rare ones of training."""

_NARROW = 0.4
"""Where they vary by less than this share of it."""

_SHIFTED = 1.0
"""Where the median of the samples' means is so many deviations away. The median of what training
saw never is: no median is farther than a deviation from its mean."""

_FEW_VALUES = 64
"""Of fewer values a channel, that are not of KEPT_SAMPLES samples, nobody can say how much they
vary."""

_SMALLEST = 1e-6


def unlike_training(floats: GraphModule, samples: Sequences) -> Iterator[Finding]:
    """At most one finding: of the first layer whose BatchNorm saw other values in training.

    Args:
      floats: the model as an ATen graph, with folded BatchNorms.
      samples: of the calibration.
    """
    norms = {n: norm for n in floats.graph.nodes if (norm := folded_norm(n)) is not None}
    trained = {n: norm for n, norm in norms.items() if _is_trained(norm)}
    if not trained:
        return
    outputs = _Outputs(floats, set(trained))
    for count, (_, inputs) in enumerate(samples[:KEPT_SAMPLES]):
        if count >= _SAMPLES and all(map(_is_enough, outputs.by_channel.values())):
            break
        outputs.run(*(x.contiguous() for x in inputs), *initial_state(floats))
    for node, norm in trained.items():
        if what := _unlike(norm, outputs.by_channel[node]):
            yield Finding(
                "unlike_training",
                node.name,
                module_path(node),
                source_line(node),
                f"what `{node.name}` gives for the calibration samples is {what} for those that "
                "its BatchNorm was trained with: give samples in the scale of training, normalised "
                "as they were",
            )
            return


def _unlike(norm: Folded, found: Sequence[torch.Tensor]) -> str:
    """How what a layer gives for each sample, [C, ...], differs from what it gave in training; ""
    where it does not.
    """
    scale = norm.scale.abs().clamp(min=_SMALLEST)[:, None]
    centred = [(values - norm.offset[:, None]) / scale for values in found]
    sizes = torch.stack([x.square().mean(1).sqrt() for x in centred])  # [samples, C]
    size, together = _typical(sizes), float(sizes.square().mean(0).sqrt().median())
    means = torch.stack([x.mean(1) for x in centred])
    is_many = len(means.unique(dim=0)) >= _SAMPLES
    if (is_many and size > _FAR) or min(size, together) > _VERY_FAR:
        return f"{size:.3g} times as far out as"
    spread = float(torch.cat(centred, 1).std(1).median())
    if spread < _NARROW and (len(found) == KEPT_SAMPLES or _is_enough(found)):
        return f"{spread:.2g} times as wide as"
    if is_many and (shift := _typical(means)) > _SHIFTED:
        return f"typically {shift:.2g} deviations away from what it was"
    return ""


def _typical(numbers: torch.Tensor) -> float:
    """[samples, channels]: of the sample in the middle, and of the channel."""
    return float(numbers.median(0).values.abs().median())


def _is_enough(found: Sequence[torch.Tensor]) -> bool:
    return sum(x.shape[1] for x in found) >= _FEW_VALUES


def _is_trained(norm: Folded) -> bool:
    return bool(norm.mean.any()) or bool((norm.variance != 1.0).any())


def _by_channel(layer: Node, value: torch.Tensor) -> torch.Tensor:
    """[C, ...]"""
    is_convolution = layer.target is torch.ops.aten.convolution.default
    return value.movedim(1 if is_convolution else -1, 0).flatten(1)


class _Outputs(Interpreter):
    """Runs a graph and keeps what some nodes give, by channel."""

    def __init__(self, module: GraphModule, nodes: set[Node]) -> None:
        super().__init__(module)
        self.by_channel: dict[Node, list[torch.Tensor]] = {node: [] for node in nodes}

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        if n in self.by_channel:
            self.by_channel[n].append(_by_channel(n, result.detach()))
        return result
