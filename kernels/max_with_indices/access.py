# SPDX-License-Identifier: Apache-2.0
"""Access maps of maxima with indices: memory read and written by a call."""

from kernels.common.access import Access, Extent
from kernels.common.access_forms import sizes

_BYTES = {"s8": 1, "s16": 2, "s32": 4, "f32": 4}


def _sorted(size: int, found: str, is_topk: bool) -> Access:
    results = f"outer * {found} * inner"
    return Access(
        "kernels/max_with_indices/max_with_indices.h",
        sizes("outer size inner"),
        {"input": Extent("outer * size * inner", size)},
        {"values": Extent(results, size), "indices": Extent(results, 4)},
        sizes("k") if is_topk else {},
        needs=("k <= size",) if is_topk else (),
        has_params=is_topk,
    )


ACCESS: dict[str, Access] = {
    **{f"pl_topk_{name}": _sorted(size, "k", True) for name, size in _BYTES.items()},
    **{f"pl_max_with_indices_{n}": _sorted(_BYTES[n], "1", False) for n in ("s8", "s16", "f32")},
}
