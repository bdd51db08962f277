# SPDX-License-Identifier: Apache-2.0
"""Whether calibration data are like those of training, as far as BatchNorm remembers these: images
in 0..255 for a network that was trained on 0..1, for one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

from aot.dialect.graph import initial_state
from aot.errors import module_path, source_line
from aot.passes.aten.fuse_batch_norm import Folded, folded_norm
from aot.quality.finding import Finding
from aot.quality.values import Sequences
from aot.quality.watch import KEPT_SAMPLES

_SAMPLES = 8
"""How many samples are run, where these give enough values a channel."""

_FAR = 8.0
"""The root of the mean square of what training made 1: calibration data are unlike those of
training from here on, and where they vary by less than one of it."""

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
    runs = 0
    for _, inputs in samples[:KEPT_SAMPLES]:
        if runs >= _SAMPLES and all(outputs.count(node) >= _FEW_VALUES for node in trained):
            break
        runs += 1
        outputs.run(*(x.contiguous() for x in inputs), *initial_state(floats))
    for node, norm in trained.items():
        values = torch.cat([_by_channel(node, x) for x in outputs.found[node]], 1)
        centred = (values - norm.offset[:, None]) / norm.scale.abs().clamp(min=_SMALLEST)[:, None]
        size = float(centred.square().mean(1).sqrt().median())
        is_enough = runs == KEPT_SAMPLES or values.shape[1] >= _FEW_VALUES
        spread = float(centred.std(1).median()) if is_enough else 1.0
        if size > _FAR or spread < 1.0 / _FAR:
            what = f"{size:.3g} times as far out" if size > _FAR else f"{spread:.2g} times as wide"
            yield Finding(
                "unlike_training",
                node.name,
                module_path(node),
                source_line(node),
                f"what `{node.name}` gives for the calibration samples is {what} as for those that "
                "its BatchNorm was trained with: give samples in the scale of training, normalised "
                "as they were",
            )
            return


def _is_trained(norm: Folded) -> bool:
    return bool(norm.mean.any()) or bool((norm.variance != 1.0).any())


def _by_channel(layer: Node, value: torch.Tensor) -> torch.Tensor:
    """[C, ...]"""
    is_convolution = layer.target is torch.ops.aten.convolution.default
    return value.movedim(1 if is_convolution else -1, 0).flatten(1)


class _Outputs(Interpreter):
    """Runs a graph and keeps what some nodes give."""

    def __init__(self, module: GraphModule, nodes: set[Node]) -> None:
        super().__init__(module)
        self.found: dict[Node, list[torch.Tensor]] = {node: [] for node in nodes}

    def count(self, node: Node) -> int:
        """How many values of each channel a node has given."""
        return sum(_by_channel(node, x).shape[1] for x in self.found[node])

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        if n in self.found:
            self.found[n].append(result.detach())
        return result
