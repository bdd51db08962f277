# SPDX-License-Identifier: Apache-2.0
"""Norms that take their statistics from the value itself, to pl::normalize: aten.layer_norm,
group_norm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.graph import quantization_of, shape_of, tensor_constant
from aot.dialect.library import Op
from aot.dialect.ops.normalize import MAX_COUNT, constants, normalize
from aot.rules.rule import Call, Family, UnaryRule, argument

_LAYER_NORM = torch.ops.aten.layer_norm.default
_GROUP_NORM = torch.ops.aten.group_norm.default
_MAX_EPSILON = 1e6


@dataclass(frozen=True)
class _Norm:
    """What a call computes.

    Attributes:
      parts: as those of pl::normalize.
      affine: the shape that weight and bias have to take to broadcast to the input's.
      centered: as pl::normalize's.
    """

    parts: list[int]
    affine: list[int]
    centered: bool = True


def _norm(node: Node, shape: tuple[int, ...]) -> _Norm:
    if node.target is _LAYER_NORM:
        normalized = list(argument(node, "normalized_shape"))
        kept = len(shape) - len(normalized)
        return _Norm([*shape[:kept], *[1] * len(normalized)], normalized)
    batch, channels, *pixels = shape
    groups = int(argument(node, "num_groups"))
    ones = [1] * len(pixels)
    return _Norm([batch, groups, *ones], [channels, *ones])


class Normalization(UnaryRule):
    fuses_clamp: ClassVar[bool] = True

    def op(self, node: Node) -> Op:
        return normalize

    def reject(self, node: Node) -> tuple[str, str] | None:
        for name in ("weight", "bias"):
            value = argument(node, name)
            if isinstance(value, Node) and value.op != "get_attr":
                return (
                    f"the {name} is computed by the model",
                    "norm(x) * weight + bias, the norm without them; or --allow-float-fallback",
                )
        epsilon = float(argument(node, "eps"))
        if not 0.0 <= epsilon <= _MAX_EPSILON:
            return f"eps is {epsilon:g}", f"an eps from 0 to {_MAX_EPSILON:g}"
        shape = tuple(node.meta["val"].shape)
        count = math.prod(shape) // math.prod(_norm(node, shape).parts)
        if count > MAX_COUNT:
            return (
                f"its statistics are over {count} values, more than {MAX_COUNT}",
                "a norm over fewer dimensions, or more groups",
            )
        return None

    def emit(self, call: Call) -> Node:
        (x,) = call.inputs
        shape, source = shape_of(x), quantization_of(x)
        norm = _norm(call.node, shape)
        weight, bias = (tensor_constant(call.module, argument(call.node, n)) for n in _AFFINE)
        one = torch.ones(1, dtype=torch.float64)
        gain = one if weight is None else weight.to(torch.float64).reshape(norm.affine)
        offset = torch.zeros_like(gain) if bias is None else bias.to(torch.float64)
        offset = offset.reshape(norm.affine) if bias is not None else offset
        count = math.prod(shape) // math.prod(norm.parts)
        epsilon = float(argument(call.node, "eps")) / source.scale**2
        scaled = (t / call.output.scale for t in torch.broadcast_tensors(gain, offset))
        values = constants(count, norm.centered, epsilon, *scaled)
        return call.emit(
            normalize,
            x,
            call.constant("weight", values[0]),
            call.constant("bias", values[1]),
            norm.parts,
            norm.centered,
            *values[2:],
            source.zero_point,
            call.output.zero_point,
            *call.activation_range(),
        )


_AFFINE = ("weight", "bias")
FAMILY = Family(
    dict.fromkeys((_LAYER_NORM, _GROUP_NORM), Normalization()), kept=(_LAYER_NORM, _GROUP_NORM)
)
