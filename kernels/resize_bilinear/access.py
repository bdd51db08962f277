# SPDX-License-Identifier: Apache-2.0
"""Access maps of bilinear resizing: memory read and written by a call."""

from kernels.common.access import LONG, Access, Extent
from kernels.common.access_forms import BITS, WIDTH, sizes, within


def _resize(size: int) -> Access:
    return Access(
        f"kernels/resize_bilinear/resize_bilinear{WIDTH[size]}.h",
        sizes("batches input_h input_w channels output_h output_w"),
        {"input": Extent("batches * input_h * input_w * channels", size)},
        {"output": Extent("batches * output_h * output_w * channels", size)},
        sizes("unit_h unit_w"),
        # Places, and the weights of a pixel.
        needs=tuple(f"(input_{x} - 1) * unit_{x} <= {LONG}" for x in "hw"),
        arithmetic=(
            *within("step_h step_w offset_h offset_w", -LONG // 2, LONG // 2),
            *(f"(output_{x} + 1) * step_{x} <= {LONG}" for x in "hw"),
            f"unit_h * unit_w <= {LONG}",
        ),
    )


ACCESS: dict[str, Access] = {f"pl_resize_bilinear_{BITS[size]}": _resize(size) for size in (1, 2)}
