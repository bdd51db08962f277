# SPDX-License-Identifier: Apache-2.0
"""Access maps of padding: memory read and written by a call."""

from kernels.common.access import LONG, Access, Extent

_END = "interior.output_offset + span(interior.size, interior.output_stride)"
_START = "interior.input_offset + span(interior.size, interior.input_stride)"

ACCESS: dict[str, Access] = {
    "pl_pad_s8": Access(
        "kernels/pad/pad.h",
        {
            "output_size": (1, LONG),
            "interior.size": (1, LONG),
            "interior.input_stride": (0, LONG),
            "interior.output_stride": (0, LONG),
            "interior.input_offset": (0, LONG),
            "interior.output_offset": (0, LONG),
        },
        # A row of padding reads nothing.
        {"input": Extent(f"{_START} if row == 0 else 0")},
        {"output": Extent("output_size")},
        needs=(f"({_END} if row == 0 else 0) <= output_size",),
    )
}
