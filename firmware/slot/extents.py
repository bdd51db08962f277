# SPDX-License-Identifier: Apache-2.0
"""Building blocks of kernel bounds (bounds.py)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

MAX = 65535
LONG = 2**24 - 1
ANY = (-(2**31), 2**31 - 1)
"""The range of a field restricted by conditions."""
WIDTH = {1: "", 2: "_s16"}
"""Suffix of headers, by bytes of a value."""


@dataclass(frozen=True)
class Extent:
    """Elements of `size` bytes a call accesses, from an operand's first one on."""

    elements: str
    size: int = 1


@dataclass(frozen=True)
class Bounds:
    """Bounds of a kernel.

    Attributes:
      header: as in KernelCall.
      dims: the range of each field of dims used in an expression, in the order of the
        struct; of all elements of an array.
      params: likewise.
      reads, writes: operands.
      factors: channels of `multiplier` and `shift`, "" if there are none.
      hidden_factors: likewise of `hidden_multiplier` and `hidden_shift`.
      scratch: bytes.
      pieces: operand that is a table of address and bytes; dims begin with their number,
        how often each is read, and their bytes together. "" if there is none.
      needs: further conditions.
      arithmetic: likewise of the params of packages, so nothing in C is undefined.
      has_params: there is such a struct.
      revision: raised when the packing of constants changes, because the header's structs
        do not show that.
    """

    header: str
    dims: Mapping[str, tuple[int, int]]
    reads: Mapping[str, Extent]
    writes: Mapping[str, Extent]
    params: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    factors: str = ""
    hidden_factors: str = ""
    scratch: str = "0"
    pieces: str = ""
    needs: tuple[str, ...] = ()
    arithmetic: tuple[str, ...] = ()
    has_params: bool = True
    revision: int = 1

    def pairs_of_factors(self) -> list[tuple[str, tuple[str, str]]]:
        """Channels, and the operands with their multipliers and shifts."""
        of = {"": self.factors, "hidden_": self.hidden_factors}
        return [(text, (f"{n}multiplier", f"{n}shift")) for n, text in of.items() if text]


def sizes(names: str, maximum: int = MAX, minimum: int = 1) -> dict[str, tuple[int, int]]:
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
# Each window has a tap inside.
TAPS = (
    "pad_top < kernel_h",
    "pad_left < kernel_w",
    f"{LAST_Y} - pad_top < input_h",
    f"{LAST_X} - pad_left < input_w",
)


def within(names: str, low: int, high: int) -> tuple[str, ...]:
    """Return conditions on fields of params, with low at most 0, whose arithmetic
    cannot overflow.
    """
    return tuple(f"{n} + {-low} >= 0 and {n} + {-low} <= {high - low}" for n in names.split())


INT8 = (-128, 127)
INT16 = (-(2**15), 2**15 - 1)
SHIFT = (-31, 30)
"""Range of requantize.h."""

_BROADCAST = {"size": (1, LONG), "a_stride": (0, LONG), "b_stride": (0, LONG)}


def two_operands(header: str, size: int, *arithmetic: str) -> Bounds:
    return Bounds(
        header,
        _BROADCAST,
        {
            "a": Extent("span(size, a_stride)", size),
            "b": Extent("span(size, b_stride)", size),
        },
        {"output": Extent("product(size)", size)},
        # The innermost loop goes by one element, or has one of b.
        needs=("a_stride[4] == 1 or size[4] == 1", "b_stride[4] <= 1"),
        arithmetic=arithmetic,
    )


def elements(header: str, read: int, written: int, table: Extent | None = None) -> Bounds:
    tables = {"table": table} if table else {}
    return Bounds(
        header,
        {"size": (1, LONG)},
        {"input": Extent("size", read), **tables},
        {"output": Extent("size", written)},
        has_params=not table,
    )


def mean(size: int, *needs: str) -> Bounds:
    values = "product(reduced)"
    reach = f"{values} * 128"
    sums = {
        1: (f"{values} <= {2**23 - 1}", f"offset <= {reach}", f"offset + {reach} >= 0"),
        2: (f"{values} <= {2**16 - 1}",),
    }
    return Bounds(
        f"kernels/mean/mean{WIDTH[size]}.h",
        {
            "kept": (1, LONG),
            "kept_stride": (0, LONG),
            "reduced": (1, LONG),
            "reduced_stride": (0, LONG),
        },
        {"input": Extent("span(kept, kept_stride) + span(reduced, reduced_stride) - 1", size)},
        {"output": Extent("product(kept)", size)},
        needs=needs,
        arithmetic=(
            *sums[size],
            *within("shift", *SHIFT),
            *within("output_zero_point", *INT8),
        ),
    )


def pool(
    op: str,
    size: int,
    params: Mapping[str, tuple[int, int]],
    needs: tuple[str, ...],
) -> Bounds:
    return Bounds(
        f"kernels/{op}/{op}{WIDTH[size]}.h",
        IMAGE,
        {"input": Extent(INPUT, size)},
        {"output": Extent(POOLED, size)},
        params,
        needs=needs,
    )


_PADS = sizes("pad_top pad_bottom pad_left pad_right", 255, 0)


def avg_pool(size: int) -> Bounds:
    return pool("avg_pool2d", size, {**STRIDES, **_PADS}, TAPS)


def max_pool(size: int) -> Bounds:
    needs = (
        *TAPS[2:],
        "pad_top <= (kernel_h - 1) * dilation_h",
        "pad_left <= (kernel_w - 1) * dilation_w",
        # Otherwise the taps could step over the whole input.
        "pad_top == 0 or dilation_h <= input_h",
        "pad_left == 0 or dilation_w <= input_w",
    )
    return pool("max_pool2d", size, DILATED, needs)


def mean_pool(size: int) -> Bounds:
    needs = (
        "pad_top * parts_h < kernel_h",
        "pad_left * parts_w < kernel_w",
        f"{LAST_Y} // parts_h - pad_top < input_h",
        f"{LAST_X} // parts_w - pad_left < input_w",
        # The count of a window is a divisor and must not wrap to 0.
        f"(kernel_h // parts_h + 2) * (kernel_w // parts_w + 2) <= {LONG}",
        "shift + 31 >= 0",
        "shift <= 30",
    )
    return pool("mean_pool2d", size, {**STRIDES, **sizes("parts_h parts_w"), **_PADS}, needs)
