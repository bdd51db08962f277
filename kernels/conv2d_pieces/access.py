# SPDX-License-Identifier: Apache-2.0
"""Access maps of convolutions of a virtual concat: memory read and written by a call."""

from dataclasses import replace

from kernels.common.access import MAX, Access, Extent, Table
from kernels.common.access_forms import DILATED, sizes

# Rows of the input, from the first one used to the last one.
_START = "(row * stride_h - pad_top)"
_TOP = f"({_START} if {_START} > 0 else 0)"
_END = f"({_START} + (output_h - 1) * stride_h + (kernel_h - 1) * dilation_h)"
_LAST = f"(0 if {_END} < 0 else {_END} if {_END} < input_h else input_h - 1)"
_ROWS = (
    f"(0 if {_END} < 0 or {_START} >= input_h else ({_LAST} >> shift_h) - ({_TOP} >> shift_h) + 1)"
)
_DEPTH = "(kernel_h * kernel_w * input_c)"
_COLUMNS = (
    "((gathered - 1) * (stride_w // dilation_w if gathered > 1 else 0) + kernel_w)"
    " * kernel_h * input_c"
)
_STEPS = f"(up({_DEPTH}, 4) // 2)"


def _pieces(weight: str, size: int, bias: str, scratch: str) -> Access:
    return Access(
        "kernels/conv2d_pieces/conv2d_pieces.h",
        {
            **sizes("pieces input_h input_w input_c kernel_h kernel_w output_h output_w output_c"),
            **sizes("gathered"),
            **sizes("row", MAX, 0),
        },
        {"weight": Extent(weight, size), "bias": Extent(bias, 4)},
        {"output": Extent("output_h * output_w * output_c")},
        DILATED,
        {
            "pieces": Table(
                "pieces",
                {**sizes("channels"), **sizes("shift_h shift_w", 15, 0)},
                "pl_conv2d_piece",
                f"{_ROWS} * (input_w >> shift_w) * channels",
            )
        },
        scratch=scratch,
        needs=(
            "total(pieces, channels) <= input_c",
            "every(pieces, ((input_w - 1) >> shift_w) + 1 == input_w >> shift_w)",
        ),
    )


_PAIRS = _pieces(
    f"up(output_c, 2) // 2 * {_STEPS}", 4, "up(output_c, 2) * 3", f"16 * {_STEPS} + {_COLUMNS}"
)

ACCESS: dict[str, Access] = {
    "pl_conv2d_pieces_s8": replace(
        _pieces(f"up(output_c, block) * {_DEPTH}", 1, "up(output_c, block)", _COLUMNS),
        factors="output_c",
    ),
    "pl_conv2d_pieces_pairs_s8": _PAIRS,
    "pl_conv2d_pieces_wide_pairs_s8": _PAIRS,
    "pl_conv2d_pieces_blocks_s8": _pieces(
        f"up(output_c, 4) * up({_DEPTH}, 16)", 1, "3 * up(output_c, 4)", _COLUMNS
    ),
}
