# SPDX-License-Identifier: Apache-2.0
"""Normalizations and softmax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from aot.importers.onnx.call import NodeCall, UnsupportedNode
from aot.importers.onnx.registry import function, layer
from aot.upstream.torch import BatchNorm


class _BatchNorm(BatchNorm):
    """torch's layer for inputs of any rank."""

    def _check_input_dim(self, x: Tensor) -> None:
        pass


@layer("BatchNormalization")
def batch_norm_layer(call: NodeCall) -> torch.nn.Module | None:
    scale, bias, mean, variance = call.constants[1:5]
    if call.is_constant(0) or scale is None or bias is None or mean is None or variance is None:
        return None
    _check_inference(call)
    made = _BatchNorm(scale.numel(), call.attribute("epsilon", 1e-5))
    made.weight, made.bias = torch.nn.Parameter(scale), torch.nn.Parameter(bias)
    made.running_mean, made.running_var = mean, variance
    return made.eval()


@function("BatchNormalization")
def batch_norm(
    call: NodeCall, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor
) -> Tensor:
    """With given statistics."""
    _check_inference(call)
    epsilon = call.attribute("epsilon", 1e-5)
    return F.batch_norm(x, mean, variance, scale, bias, False, 0.0, epsilon)


def _check_inference(call: NodeCall) -> None:
    if call.attribute("training_mode", 0):
        raise UnsupportedNode("training_mode; export the model in eval mode")


@function("InstanceNormalization")
def instance_norm(call: NodeCall, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    return F.instance_norm(x, weight=scale, bias=bias, eps=call.attribute("epsilon", 1e-5))


@function("LayerNormalization")
def layer_norm(call: NodeCall, x: Tensor, scale: Tensor, bias: Tensor | None = None) -> Tensor:
    """Without the statistics as outputs."""
    shape = [*x.shape[call.attribute("axis", -1) :]]
    bias = bias if bias is None else bias.expand(shape)
    return F.layer_norm(x, shape, scale.expand(shape), bias, call.attribute("epsilon", 1e-5))


@function("RMSNormalization")
def rms_norm(call: NodeCall, x: Tensor, scale: Tensor) -> Tensor:
    shape = [*x.shape[call.attribute("axis", -1) :]]
    return F.rms_norm(x, shape, scale.expand(shape), call.attribute("epsilon", 1e-5))


@function("GroupNormalization")
def group_norm(call: NodeCall, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    """Scale and bias by channel, or by group as in opset 18."""
    groups = call.attribute("num_groups", 1)
    if len(scale) != x.shape[1]:
        scale, bias = (v.repeat_interleave(x.shape[1] // groups) for v in (scale, bias))
    return F.group_norm(x, groups, scale, bias, call.attribute("epsilon", 1e-5))


@function("LpNormalization")
def lp_norm(call: NodeCall, x: Tensor) -> Tensor:
    power, axis = call.attribute("p", 2), call.attribute("axis", -1)
    length: Tensor = torch.linalg.vector_norm(x, power, dim=axis, keepdim=True)
    return x / length


@function("Softmax")
def softmax(call: NodeCall, x: Tensor) -> Tensor:
    return _over_axis(call, x, F.softmax)


@function("LogSoftmax")
def log_softmax(call: NodeCall, x: Tensor) -> Tensor:
    return _over_axis(call, x, F.log_softmax)


def _over_axis(call: NodeCall, x: Tensor, compute: Callable[..., Any]) -> Tensor:
    if call.opset >= 13:
        result: Tensor = compute(x, call.attribute("axis", -1))
        return result
    # Before opset 13 it normalizes over all axes from this one on.
    axis = call.attribute("axis", 1) % x.dim()
    result = compute(x, axis) if axis == x.dim() - 1 else compute(x.flatten(axis), -1)
    return result.reshape(x.shape)
