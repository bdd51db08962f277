# SPDX-License-Identifier: Apache-2.0
"""Access maps of linear layers: memory read and written by a call."""

from dataclasses import replace

from kernels.common.access import LONG, MAX, Access, Extent
from kernels.common.access_forms import sizes

_LINEAR = {"rows": (1, LONG), **sizes("input_channels output_channels")}
_LINEAR_INPUT = {"input": Extent("rows * input_channels")}
_LINEAR_OUTPUT = {"output": Extent("rows * output_channels")}
_LINEAR_STEPS = "(up(input_channels, 4) // 2)"
_PAIRS_LINEAR = Access(
    "kernels/linear/linear.h",
    _LINEAR,
    {
        **_LINEAR_INPUT,
        "weight": Extent(f"up(output_channels, 2) // 2 * {_LINEAR_STEPS}", 4),
        "bias": Extent("up(output_channels, 2) * 3", 4),
    },
    _LINEAR_OUTPUT,
    scratch=f"(4 if rows < 4 else 16) * {_LINEAR_STEPS}",
)
_ODD_LINEAR = replace(_PAIRS_LINEAR, scratch=f"4 * {_LINEAR_STEPS}")
_FEW_LINEAR = replace(_PAIRS_LINEAR, scratch="0")
_TWO_LINEAR = replace(
    _FEW_LINEAR,
    reads={
        **_LINEAR_INPUT,
        "weight": Extent(f"2 * {_LINEAR_STEPS}", 4),
        "bias": Extent("6", 4),
    },
    needs=("output_channels == 2",),
)


_BLOCKS_LINEAR = Access(
    "kernels/linear/linear.h",
    _LINEAR,
    {
        **_LINEAR_INPUT,
        "weight": Extent("up(output_channels, 4) * up(input_channels, 16)"),
        "bias": Extent("up(output_channels, 4) * 3", 4),
    },
    _LINEAR_OUTPUT,
)

_S16 = Access(
    "kernels/linear/linear_s16.h",
    {"rows": (1, LONG), **sizes("input_channels output_channels")},
    {
        "input": Extent("rows * input_channels", 2),
        "weight": Extent("output_channels * input_channels"),
        "bias": Extent("output_channels", 4),
    },
    {"output": Extent("rows * output_channels", 2)},
    factors="output_channels",
)

_W4_GROUPS = "(up(input_channels, group) // group)"


def _w4(channels: str, constants: str, scratch: str, *needs: str) -> Access:
    """Return the access map of four-bit weights with this many channels and words of constants for
    each.
    """
    return Access(
        "kernels/linear/linear_w4.h",
        {**_LINEAR, **sizes("group", LONG)},
        {
            **_LINEAR_INPUT,
            "weight": Extent(f"{channels} * {constants}"),
            "group_scale": Extent(f"{channels} * {_W4_GROUPS}"),
            "bias": Extent(f"{channels} * 3", 4),
        },
        _LINEAR_OUTPUT,
        scratch=scratch,
        needs=needs,
    )


_HALVES = "(up(input_channels, 2) // 2)"
_W4 = _w4("output_channels", _HALVES, "0", "group % 2 == 0 or group >= input_channels")


def _taps_linear(words: int) -> Access:
    """Return a product by pairs of taps, with so many words of a channel's last stage."""
    depth = "up(input_channels, 4)"
    return Access(
        "kernels/linear/linear_taps.h",
        {
            **_LINEAR,
            "expanded": (1, MAX),
            "band": (1, LONG),
        },
        {
            **_LINEAR_INPUT,
            "weight": Extent(f"output_channels * {depth}"),
            "stage": Extent(f"output_channels * {words}", 4),
        },
        _LINEAR_OUTPUT,
        scratch=f"4 * {depth} + expanded * (2 * {depth} + {4 * words})",
    )


def _digits(words: int) -> Access:
    return Access(
        "kernels/linear/linear.h",
        _LINEAR,
        {
            **_LINEAR_INPUT,
            "weight": Extent("up(output_channels, 4) * input_channels"),
            "bias": Extent(f"output_channels * {words}", 4),
        },
        _LINEAR_OUTPUT,
    )


ACCESS: dict[str, Access] = {
    "pl_linear_digits_s8": _digits(5),
    "pl_linear_signed_digits_s8": _digits(7),
    "pl_linear_taps_s8": _taps_linear(5),
    "pl_linear_signed_taps_s8": _taps_linear(7),
    "pl_linear_s8": Access(
        "kernels/linear/linear.h",
        _LINEAR,
        {
            **_LINEAR_INPUT,
            "weight": Extent("up(output_channels, block) * input_channels"),
            "bias": Extent("up(output_channels, block)", 4),
        },
        _LINEAR_OUTPUT,
        factors="output_channels",
    ),
    "pl_linear_few_s8": _FEW_LINEAR,
    "pl_linear_few_wide_s8": _FEW_LINEAR,
    "pl_linear_odd_pairs_s8": _ODD_LINEAR,
    "pl_linear_odd_wide_pairs_s8": _ODD_LINEAR,
    "pl_linear_two_s8": _TWO_LINEAR,
    "pl_linear_pairs_s8": _PAIRS_LINEAR,
    "pl_linear_wide_pairs_s8": _PAIRS_LINEAR,
    "pl_linear_blocks_s8": _BLOCKS_LINEAR,
    "pl_linear_last_blocks_s8": _BLOCKS_LINEAR,
    "pl_linear_s16": _S16,
    "pl_linear_blocks_s16": replace(
        _S16,
        reads={**_S16.reads, "bias": Extent("3 * up(output_channels, 4)", 4)},
        factors="",
    ),
    "pl_linear_w4_s8": replace(
        _W4,
        reads={**_W4.reads, "bias": Extent("output_channels", 4)},
        factors="output_channels",
    ),
    "pl_linear_w4_pairs_s8": _w4(
        "output_channels",
        "(up(input_channels, 8) // 2)",
        "(1 if rows < 4 else 4) * 2 * up(input_channels, 8)",
        "group % 8 == 0 and group <= 504",
    ),
    "pl_linear_w4_blocks_s8": _w4(
        "up(output_channels, 4)", _HALVES, "0", "group % 32 == 0 and input_channels % group < 32"
    ),
}
