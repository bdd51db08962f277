# SPDX-License-Identifier: Apache-2.0
"""Access maps of convolutions: memory read and written by a call."""

from dataclasses import replace

from kernels.common.access import LONG, MAX, Access, Extent
from kernels.common.access_forms import DILATED, GROUPED, IMAGE, INPUT, LAST_X, UNPADDED, sizes

_CONV = {
    **IMAGE,
    **sizes("output_c groups packed_c"),
    "gathered": (0, MAX),
}
_CONV_OUTPUT = {"output": Extent("batches * output_h * output_w * output_c")}
_DEPTH = "(kernel_h * kernel_w * (input_c // groups))"
# Windows that are contiguous in the input.
_RUNS = (
    "((batches - 1) * input_h * input_w + (output_h - 1) * stride_h * input_w + "
    "(output_w - 1) * stride_w + kernel_h * kernel_w) * input_c"
)
_ONE_RUN = "(kernel_w == 1 or dilation_w == 1 and groups == 1)"
# Windows copied by rows in im2col.
_DENSE_ROWS = "(kernel_w == 1 or dilation_w == 1)"
_DENSE = f"(groups == 1 and {_DENSE_ROWS})"
_PAIRS_STEPS = f"(up({_DEPTH}, 4) // 2)"
_SPREAD_PAIRS_CONV = Access(
    "kernels/conv2d/conv2d.h",
    _CONV,
    {
        "input": Extent(INPUT),
        "weight": Extent(f"groups * (packed_c // 2) * {_PAIRS_STEPS}", 4),
        "bias": Extent("groups * packed_c * 3", 4),
    },
    _CONV_OUTPUT,
    DILATED,
    scratch=f"16 * {_PAIRS_STEPS} + gathered * {_DEPTH}",
    needs=(
        *GROUPED,
        "packed_c % 2 == 0",
        f"gathered >= 1 or {UNPADDED} and {_ONE_RUN}",
    ),
)
_PAIRS_CONV = replace(
    _SPREAD_PAIRS_CONV, needs=(*_SPREAD_PAIRS_CONV.needs, f"gathered == 0 or {_DENSE}")
)
_SPREAD_CONV = Access(
    "kernels/conv2d/conv2d.h",
    _CONV,
    {
        "input": Extent(INPUT),
        "weight": Extent(f"groups * packed_c * {_DEPTH}"),
        "bias": Extent("groups * packed_c", 4),
    },
    _CONV_OUTPUT,
    DILATED,
    factors="(groups - 1) * packed_c + output_c // groups",
    scratch=f"gathered * {_DEPTH}",
    needs=(*GROUPED, "packed_c % block == 0", "gathered >= 1"),
)

_BLOCKS_CONV = Access(
    "kernels/conv2d/conv2d.h",
    _CONV,
    {
        "input": Extent(f"{_RUNS} if gathered == 0 else {INPUT}"),
        "weight": Extent(f"groups * packed_c * up({_DEPTH}, 16)"),
        "bias": Extent("groups * packed_c * 3", 4),
    },
    _CONV_OUTPUT,
    DILATED,
    scratch="0 if gathered == 0 else ((gathered - 1) * (stride_w // dilation_w if gathered == 1"
    " or stride_w % dilation_w == 0 else stride_w) + kernel_w) * kernel_h * "
    "(input_c // groups)",
    needs=(
        *GROUPED,
        "packed_c % 4 == 0",
        "gathered >= 1 or pad_top == 0 and (groups == 1 or kernel_h * kernel_w == 1)",
    ),
)

_S16 = Access(
    "kernels/conv2d/conv2d_s16.h",
    {**IMAGE, **sizes("output_c groups")},
    {
        "input": Extent(INPUT, 2),
        "weight": Extent("output_c * kernel_h * kernel_w * (input_c // groups)"),
        "bias": Extent("output_c", 4),
    },
    {"output": Extent("batches * output_h * output_w * output_c", 2)},
    DILATED,
    factors="output_c",
    needs=("input_c % groups == 0", "output_c % groups == 0"),
)


def _taps_conv(words: int, *needs: str) -> Access:
    depth = f"up({_DEPTH}, 4)"
    return Access(
        "kernels/conv2d/conv2d_taps.h",
        {**IMAGE, **sizes("output_c groups expanded"), "band": (1, LONG)},
        {
            "input": Extent(INPUT),
            "weight": Extent(f"output_c * {depth}"),
            "stage": Extent(f"output_c * {words}", 4),
        },
        _CONV_OUTPUT,
        DILATED,
        scratch=f"6 * {depth} + expanded * (2 * {depth} + {4 * words})",
        needs=("input_c % groups == 0", "output_c % groups == 0", *needs),
    )


ACCESS: dict[str, Access] = {
    "pl_conv2d_taps_s8": _taps_conv(5, _DENSE),
    "pl_conv2d_signed_taps_s8": _taps_conv(7, _DENSE),
    "pl_conv2d_spread_taps_s8": _taps_conv(5),
    "pl_conv2d_signed_spread_taps_s8": _taps_conv(7),
    "pl_conv2d_s8": replace(_SPREAD_CONV, needs=(*_SPREAD_CONV.needs, _DENSE)),
    "pl_conv2d_spread_s8": _SPREAD_CONV,
    "pl_conv2d_runs_s8": Access(
        "kernels/conv2d/conv2d.h",
        _CONV,
        {
            "input": Extent(_RUNS),
            "weight": Extent("up(output_c, block) * kernel_h * kernel_w * input_c"),
            "bias": Extent("up(output_c, block)", 4),
        },
        _CONV_OUTPUT,
        DILATED,
        factors="output_c",
    ),
    "pl_conv2d_rows_s8": Access(
        "kernels/conv2d/conv2d.h",
        _CONV,
        {
            "input": Extent(INPUT),
            "weight": Extent(f"output_c * {_DEPTH}"),
            "bias": Extent("output_c", 4),
            "multiplier": Extent("output_c * 2", 4),
        },
        _CONV_OUTPUT,
        DILATED,
        scratch=f"gathered * kernel_h * ({LAST_X} + (kernel_w - 1) * dilation_w + 1) * "
        "(input_c if input_c == groups else input_c // groups)",
        needs=(
            "input_c % groups == 0",
            "output_c % groups == 0",
            "input_c == groups or kernel_w == 1 or dilation_w == 1",
            f"gathered >= 1 or (input_c == groups or groups == 1) and {UNPADDED}",
        ),
    ),
    "pl_conv2d_pairs_s8": _PAIRS_CONV,
    "pl_conv2d_wide_pairs_s8": _PAIRS_CONV,
    "pl_conv2d_spread_pairs_s8": _SPREAD_PAIRS_CONV,
    "pl_conv2d_spread_wide_pairs_s8": _SPREAD_PAIRS_CONV,
    "pl_conv2d_blocks_s8": _BLOCKS_CONV,
    "pl_conv2d_last_blocks_s8": _BLOCKS_CONV,
    "pl_conv2d_s16": _S16,
    "pl_conv2d_blocks_s16": replace(
        _S16,
        reads={**_S16.reads, "bias": Extent("groups * 3 * up(output_c // groups, 4)", 4)},
        factors="",
    ),
}
