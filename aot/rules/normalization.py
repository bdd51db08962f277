# SPDX-License-Identifier: Apache-2.0
"""Lowering of norms with statistics of the value itself to pl::normalize.

These are aten.layer_norm and group_norm, InstanceNorm, and norms written in single ops.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch.fx import Node

from aot.dialect.graph import quantization_of, shape_of
from aot.dialect.library import Op
from aot.dialect.quantization import INT16
from aot.dialect.results import taken_from
from aot.dialect.rule import Call, Family, UnaryRule, argument
from aot.errors import LoweringError, problem_at
from aot.rules.fused_norm import MAX_EPSILON, NORMALIZE
from aot.rules.weights import constant_of
from kernels.normalize.op import MAX_COUNT, MAX_INT16_COUNT, constants, normalize

_aten = torch.ops.aten
_LAYER_NORM, _GROUP_NORM = _aten.layer_norm.default, _aten.group_norm.default
# InstanceNorm, and BatchNorm without running statistics.
_BATCH_NORM = _aten._native_batch_norm_legit.no_stats
# Threshold: an addend of a root below 1/64 of the input's step has no effect. Rounding to steps
# adds more: 0.29 steps in each value.
_NEGLIGIBLE = 64


@dataclass(frozen=True)
class _Norm:
    """Parameters of a norm call.

    Attributes:
      parts: as those of pl::normalize.
      affine: the shape of weight and bias that broadcasts to the input's; None: theirs.
      centered: as pl::normalize's.
    """

    parts: list[int]
    affine: list[int] | None = None
    centered: bool = True

    def count(self, shape: Sequence[int]) -> int:
        return math.prod(shape) // math.prod(self.parts)


def _norm(call: Node, shape: Sequence[int]) -> _Norm:
    if call.target is NORMALIZE:
        dim = argument(call, "dim")
        parts = [1 if d in dim else size for d, size in enumerate(shape)]
        return _Norm(parts, centered=bool(argument(call, "centered")))
    if call.target is _LAYER_NORM:
        normalized = list(argument(call, "normalized_shape"))
        kept = len(shape) - len(normalized)
        return _Norm([*shape[:kept], *[1] * len(normalized)], normalized)
    batch, channels, *pixels = shape
    ones = [1] * len(pixels)
    if call.target is _BATCH_NORM:
        return _Norm([1, channels, *ones], [channels, *ones])
    return _Norm([batch, int(argument(call, "num_groups")), *ones], [channels, *ones])


class Normalization(UnaryRule):
    fuses_clamp: ClassVar[bool] = True

    def op(self, node: Node) -> Op:
        return normalize

    def reject(self, node: Node) -> tuple[str, str] | None:
        call, _ = taken_from(node)
        for name in _AFFINE:
            value = argument(call, name)
            if isinstance(value, Node) and value.op != "get_attr":
                return (
                    f"the {name} is computed by the model",
                    "norm(x) * weight + bias, the norm without them; or --allow-float-fallback",
                )
        epsilon = float(argument(call, "eps"))
        if not 0.0 <= epsilon <= MAX_EPSILON:
            return f"eps is {epsilon:g}", f"an eps from 0 to {MAX_EPSILON:g}"
        shape = tuple(node.meta["val"].shape)
        count = _norm(call, shape).count(shape)
        if count > MAX_COUNT:
            return (
                f"its statistics are over {count} values, more than {MAX_COUNT}",
                "a norm over fewer dimensions, or more groups",
            )
        return None

    def emit(self, call: Call) -> Node:
        node, (x,) = taken_from(call.node)[0], call.inputs
        shape, source = shape_of(x), quantization_of(x)
        norm, epsilon = _norm(node, shape), float(argument(node, "eps"))
        count = norm.count(shape)
        if source.type is INT16 and count > MAX_INT16_COUNT:
            problem = problem_at(
                call.node,
                f"its statistics are over {count} values, more than {MAX_INT16_COUNT} of int16",
                "int8 for this layer",
            )
            raise LoweringError("1 op of the model cannot be lowered as asked:", [problem])
        floor, addend = _bounds(node, source.scale, max(math.sqrt(epsilon), source.scale / count))
        gain, offset = (
            torch.full((1,), default)
            if value is None
            else value.reshape(norm.affine or value.shape)
            for value, default in (
                (constant_of(call.module, node, name), default)
                for name, default in zip(_AFFINE, (1.0, 0.0), strict=True)
            )
        )
        scaled = (
            t.to(torch.float64) / call.output.scale for t in torch.broadcast_tensors(gain, offset)
        )
        gain, offset = scaled
        variance = epsilon / source.scale**2
        values = constants(count, norm.centered, variance, gain, offset, source.span, floor, addend)
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


def _bounds(call: Node, step: float, least: float) -> tuple[float, float]:
    """Return the lower bound of a norm's root and its addend, in steps of the input.

    They are 0 if they make no difference.

    Args:
      call: of any norm.
      step: of the input.
      least: of the roots of rows that are not constant.
    """
    if call.target is not NORMALIZE:
        return 0.0, 0.0
    floor, addend = float(argument(call, "floor")), float(argument(call, "addend"))
    return (
        floor / step if floor > least else 0.0,
        addend / step if addend * _NEGLIGIBLE > step else 0.0,
    )


_AFFINE = ("weight", "bias")
RULE = Normalization()
FAMILY = Family(
    dict.fromkeys((_LAYER_NORM, _GROUP_NORM, NORMALIZE), RULE),
    kept=(_LAYER_NORM, _GROUP_NORM),
    results={_BATCH_NORM: (RULE,)},
)
