# SPDX-License-Identifier: Apache-2.0
"""Folds an inference BatchNorm into the convolution or linear layer before or after it, or makes it
a depthwise 1x1 convolution.

Matches `_native_batch_norm_legit_no_training` with constant statistics. There are three cases:

- The producer is a convolution, or a linear layer over a rank-2 value, with constant
  weights and no other user: fold into it.
- The only user is such a layer, not transposed and without padding, and the scales of
  the channels are alike: fold into it. With very different scales, int8 weights would
  lose the small ones.
- Otherwise the BatchNorm, an affine function of each channel, becomes a depthwise
  convolution with a 1-element kernel (over an added dimension for rank 2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import new_buffer, tensor_constant
from aot.dialect.results import gives_first_only
from aot.dialect.rule import argument
from aot.errors import LoweringError, problem_at
from aot.upstream.torch import BatchNorm

_aten = torch.ops.aten
_NORM = _aten._native_batch_norm_legit_no_training.default
_FOLDED = "folded_batch_norm"
_READ = "read_by_batch_norm"
_BATCHES = "batches_of_batch_norm"
ALIKE = 8.0
"""The largest factor between two channels' scales to be folded into int8 weights."""


@dataclass(frozen=True)
class Folded:
    """A BatchNorm folded into a convolution or linear layer, and the layer's own weights. Training
    uses it to undo the folding.

    Attributes:
      weight: of the layer, [C, ...]; of a transposed convolution [I, C / groups, ...].
      bias: of the layer, [C]; zeros if it has none.
      scale: of the BatchNorm, like the other fields.
      batches: number of batches in the mean of its statistics; None for a moving average.
      groups: of a transposed convolution; None for another layer.
    """

    weight: torch.Tensor
    bias: torch.Tensor
    scale: torch.Tensor
    offset: torch.Tensor
    mean: torch.Tensor
    variance: torch.Tensor
    epsilon: float
    momentum: float
    batches: int | None
    groups: int | None = None


@dataclass(frozen=True)
class TrainedNorm:
    """A BatchNorm's statistics of a value from training, by channel.

    Attributes:
      dim: the value's channel dimension.
    """

    mean: torch.Tensor
    deviation: torch.Tensor
    dim: int = 1


def note_batches(module: GraphModule, model: torch.nn.Module) -> None:
    """Mark the model's BatchNorms whose statistics are means of all batches.

    The graph has them with the momentum 0.
    """
    owners = dict(model.named_modules())
    for norm in module.graph.nodes:
        if norm.target is not _NORM:
            continue
        stack = list((norm.meta.get("nn_module_stack") or {}).values())
        owner = owners.get(stack[-1][0]) if stack else None
        if isinstance(owner, BatchNorm) and owner.momentum is None:
            counted = owner.num_batches_tracked
            norm.meta[_BATCHES] = 0 if counted is None else int(counted)


def folded_norm(node: Node) -> Folded | None:
    """Return the BatchNorm folded into a layer.

    Other passes may have added dimensions to the layer; the weight still has the same elements.
    """
    is_layer = node.target in (_aten.convolution.default, _aten.linear.default)
    return node.meta.get(_FOLDED) if is_layer else None


def scale_norm(node: Node, outputs: torch.Tensor) -> None:
    """Update a layer's BatchNorm for multiplied output channels, [C]."""
    norm = folded_norm(node)
    if norm is not None:
        scale, offset = norm.scale * outputs, norm.offset * outputs
        node.meta[_FOLDED] = replace(norm, scale=scale, offset=offset)


def scale_norm_inputs(node: Node, scaled: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Update it for a layer whose own weights are scaled with its inputs."""
    norm = folded_norm(node)
    if norm is not None:
        node.meta[_FOLDED] = replace(norm, weight=scaled(norm.weight))


def trained_with(node: Node) -> TrainedNorm | None:
    """Return a node's statistics in training, from a BatchNorm folded into it or reading it.

    Return None if there is none, or if the BatchNorm was never trained.
    """
    folded = folded_norm(node)
    if folded is not None:
        is_trained = _is_trained(folded.mean, folded.variance)
        dim = -1 if node.target is _aten.linear.default else 1
        return TrainedNorm(folded.offset, folded.scale.abs(), dim) if is_trained else None
    name, read = node.meta.get(_READ, ("", None))
    return read if name == node.name else None  # copies of its meta are of other values


def keep_trained(node: Node, copy: Node) -> None:
    """Copy the training statistics to a node's replacement with the same value."""
    name, read = node.meta.get(_READ, ("", None))
    if name == node.name:
        copy.meta[_READ] = copy.name, read


def _is_trained(mean: torch.Tensor, variance: torch.Tensor) -> bool:
    return bool(mean.any()) or bool((variance != 1.0).any())


def forget_norm(node: Node) -> None:
    """Remove a node's folded norm and its training statistics, because weights or value have
    changed.
    """
    node.meta.pop(_FOLDED, None)
    node.meta.pop(_READ, None)


def scale_read(node: Node, outputs: torch.Tensor) -> None:
    """Update the statistics of a BatchNorm's input for multiplied channels, [C] above 0.

    Remove them if the channels have another layout there.
    """
    name, read = node.meta.pop(_READ, ("", None))
    if read is not None and len(read.mean) == len(outputs):
        scaled = replace(read, mean=read.mean * outputs, deviation=read.deviation * outputs)
        node.meta[_READ] = name, scaled


def _note_read(module: GraphModule, norm: Node) -> None:
    """Record a BatchNorm's statistics of its input in training."""
    source = norm.args[0]
    mean, variance = (tensor_constant(module, a) for a in norm.args[3:5])
    assert isinstance(source, Node) and mean is not None and variance is not None
    if _is_trained(mean, variance):
        source.meta[_READ] = source.name, TrainedNorm(mean, variance.sqrt())


@dataclass(frozen=True)
class _Affine:
    """y = scale * x + offset, per channel."""

    scale: torch.Tensor
    offset: torch.Tensor


def _affine(module: GraphModule, norm: Node) -> _Affine | None:
    parts = [tensor_constant(module, a) for a in norm.args[1:5]]
    weight, bias, mean, variance = parts
    if mean is None or variance is None:
        return None
    epsilon = norm.args[6]
    assert isinstance(epsilon, float)
    if count := int((variance + epsilon <= 0.0).sum()):
        raise LoweringError(
            "the model has a BatchNorm that divides by the root of a negative number:",
            [
                problem_at(
                    norm,
                    f"its running variance is -eps or less in {count} of {len(variance)} channels",
                    "check the training run or the checkpoint: a variance is never negative",
                )
            ],
        )
    scale = torch.rsqrt(variance.to(torch.float64) + epsilon)
    if weight is not None:
        scale = scale * weight
    offset = -mean * scale
    if bias is not None:
        offset = offset + bias
    return _Affine(scale, offset)


def _new_constant(module: GraphModule, before: Node, name: str, value: torch.Tensor) -> Node:
    value = value.to(torch.float32)
    with module.graph.inserting_before(before):
        node = module.graph.get_attr(new_buffer(module, name, value))
    node.meta["val"] = torch.empty_like(value, device="meta")
    return node


def _fold(module: GraphModule, norm: Node, producer: Node, affine: _Affine) -> None:
    is_linear = producer.target is _aten.linear.default
    bias_index = 2
    arguments = list(producer.args) + [None] * (bias_index + 1 - len(producer.args))
    weight = tensor_constant(module, arguments[1])
    assert weight is not None
    bias = tensor_constant(module, arguments[bias_index])
    groups: Any = producer.args[8] if not is_linear and producer.args[6] else None
    scaled = scaled_weight(weight, affine.scale, groups)
    arguments[1] = _new_constant(module, producer, f"{norm.name}_weight", scaled)
    if groups is None or weight.dim() < 5:  # over three dimensions the weights are converted again
        producer.meta[_FOLDED] = replace(_unfolded(module, norm, weight, bias), groups=groups)
    folded = affine.offset if bias is None else bias * affine.scale + affine.offset
    arguments[bias_index] = _new_constant(module, producer, f"{norm.name}_bias", folded)
    producer.args = tuple(arguments[:3]) if is_linear else tuple(arguments)


def scaled_weight(
    weight: torch.Tensor, scale: torch.Tensor, transposed_groups: int | None
) -> torch.Tensor:
    """Return a weight [O, ...] with each output channel scaled, or [I, O / groups, ...] of a
    transposed convolution if its groups are given.
    """
    behind = [1] * (weight.dim() - 2)
    if transposed_groups is None:
        return weight * scale.reshape(-1, 1, *behind)
    grouped = weight.reshape(transposed_groups, -1, *weight.shape[1:])
    return (grouped * scale.reshape(transposed_groups, 1, -1, *behind)).flatten(0, 1)


def _layer_behind(module: GraphModule, norm: Node, affine: _Affine) -> Node | None:
    """Return the only reader of a BatchNorm, if its weights can absorb gain and offset of each
    channel.
    """
    scales = affine.scale.abs()
    if float(scales.max()) > ALIKE * float(scales.min()):
        return None
    readers = [reader for result in norm.users for reader in result.users]
    if len(readers) != 1 or readers[0].all_input_nodes.count(next(iter(norm.users))) != 1:
        return None
    (layer,) = readers
    folds = (
        layer.target is _aten.convolution.default
        and not (argument(layer, "transposed") or any(argument(layer, "padding")))
    ) or (layer.target is _aten.linear.default and layer.meta["val"].dim() == 2)
    return layer if folds and tensor_constant(module, layer.args[1]) is not None else None


def scale_inputs(
    module: GraphModule, layer: Node, name: str, gain: torch.Tensor, offset: torch.Tensor
) -> None:
    """Fold a gain and an offset of each input channel into a layer's weights.

    Args:
      layer: a linear layer or a convolution, not transposed, with constant weights.
      name: prefix of the new constants.
      gain, offset: by input channel, float64.
    """
    is_linear = layer.target is _aten.linear.default
    weight = tensor_constant(module, layer.args[1])
    bias = tensor_constant(module, argument(layer, "bias"))
    assert weight is not None
    groups = 1 if is_linear else int(argument(layer, "groups"))

    def for_weight(channels: torch.Tensor) -> torch.Tensor:
        """Return values of input channels, arranged as the weight [O, I / groups, ...]."""
        each = channels.reshape(groups, -1).repeat_interleave(len(weight) // groups, dim=0)
        return each.reshape([*each.shape, *[1] * (weight.dim() - 2)])

    moved = (weight * for_weight(offset)).flatten(1).sum(dim=1)
    arguments: list[Any] = [*layer.args, None][: max(len(layer.args), 3)]
    arguments[1] = _new_constant(module, layer, f"{name}_weight", weight * for_weight(gain))
    whole = moved if bias is None else bias + moved
    arguments[2] = _new_constant(module, layer, f"{name}_bias", whole)
    layer.args = tuple(arguments)
    forget_norm(layer)


def _unfolded(
    module: GraphModule, norm: Node, weight: torch.Tensor, bias: torch.Tensor | None
) -> Folded:
    scale, offset, mean, variance = (tensor_constant(module, a) for a in norm.args[1:5])
    momentum, epsilon = norm.args[5:7]
    assert mean is not None and variance is not None
    assert isinstance(momentum, float | int) and isinstance(epsilon, float)
    zeros = torch.zeros_like(mean)
    return Folded(
        weight,
        zeros if bias is None else bias,
        torch.ones_like(mean) if scale is None else scale,
        zeros if offset is None else offset,
        mean,
        variance,
        epsilon,
        momentum,
        norm.meta.get(_BATCHES),
    )


def _replace(module: GraphModule, norm: Node, affine: _Affine) -> Node:
    """Return a depthwise convolution over the channels; rank 2 becomes rank 3 around it."""
    graph = module.graph
    x = norm.args[0]
    assert isinstance(x, Node)
    channels = affine.scale.numel()
    value = norm.meta["val"][0]
    spatial = max(value.dim() - 2, 1)
    weight = affine.scale.reshape([channels, 1] + [1] * spatial)
    w = _new_constant(module, norm, f"{norm.name}_weight", weight)
    b = _new_constant(module, norm, f"{norm.name}_bias", affine.offset)
    ones, zeros = [1] * spatial, [0] * spatial

    def add(target: object, *args: object, val: torch.Tensor) -> Node:
        node = graph.call_function(target, args)  # type: ignore[arg-type]
        node.meta = {**norm.meta, "val": val}
        return node

    with graph.inserting_before(norm):
        wide = value.unsqueeze(-1) if value.dim() == 2 else value
        if value.dim() == 2:
            x = add(_aten.unsqueeze.default, x, -1, val=wide)
        out = add(
            _aten.convolution.default, x, w, b, ones, zeros, ones, False, zeros, channels, val=wide
        )
        if value.dim() == 2:
            out = add(_aten.squeeze.dims, out, [-1], val=value)
    return out


def fuse_batch_norm(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many BatchNorms went away."""
    count = 0
    for norm in list(module.graph.nodes):
        if norm.target is not _NORM:
            continue
        affine = _affine(module, norm)
        if affine is None or not gives_first_only(norm):
            continue
        producer = norm.args[0]
        assert isinstance(producer, Node)
        folds = len(producer.users) == 1 and (
            producer.target is _aten.convolution.default
            or (producer.target is _aten.linear.default and producer.meta["val"].dim() == 2)
        )
        if folds and tensor_constant(module, producer.args[1]) is not None:
            _fold(module, norm, producer, affine)
            result = producer
        elif (layer := _layer_behind(module, norm, affine)) is not None:
            _note_read(module, norm)
            scale_inputs(module, layer, f"{norm.name}_behind", affine.scale, affine.offset)
            result = producer
        else:
            _note_read(module, norm)
            result = _replace(module, norm, affine)
        for user in list(norm.users):
            user.replace_all_uses_with(result)
            module.graph.erase_node(user)
        module.graph.erase_node(norm)
        count += 1
    return count
