# SPDX-License-Identifier: Apache-2.0
"""The CPU: ops left by the engines before it stay kernel calls in the plan."""

from __future__ import annotations

import torch
from torch.fx import Node

from aot.backends.backend import Backend
from aot.dialect.results import taken_from
from aot.rules import on_floats
from aot.rules.floats import float_form

_aten = torch.ops.aten

FLOAT_OPS = frozenset(
    {
        *(_aten.abs.default, _aten.neg.default, _aten.sign.default, _aten.floor.default),
        *(_aten.ceil.default, _aten.trunc.default, _aten.round.default, _aten.sqrt.default),
        *(_aten.rsqrt.default, _aten.reciprocal.default, _aten.exp.default, _aten.expm1.default),
        *(_aten.sigmoid.default, _aten.tanh.default, _aten.erf.default, _aten.log.default),
        *(_aten.log1p.default, _aten.sin.default, _aten.cos.default, _aten.atan.default),
        _aten.pow.Tensor_Scalar,
        _aten.minimum.default,
        _aten.maximum.default,
        _aten.sum.dim_IntList,
        _aten.amax.default,
        _aten.amin.default,
        _aten.bmm.default,
        _aten.convolution.default,
        _aten.layer_norm.default,
        _aten.group_norm.default,
    }
)
"""ATen ops with a portable float kernel. They replace ops without an int8 form if
allow_float_fallback is set, and serve in float layers.
"""

_LARGEST_EXPONENT = 16.0  # limit of kernels/pow


def of_floats(node: Node) -> bool:
    """Return True if an ATen node gives one tensor, and the tensor or an input is float32."""
    values = [n.meta.get("val") for n in (node, *taken_from(node)[0].all_input_nodes)]
    floats = [isinstance(v, torch.Tensor) and v.dtype == torch.float32 for v in values]
    return isinstance(values[0], torch.Tensor) and any(floats)


def has_float_kernel(node: Node) -> bool:
    """Return True if an ATen node runs in float32 unchanged, or moves values of any type."""
    if node.target is _aten.pow.Tensor_Scalar:
        exponent = node.args[1]
        return isinstance(exponent, int | float) and abs(exponent) <= _LARGEST_EXPONENT
    if node.target in FLOAT_OPS or float_form(node) is not None:
        return True
    rule = on_floats(node)
    return rule is not None and rule.reject(node) is None


CORTEX_M = Backend("cortex_m")
