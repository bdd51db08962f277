# SPDX-License-Identifier: Apache-2.0
"""Access maps of SVDF filters: memory read and written by a call."""

from kernels.common.access import Access, Extent
from kernels.common.access_forms import INT8, SHIFT, sizes, within

_FILTERS = "units * rank"
_STATE = Extent(f"batches * {_FILTERS} * (memory - 1)", 2)

ACCESS: dict[str, Access] = {
    "pl_svdf_s8": Access(
        "kernels/svdf/svdf.h",
        {**sizes("batches input_size units rank"), "memory": (1, 65535)},
        {
            "input": Extent("batches * input_size"),
            "state": _STATE,
            "weight": Extent(f"{_FILTERS} * input_size"),
            "column_bias": Extent(_FILTERS, 4),
            "time": Extent(f"{_FILTERS} * memory", 2),
            "bias": Extent("units", 4),
        },
        {"output": Extent("batches * units"), "new_state": _STATE},
        needs=("memory >= 2",),
        arithmetic=(
            *within("state_shift shift", *SHIFT),
            *within("output_zero_point", *INT8),
        ),
    )
}
