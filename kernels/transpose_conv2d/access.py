# SPDX-License-Identifier: Apache-2.0
"""Access maps of transposed convolutions: memory read and written by a call."""

from dataclasses import replace

from kernels.common.access import LONG, MAX, Access, Extent, Range, Table
from kernels.common.access_forms import GROUPED, INPUT, STRIDES, sizes

_PARAMS = {
    **STRIDES,
    **sizes("dilation_h dilation_w", 255),
    **sizes("first_row", MAX, 0),
}
_IMAGE = sizes("batches input_h input_w input_c output_h output_w output_c groups")
_NEAR: Range = (-MAX, MAX)
_PHASES = {
    "phases": Table(
        "phases",
        {
            **sizes("kernel_h kernel_w", 255),
            **sizes("output_y output_x", MAX, 0),
            **dict.fromkeys(("input_y", "input_x"), _NEAR),
        },
        "pl_transpose_conv2d_phase",
    )
}
_OUTPUT = "batches * output_h * output_w * output_c"
_DEPTH = "kernel_h * kernel_w * (input_c // groups)"
# Windows, or the columns that they share.
_WINDOWS = f"windows_offset + gathered * most(phases, {_DEPTH}) <= scratch_bytes"
_COLUMNS = (
    "windows_offset + most(phases, ((gathered - 1) + kernel_w if dilation_w == 1 "
    "else gathered * kernel_w) * kernel_h) * (input_c // groups) <= scratch_bytes"
)
_CHANNELS = "groups * packed_c"


def _s8(weight: str, words: int, *needs: str) -> Access:
    """Return a product with `weight` bytes for each phase, and constants of each channel."""
    return Access(
        "kernels/transpose_conv2d/transpose_conv2d.h",
        {
            **_IMAGE,
            **sizes("packed_c gathered"),
            **sizes("windows_offset scratch_bytes", LONG, 0),
            **sizes("phases"),
        },
        {
            "input": Extent(INPUT),
            "weight": Extent(f"{_CHANNELS} * total(phases, {weight})"),
            "bias": Extent(f"{_CHANNELS} * phases * {words}", 4),
        },
        {"output": Extent(_OUTPUT)},
        _PARAMS,
        _PHASES,
        scratch="scratch_bytes",
        needs=(*GROUPED, *needs),
    )


_PAIRS = _s8(
    f"up({_DEPTH}, 4)",
    3,
    _WINDOWS,
    "packed_c % 2 == 0",
    f"windows_offset >= 8 * most(phases, up({_DEPTH}, 4))",
)


def _taps(words: int) -> Access:
    """A product by pairs of taps, with so many words of a last stage. One channel fits."""
    depth = f"up({_DEPTH}, 4)"
    needed = f"most(phases, 4 * {depth} + 4 * ({depth} // 2 + {words}))"
    return _s8(
        depth,
        words,
        _WINDOWS,
        "packed_c == output_c // groups",
        "windows_offset % 4 == 0",
        f"windows_offset >= {needed}",
    )


_BLOCKS = _s8(f"up({_DEPTH}, 16)", 3, _COLUMNS, "packed_c % 4 == 0")
_S16 = Access(
    "kernels/transpose_conv2d/transpose_conv2d_s16.h",
    {**_IMAGE, **sizes("phases")},
    {
        "input": Extent(INPUT, 2),
        "weight": Extent(f"output_c * total(phases, {_DEPTH})"),
        "bias": Extent("output_c", 4),
    },
    {"output": Extent(_OUTPUT, 2)},
    _PARAMS,
    _PHASES,
    needs=("input_c % groups == 0", "output_c % groups == 0"),
)

ACCESS: dict[str, Access] = {
    "pl_transpose_conv2d_s8": replace(
        _s8(_DEPTH, 1, _WINDOWS, "packed_c % block == 0"),
        factors="(groups - 1) * packed_c + output_c // groups",
    ),
    "pl_transpose_conv2d_pairs_s8": _PAIRS,
    "pl_transpose_conv2d_wide_pairs_s8": _PAIRS,
    "pl_transpose_conv2d_taps_s8": _taps(5),
    "pl_transpose_conv2d_signed_taps_s8": _taps(7),
    "pl_transpose_conv2d_blocks_s8": _BLOCKS,
    "pl_transpose_conv2d_last_blocks_s8": _BLOCKS,
    "pl_transpose_conv2d_s16": replace(_S16, factors="output_c"),
    "pl_transpose_conv2d_blocks_s16": replace(
        _S16, reads={**_S16.reads, "bias": Extent("groups * 3 * up(output_c // groups, 4)", 4)}
    ),
    "pl_transpose_conv2d_depthwise_s16": replace(
        _S16, factors="output_c", needs=("input_c == groups and output_c == groups",)
    ),
}
