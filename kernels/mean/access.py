# SPDX-License-Identifier: Apache-2.0
"""Access maps of means: memory read and written by a call."""

from dataclasses import replace

from kernels.common.access import MAX, Access, Extent
from kernels.common.access_forms import INT8, SHIFT, reduction, sizes, within

_COUNT = "product(reduced)"
_REACH = f"{_COUNT} * 128"
_STAGE = (*within("shift", *SHIFT), *within("output_zero_point", *INT8))
_S8 = reduction(
    "kernels/mean/mean.h",
    1,
    1,
    f"{_COUNT} <= {2**23 - 1}",
    f"offset <= {_REACH}",
    f"offset + {_REACH} >= 0",
    *_STAGE,
)


def _contiguous(*needs: str) -> Access:
    """Outputs lie together."""
    return replace(
        _S8, needs=(*needs, "kept_stride[2] == 1", "reduced[0] == 1 and reduced[1] == 1")
    )


ACCESS: dict[str, Access] = {
    "pl_mean_s8": _S8,
    "pl_mean_s16": reduction("kernels/mean/mean_s16.h", 2, 2, f"{_COUNT} <= {MAX}", *_STAGE),
    "pl_mean_columns_s8": _contiguous("kept[2] >= 32", "reduced[2] <= 255"),
    "pl_mean_many_columns_s8": _contiguous("kept[2] >= 32"),
    "pl_mean_many_vectors_s8": _contiguous("kept[2] >= 9 and kept[2] <= 40"),
    "pl_mean_vectors_s8": _contiguous("reduced[2] <= 255"),
    "pl_mean_rows_s8": Access(
        "kernels/mean/mean_rows.h",
        {**sizes("channels pixels count rows"), **sizes("row", minimum=0)},
        {"input": Extent("rows * pixels * channels")},
        {"output": Extent("channels")},
        scratch="4 * channels",
        arithmetic=_STAGE,
    ),
}
