# SPDX-License-Identifier: Apache-2.0
"""Forms of access maps shared by kernels (access.py)."""

from collections.abc import Mapping

from kernels.common.access import LONG, MAX, Access, Extent, Range

WIDTH = {1: "", 2: "_s16"}
"""Suffix of headers, by bytes of a value."""

BITS = {1: "s8", 2: "s16", 4: "f32"}
"""Suffix of functions, likewise."""


def sizes(names: str, maximum: int = MAX, minimum: int = 1) -> dict[str, Range]:
    return dict.fromkeys(names.split(), (minimum, maximum))


STRIDES = sizes("stride_h stride_w", 255)
WINDOW = {**STRIDES, **sizes("pad_top pad_left", 255, 0)}
DILATED = {**WINDOW, **sizes("dilation_h dilation_w", 255)}
IMAGE = sizes("batches input_h input_w input_c kernel_h kernel_w output_h output_w")
INPUT = "batches * input_h * input_w * input_c"
POOLED = "batches * output_h * output_w * input_c"
LAST_Y = "(output_h - 1) * stride_h"
LAST_X = "(output_w - 1) * stride_w"

# No window reaches into padding.
UNPADDED = (
    f"pad_top == 0 and pad_left == 0 and {LAST_Y} + (kernel_h - 1) * dilation_h < input_h"
    f" and {LAST_X} + (kernel_w - 1) * dilation_w < input_w"
)

GROUPED = (
    "input_c % groups == 0",
    "output_c % groups == 0",
    "packed_c >= output_c // groups",
)
"""Channels of a convolution in groups."""


def within(names: str, low: int, high: int) -> tuple[str, ...]:
    """Return conditions on fields, whose arithmetic cannot overflow."""
    return tuple(
        f"{n} >= {low} and {n} <= {high}"
        if low >= 0
        else f"{n} + {-low} >= 0 and {n} + {-low} <= {high - low}"
        for n in names.split()
    )


INT8 = (-128, 127)
INT16 = (-(2**15), 2**15 - 1)
SHIFT = (-31, 30)
"""Range of requantize.h."""

BROADCAST = {"size": (1, LONG), "a_stride": (0, LONG), "b_stride": (0, LONG)}


def two_operands(
    header: str,
    size: int,
    *arithmetic: str,
    result: int | None = None,
    table: Extent | None = None,
    factors: Extent | None = None,
    needs: tuple[str, ...] = ("a_stride[4] <= 1", "b_stride[4] <= 1"),
    has_params: bool = True,
) -> Access:
    """Return the access map of an elementwise op with broadcasting, with innermost stride 1."""
    constants = {"table": table, "factors": factors}
    return Access(
        header,
        BROADCAST,
        {
            "a": Extent("span(size, a_stride)", size),
            "b": Extent("span(size, b_stride)", size),
            **{name: extent for name, extent in constants.items() if extent},
        },
        {"output": Extent("product(size)", result or size)},
        needs=needs,
        arithmetic=arithmetic,
        has_params=has_params,
    )


FIRST_GOES = ("a_stride[4] == 1 or size[4] == 1", "b_stride[4] <= 1")
"""Conditions of a sum or a product: only b may have one value for a row."""


def elements(
    header: str, read: int, written: int, table: Extent | None = None, has_params: bool = True
) -> Access:
    tables = {"table": table} if table else {}
    return Access(
        header,
        {"size": (1, LONG)},
        {"input": Extent("size", read), **tables},
        {"output": Extent("size", written)},
        has_params=has_params and not table,
    )


REDUCTION = {
    "kept": (1, LONG),
    "kept_stride": (0, LONG),
    "reduced": (1, LONG),
    "reduced_stride": (0, LONG),
}
REDUCED = "span(kept, kept_stride) + span(reduced, reduced_stride) - 1"


def reduction(
    header: str,
    read: int,
    written: int,
    *arithmetic: str,
    table: int = 0,
    needs: tuple[str, ...] = (),
    has_params: bool = True,
) -> Access:
    """Return an op over some dimensions; `table` is the length of its exp_table."""
    tables = {"exp_table": Extent(str(table), 4)} if table else {}
    return Access(
        header,
        REDUCTION,
        {"input": Extent(REDUCED, read), **tables},
        {"output": Extent("product(kept)", written)},
        needs=needs,
        arithmetic=arithmetic,
        has_params=has_params,
    )


def pool(op: str, size: int, params: Mapping[str, Range], needs: tuple[str, ...]) -> Access:
    return Access(
        f"kernels/{op}/{op}{WIDTH[size]}.h",
        IMAGE,
        {"input": Extent(INPUT, size)},
        {"output": Extent(POOLED, size)},
        params,
        needs=needs,
    )


PADS = sizes("pad_top pad_bottom pad_left pad_right", 255, 0)


def adaptive_pool(op: str, size: int) -> Access:
    """Return the access map of adaptive windows that cover the input."""
    return Access(
        f"kernels/{op}/{op}{WIDTH[size]}.h",
        sizes("batches input_h input_w input_c output_h output_w"),
        {"input": Extent(INPUT, size)},
        {"output": Extent(POOLED, size)},
        # The places of windows are products.
        needs=tuple(f"(output_{x} + 1) * input_{x} <= {LONG}" for x in "hw"),
        has_params=False,
    )
