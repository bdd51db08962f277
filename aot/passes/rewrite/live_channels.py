# SPDX-License-Identifier: Apache-2.0
"""Live channels: the graph's outputs depend on them.

Channels computed of each other only, such as the operands and the result of a sum, are of one
class: they stay together, or go together. A layer with weights is the border of classes: it
leaves out an input channel if its weights are zero, or if the channel is constant, because the bias
takes it in. At a padded border it must be the zero point.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch.fx import GraphModule, Node

from aot.dialect.arithmetic import INT32_MAX
from aot.dialect.graph import arguments, calls
from aot.passes.rewrite.channel_maps import Sources, is_value, passed_on
from aot.passes.rewrite.channel_ranges import ChannelLayer, Range, channel_ranges, layers_of


@dataclass(frozen=True)
class Reader:
    """A layer of mixed input channels.

    Attributes:
      layer: its weights.
      input: the value read by it.
      needs: True for each pair of output and input where the input matters, [O, C].
      constants: the input's constant channels, 0 for others.
    """

    layer: ChannelLayer
    input: Node
    needs: torch.Tensor
    constants: torch.Tensor

    def bias(self, live: torch.Tensor) -> torch.Tensor:
        """Return the bias of all outputs without the dead ones of the inputs."""
        dead = torch.where(live, 0, self.constants - self.layer.zero_point)
        return self.layer.bias + (self.layer.inside.sums @ dead.double()).long()


@dataclass(frozen=True)
class Live:
    """Result of the analysis.

    Attributes:
      channels: True for each live channel of a value. A value without any has no reader left.
      readers: the layers by node.
    """

    channels: Mapping[Node, torch.Tensor]
    readers: Mapping[Node, Reader]


def live_channels(module: GraphModule) -> Live:
    layers = layers_of(module)
    ranges = channel_ranges(module, layers)
    readers = {
        node: _reader(layer, arguments(node)["input"], ranges)
        for node, layer in layers.items()
        if not calls(node, "depthwise_conv2d")
    }
    classes = _Classes(module, readers)
    live = classes.kept_whole(module)
    while True:
        while _spread(classes, readers, live):
            pass
        revived = _revived(module, classes, live)
        if revived is None:
            break
        live[revived] = True
    channels = {node: live[classes.of(node)] for node in classes.labels}
    return Live(channels, readers)


def _reader(layer: ChannelLayer, source: Node, ranges: Mapping[Node, Range]) -> Reader:
    found = ranges[source]
    constants = torch.where(found.constant, found.least, layer.zero_point)
    shifts = constants - layer.zero_point
    # A constant channel beside zeros of the padding is not constant for the layer.
    takes_in = found.constant & ((shifts == 0) | ~layer.border.read)
    moved = shifts.nonzero().flatten()
    sizes = layer.inside.sums[:, moved].abs() @ shifts[moved].abs().double()
    largest = layer.bias.abs() + sizes
    takes_in &= (shifts == 0) | (largest <= INT32_MAX)[:, None]
    read = layer.inside.read | layer.border.read
    return Reader(layer, source, read & ~takes_in, constants)


@dataclass
class _Classes:
    """The class of each channel of all values, by number."""

    module: GraphModule
    readers: Mapping[Node, Reader]
    labels: dict[Node, torch.Tensor] = field(default_factory=dict)
    _parents: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        shared: dict[str, Node] = {}
        for node in filter(is_value, self.module.graph.nodes):
            self.labels[node] = self._labels(node)
            if node in self.readers or calls(node, "depthwise_conv2d"):
                first = shared.setdefault(str(arguments(node)["weight"].target), node)
                self._unite_layers(first, node)
        roots = torch.tensor([self._root(label) for label in range(len(self._parents))])
        self.labels = {node: roots[labels] for node, labels in self.labels.items()}

    @property
    def count(self) -> int:
        return len(self._parents)

    def of(self, node: Node) -> torch.Tensor:
        return self.labels[node]

    def kept_whole(self, module: GraphModule) -> torch.Tensor:
        """Return classes to keep: those of inputs, outputs, and ops that mix channels."""
        live = torch.zeros(self.count, dtype=torch.bool)
        for node in module.graph.nodes:
            if node in self.readers:
                continue
            sources = passed_on(module, node)
            if node in self.labels and sources is None:
                live[self.labels[node]] = True
            passed = {source for source, _ in sources or ()}
            for read in node.all_input_nodes:
                if read in self.labels and read not in passed:
                    live[self.labels[read]] = True
        return live

    def _labels(self, node: Node) -> torch.Tensor:
        labels = torch.full(node.meta["val"].shape[-1:], -1)
        for source, index in self._sources(node):
            taken = self.labels[source][index.clamp(min=0)]
            is_new = (index >= 0) & (labels < 0)
            others = (index >= 0) & (labels >= 0) & (labels != taken)
            self._unite(labels[others], taken[others])
            labels = torch.where(is_new, taken, labels)
        free = labels < 0
        first, count = len(self._parents), int(free.sum())
        self._parents += range(first, first + count)
        labels[free] = torch.arange(first, first + count)
        return labels

    def _sources(self, node: Node) -> Sources:
        sources = None if node in self.readers else passed_on(self.module, node)
        return [(source, index) for source, index in sources or () if source in self.labels]

    def _unite(self, some: torch.Tensor, others: torch.Tensor) -> None:
        for a, b in zip(some.tolist(), others.tolist(), strict=True):
            first, second = sorted((self._root(a), self._root(b)))
            self._parents[second] = first

    def _unite_layers(self, a: Node, b: Node) -> None:
        """Unite the channels of two layers that share weights."""
        if a is not b:
            self._unite(self.labels[a], self.labels[b])
            if a in self.readers:
                self._unite(*(self.labels[self.readers[node].input] for node in (a, b)))

    def _root(self, label: int) -> int:
        while (parent := self._parents[label]) != label:
            self._parents[label] = self._parents[parent]
            label = parent
        return label


def _spread(classes: _Classes, readers: Mapping[Node, Reader], live: torch.Tensor) -> bool:
    """Make inputs of live outputs live; return True if there were any dead ones."""
    before = int(live.sum())
    for node, reader in reversed(list(readers.items())):
        needed = reader.needs[live[classes.of(node)]].any(0)
        live[classes.of(reader.input)[needed]] = True
    return int(live.sum()) > before


def _revived(module: GraphModule, classes: _Classes, live: torch.Tensor) -> int | None:
    """Return a class of a value without live channels, read by a live op; None without any."""
    for node in reversed(list(classes.labels)):
        labels = classes.of(node)
        if live[labels].any():
            continue
        for user in node.users:
            leaves_out = calls(user, "cat") and user not in classes.readers
            if user in classes.labels and live[classes.of(user)].any() and not leaves_out:
                return int(labels[0])
    return None
