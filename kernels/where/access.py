# SPDX-License-Identifier: Apache-2.0
"""Access maps of selections: memory read and written by a call."""

from kernels.common.access import LONG, Access, Extent

_STRIDES = ("mask_stride", "a_stride", "b_stride")


def _where(size: int) -> Access:
    return Access(
        "kernels/where/where.h",
        {"size": (1, LONG), **dict.fromkeys(_STRIDES, (0, LONG))},
        {
            "mask": Extent("span(size, mask_stride)"),
            "a": Extent("span(size, a_stride)", size),
            "b": Extent("span(size, b_stride)", size),
        },
        {"output": Extent("product(size)", size)},
        needs=tuple(f"{stride}[5] <= 1" for stride in _STRIDES),
        has_params=False,
    )


ACCESS: dict[str, Access] = {f"pl_where_x{8 * size}": _where(size) for size in (1, 2, 4)}
