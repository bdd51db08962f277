# SPDX-License-Identifier: Apache-2.0
"""Layers that exporters write as several nodes, put together again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import nn

from aot.importers.onnx.ops.layers import Linear
from aot.importers.onnx.steps import NodeStep, OnnxNode


def compose(
    steps: Sequence[NodeStep], outputs: Sequence[str], values: Mapping[str, torch.Tensor]
) -> list[NodeStep]:
    """Return the steps with layers in place of their parts.

    - MatMul and Add of a constant: a linear layer over more than two dimensions.
    - Reshape, InstanceNormalization, Reshape, Mul and Add: GroupNorm.

    Args:
      steps: in order.
      outputs: names of values with readers outside.
      values: by name, for their shapes.
    """
    composer = _Composer(steps, outputs, values)
    for index in range(len(steps)):
        composer.bias(index)
        composer.group_norm(index)
    return [step for step in composer.steps if step is not None]


class _Composer:
    def __init__(
        self, steps: Sequence[NodeStep], outputs: Sequence[str], values: Mapping[str, torch.Tensor]
    ) -> None:
        self.steps: list[NodeStep | None] = [*steps]
        self._values = values
        self._outputs = [step.outputs[0] for step in steps]
        self._uses = Counter([*outputs, *(name for step in steps for name in step.inputs)])
        self._makers = {step.outputs[0]: index for index, step in enumerate(steps)}

    def _is(self, step: NodeStep | None, operator: str) -> bool:
        is_node = step is not None and isinstance(step.module, OnnxNode)
        return is_node and step.module.call.operator == operator  # type: ignore[union-attr]

    def _before(self, index: int) -> int | None:
        """Return the place of the only source of a step, if nothing else reads its result."""
        step = self.steps[index]
        if step is None or len(step.inputs) != 1 or self._uses[step.inputs[0]] != 1:
            return None
        made = self._makers.get(step.inputs[0])
        return None if made is None or self.steps[made] is None else made

    def _constant(self, index: int) -> torch.Tensor | None:
        """Return the only constant of a node with two inputs."""
        step = self.steps[index]
        assert step is not None and isinstance(step.module, OnnxNode)
        found = [value for value in step.module.constants if value is not None]
        return found[0].detach() if len(found) == 1 and len(step.module.constants) == 2 else None

    def bias(self, index: int) -> None:
        """Join an Add with the product before it."""
        made = self._before(index)
        if made is None or not self._is(self.steps[index], "Add"):
            return
        bias, product, step = self._constant(index), self.steps[made], self.steps[index]
        assert product is not None and step is not None
        layer = product.module
        if bias is None or not isinstance(layer, Linear) or layer.bias is not None:
            return
        if bias.dim() == 1 and len(bias) == len(layer.weight):
            layer.bias = nn.Parameter(bias)
            self.steps[made] = None
            self.steps[index] = replace(product, outputs=step.outputs)

    def group_norm(self, index: int) -> None:
        """Join an Add with the parts of a normalization of groups before it."""
        places: list[int] = []
        place: int | None = index
        for operator in ("Add", "Mul", "Reshape", "InstanceNormalization", "Reshape"):
            if place is None or not self._is(self.steps[place], operator):
                return
            places.append(place)
            place = self._before(place)
        bias, scale = self._constant(places[0]), self._constant(places[1])
        shaped, norm, first = (self.steps[place] for place in places[2:])
        assert shaped is not None and norm is not None and first is not None
        assert isinstance(norm.module, OnnxNode)
        ones, zeros = norm.module.constants[1:3]
        if scale is None or bias is None or ones is None or zeros is None:
            return
        before, after = (self._values[n].shape for n in (first.inputs[0], shaped.outputs[0]))
        channels = before[1] if before == after else 0
        full = [channels, *([1] * (len(before) - 2))]
        if [*scale.shape[-len(full) :]] != full or scale.shape != bias.shape:
            return
        if scale.numel() != channels or bool((ones != 1).any()) or bool((zeros != 0).any()):
            return
        epsilon = norm.module.call.attribute("epsilon", 1e-5)
        layer = nn.GroupNorm(len(ones), channels, epsilon)
        layer.weight = nn.Parameter(scale.reshape(-1).clone())
        layer.bias = nn.Parameter(bias.reshape(-1).clone())
        for place in places:
            self.steps[place] = None
        self.steps[index] = NodeStep(norm.name, layer, first.inputs, (self._outputs[index],))
