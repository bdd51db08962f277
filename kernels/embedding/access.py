# SPDX-License-Identifier: Apache-2.0
"""Access maps of embeddings: memory read and written by a call."""

from kernels.common.access import LONG, Access, Extent
from kernels.common.access_forms import sizes

ACCESS: dict[str, Access] = {
    "pl_embedding_x8": Access(
        "kernels/embedding/embedding.h",
        sizes("count rows width", LONG),
        {"table": Extent("rows * width"), "indices": Extent("count", 4)},
        {"output": Extent("count * width")},
        has_params=False,
    )
}
