# SPDX-License-Identifier: Apache-2.0
"""Access maps of float32 layer norms: memory read and written by a call."""

from kernels.common.access import Access, Extent
from kernels.common.access_forms import sizes

_WHOLE, _EACH, _ROWS = Extent("rows * size", 4), Extent("size", 4, optional=True), Extent("rows", 4)

ACCESS: dict[str, Access] = {
    "pl_layer_norm_f32": Access(
        "kernels/layer_norm_f32/layer_norm_f32.h",
        sizes("rows size"),
        {"input": _WHOLE, "weight": _EACH, "bias": _EACH},
        {"output": _WHOLE, "mean": _ROWS, "rstd": _ROWS},
    )
}
