# SPDX-License-Identifier: Apache-2.0
"""Access maps of float32 matrix products: memory read and written by a call."""

from kernels.common.access import Access, Extent
from kernels.common.access_forms import sizes

ACCESS: dict[str, Access] = {
    "pl_bmm_f32": Access(
        "kernels/bmm_f32/bmm_f32.h",
        sizes("batches rows depth columns"),
        {"a": Extent("batches * rows * depth", 4), "b": Extent("batches * depth * columns", 4)},
        {"output": Extent("batches * rows * columns", 4)},
        has_params=False,
    )
}
