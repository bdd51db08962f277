# SPDX-License-Identifier: Apache-2.0
"""Record of calibration: the range of every observed value in each sample, and a few samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch.fx import GraphModule, Node
from torch.utils.hooks import RemovableHandle

from aot.dialect.graph import initial_state
from aot.quality.sampling import Sampler, spread_sequences

KEPT_SAMPLES = 32
"""Number of calibration samples kept for measurements without held-out ones."""

_SEQUENCES = 8
"""Number of sequences that they are from."""

Range = tuple[float, float]
Sample = tuple[bool, tuple[torch.Tensor, ...]]


@dataclass
class WatchedValue:
    """Values with a common observer, hence one quantization.

    Attributes:
      values: their names, in graph order.
      ranges: their minimum and maximum, in each sample.
    """

    values: list[str] = field(default_factory=list)
    ranges: list[Range] = field(default_factory=list)


class Watch:
    """Recorder for the calibration of a prepared graph.

    Attributes:
      inputs: the range of each input, in each sample.
      observed: the groups of values of one quantization; constants are left out.
      different: number of samples differing from all before them.
    """

    def __init__(self, prepared: GraphModule) -> None:
        self._has_state = bool(initial_state(prepared))
        self._single: Sampler[Sample] = Sampler(KEPT_SAMPLES)
        self._sequences: Sampler[list[Sample]] = Sampler(_SEQUENCES)
        self._is_kept = False
        self.inputs: list[list[Range]] = []
        self._hashes: set[int] = set()
        self._groups: dict[int, WatchedValue] = {}
        self._hooks: list[RemovableHandle] = []
        for node in prepared.graph.nodes:
            if node.op == "call_module":
                self._add(prepared.get_submodule(str(node.target)), node.all_input_nodes[0])

    @property
    def samples(self) -> Sequence[Sample]:
        """Some of the samples, evenly spread, each with a flag: a sequence starts with it.

        With state they are the starts of evenly spread sequences.
        """
        if not self._has_state:
            return self._single.chosen
        kept = [sample for sequence in self._sequences.chosen for sample in sequence]
        return spread_sequences(kept, KEPT_SAMPLES)

    @property
    def observed(self) -> list[WatchedValue]:
        return [group for group in self._groups.values() if group.ranges]

    @property
    def different(self) -> int:
        return len(self._hashes)

    def saw(self, inputs: Sequence[torch.Tensor]) -> bool:
        """Return True if a sample was part of the calibration."""
        return content(inputs) in self._hashes

    def sample(self, starts: bool, inputs: Sequence[torch.Tensor]) -> None:
        """Begin a sample. From here on, observers see values of these inputs."""
        self.inputs.append([_range(x) for x in inputs])
        for group in self._groups.values():
            group.ranges.append((float("inf"), float("-inf")))
        self._hashes.add(content(inputs))
        self._keep(starts, inputs)

    def _keep(self, starts: bool, inputs: Sequence[torch.Tensor]) -> None:
        if not self._has_state:
            if self._single.wants():
                self._single.keep((starts, tuple(x.clone() for x in inputs)))
            return
        if starts:
            self._is_kept = self._sequences.wants()
            if self._is_kept:
                self._sequences.keep([])
        if self._is_kept and len(self._sequences.held[-1]) < KEPT_SAMPLES:
            self._sequences.held[-1].append((starts, tuple(x.clone() for x in inputs)))

    def end(self) -> None:
        """Stop recording: observers now see other data than calibration, as in training."""
        for hook in self._hooks:
            hook.remove()

    def _add(self, observer: torch.nn.Module, value: Node) -> None:
        if value.op == "get_attr":
            return
        if id(observer) not in self._groups:
            group = self._groups[id(observer)] = WatchedValue()

            def see(_: torch.nn.Module, arguments: tuple[torch.Tensor, ...]) -> None:
                low, high = _range(arguments[0])
                group.ranges[-1] = min(low, group.ranges[-1][0]), max(high, group.ranges[-1][1])

            self._hooks.append(observer.register_forward_pre_hook(see))
        self._groups[id(observer)].values.append(value.name)


def content(inputs: Sequence[torch.Tensor]) -> int:
    """Return a hash of a sample's bits."""
    return hash(tuple(x.contiguous().numpy().tobytes() for x in inputs))


def _range(values: torch.Tensor) -> Range:
    low, high = torch.aminmax(values.detach())
    return low.item(), high.item()
