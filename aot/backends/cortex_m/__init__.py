# SPDX-License-Identifier: Apache-2.0
"""The CPU: what no engine before it takes stays a call of a kernel in the plan."""

from __future__ import annotations

import torch

from aot.backends.backend import Backend

_aten = torch.ops.aten

FLOAT_OPS = frozenset(
    {
        _aten.div.Tensor,
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
"""ATen ops that it has a portable float kernel for: what they become where they have no int8 form,
with allow_float_fallback, and in layers that are to stay float."""

CORTEX_M = Backend("cortex_m")
