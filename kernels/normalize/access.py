# SPDX-License-Identifier: Apache-2.0
"""Access maps of norms: memory read and written by a call."""

from kernels.common.access import LONG, Access, Extent
from kernels.common.access_forms import BITS, INT16, WIDTH, within

_PLACES = "span(parts, part_stride) + span(values, value_stride) - 1"
_CHANNELS = "span(parts, part_channels) + span(values, value_channels) - 1"


def _normalize(size: int) -> Access:
    most = {1: 2**18 - 1, 2: 2**15 - 1}[size]
    return Access(
        f"kernels/normalize/normalize{WIDTH[size]}.h",
        {
            "count": (1, LONG),
            "parts": (1, LONG),
            "part_stride": (0, LONG),
            "part_channels": (0, LONG),
            "values": (1, LONG),
            "value_stride": (0, LONG),
            "value_channels": (0, LONG),
        },
        {"input": Extent(_PLACES, size), "affine": Extent(f"2 * ({_CHANNELS})", 4)},
        {"output": Extent(_PLACES, size)},
        arithmetic=(
            f"count <= {most} and product(values) == count",
            *within("center activation_min activation_max", *INT16),
            *within("radicand_shift given_bits", -62, 63),
            *within("count_bits output_bits", 0, 31),
        ),
    )


ACCESS: dict[str, Access] = {f"pl_normalize_{BITS[size]}": _normalize(size) for size in (1, 2)}
