# SPDX-License-Identifier: Apache-2.0
"""pl::conv2d on kernels/conv2d/conv2d.h, or on linear's kernel if it is a matrix product."""

from dataclasses import dataclass, replace

import numpy as np

from kernels.common import conv2d_rows, zero_taps
from kernels.common.conv2d_taps import convolution_by_taps
from kernels.common.gemm import (
    fold_zero_point,
    output_stage,
    pack,
    packed_channels,
    reach,
    rows_at_a_time,
    unordered_rows,
)
from kernels.common.gemm_blocks import BLOCK_CHANNELS, blocks_function, pack_blocks
from kernels.common.gemm_pairs import ROWS, Pairs
from kernels.common.kernel import (
    PLAIN,
    AnyArray,
    Constant,
    Field,
    Isa,
    KernelCall,
    OpCall,
    kernel,
)
from kernels.common.overlap import Overlap, overlap
from kernels.common.quantization import (
    activation_dtype,
    activation_range,
    channel_vector,
    factors,
    zero_point,
)
from kernels.common.wide import DOTS, dots_constants, wide_constants
from kernels.common.window import Windows
from kernels.linear.kernel import linear_call

_BLOCK_ROWS = 8
"""Rows per GEMM block when the output aliases the input.

Fewer rows: smaller alias distance, more instructions.
"""

_COLUMNS_BYTES = (2048, 512, 192)
"""Bytes of shared im2col columns, if they hold two windows; the small ones are for
little memory.
"""


@kernel("pl::conv2d")
def conv2d(call: OpCall, isa: Isa) -> KernelCall:
    weight = call.constant("weight", "int8", rank=4)
    groups = call.integer("groups", minimum=1)
    dtype = activation_dtype(call, "input")
    kernel_size = (weight.shape[1], weight.shape[2])
    windows = Windows.of_convolution(call, kernel_size, weight.shape[0], dtype)
    call.require(
        weight.shape[0] % groups == 0 and weight.shape[3] * groups == windows.input_c,
        f"weight {list(weight.shape)} does not go with {windows.input_c} input channels "
        f"in {groups} groups",
    )
    windows, weight = windows.trimmed(weight, first=1)
    windows = windows.lying
    taps = weight.reshape(weight.shape[0], *windows.kernel, weight.shape[3])
    return convolution_call(call, windows, taps, groups, isa)


def convolution_call(
    call: OpCall, windows: Windows, weight: AnyArray, groups: int, isa: Isa
) -> KernelCall:
    """Return a convolution with weight [O, KH, KW, C / groups] and arguments of pl::conv2d."""
    found = _any_convolution_call(call, windows, weight, groups, isa)
    if isa != "thumb1" or call.small or activation_dtype(call, "input") != "int8":
        return found
    return convolution_by_taps(call, windows, weight, groups, found)


def _any_convolution_call(
    call: OpCall, windows: Windows, weight: AnyArray, groups: int, isa: Isa
) -> KernelCall:
    if groups > 1 or not windows.cover_input:
        spread = _convolution_call(call, windows, weight, groups, isa)
        dense = _with_zero_taps(call, windows, weight, groups, isa, spread)
        return spread if dense is None else dense
    product = linear_call(call, weight.reshape(weight.shape[0], -1), isa)
    # For few outputs, four pixels of a row at a time.
    if isa in PLAIN or (isa == "dsp" and len(weight) == 1):
        by_rows = _of_pixels(call, windows, weight, groups, isa, product)
        if by_rows is not None:
            return by_rows
    blocks = windows.in_blocks(_BLOCK_ROWS)
    if product.overlap or blocks is None:
        return product
    fallback = _convolution_call(call, blocks, weight, groups, isa)
    return replace(product, fallback=fallback) if fallback.overlap else product


def _of_pixels(
    call: OpCall, windows: Windows, weight: AnyArray, groups: int, isa: Isa, product: KernelCall
) -> KernelCall | None:
    """Return conv2d_rows_s8 as a replacement for a product, or None if it is not faster.

    It works row by row, or with all pixels as one row if that takes less time.
    """
    ways = []
    for pixels in (windows, windows.in_a_row):
        if pixels is not None:
            by_rows = _convolution_call(call, pixels, weight, groups, isa)
            if by_rows.function == "pl_conv2d_rows_s8":
                ways.append((conv2d_rows.cost(pixels, len(weight), weight.shape[-1]), by_rows))
    if not ways:
        return None
    least, found = ways[0]
    found = replace(found, fallback=product if product.overlap else None)
    if ways[-1][0] < least:
        # Its rows, where it is computed row by row, are those of the image.
        rows = found.rows and replace(found.rows, dims={**windows.dims(), **found.rows.dims})
        return replace(ways[-1][1], fallback=found, rows=rows)
    return found


def _with_zero_taps(
    call: OpCall,
    windows: Windows,
    weight: AnyArray,
    groups: int,
    isa: Isa,
    spread: KernelCall,
) -> KernelCall | None:
    """Return the same convolution dense along rows, if faster than `spread`. For few channels."""
    if groups > 1 or windows.dilation[1] == 1 or isa == "mve" or call.small:
        return None
    dense = _convolution_call(call, *windows.with_zero_taps(weight), groups, isa)
    if not zero_taps.pay(windows, len(weight), spread.function, dense.function):
        return None
    return replace(dense, fallback=spread if spread.scratch <= dense.scratch else None)


def _convolution_call(
    call: OpCall,
    windows: Windows,
    weight: AnyArray,
    groups: int,
    isa: Isa,
    in_rows: bool = True,
) -> KernelCall:
    """Return a kernel call; `in_rows` allows four windows of a row together."""
    channels = weight.shape[0]
    matrix = weight.reshape(channels, -1)
    if activation_dtype(call, "input") == "int16":
        return _wide_call(call, windows, weight, groups)
    multiplier, shift = factors(call, channels)
    bias = channel_vector(call, "bias", channels)
    input_zero_point = zero_point(call, "input_zero_point")
    runs = groups == 1 and windows.are_runs
    depth = matrix.shape[1]

    def convolution(
        function: str,
        dims: dict[str, Field],
        constants: dict[str, Constant],
        scratch: int,
        overlap: tuple[Overlap, ...] = (),
        fallback: KernelCall | None = None,
        one: int | None = None,
    ) -> KernelCall:
        """Return a kernel call. `one` is the scratch memory for im2col of one window at a time."""
        rows = windows.by_rows()
        if rows is not None and "output_w" in rows.dims and one is not None:
            rows = replace(rows, dims={**rows.dims, "gathered": 1}, scratch=one)
        return KernelCall(
            function=function,
            header="kernels/conv2d/conv2d.h",
            params={
                **windows.params(dilation=True),
                "input_zero_point": input_zero_point,
                "output_zero_point": zero_point(call, "output_zero_point"),
                **activation_range(call),
            },
            dims={**windows.dims(), "output_c": channels, "groups": groups, **dims},
            data={"input": call.tensor("input"), **constants, "output": call.output()},
            scratch=scratch,
            overlap=overlap,
            fallback=fallback,
            rows=rows,
        )

    folded = fold_zero_point(call, matrix, bias, input_zero_point)
    stage = output_stage(multiplier, shift, reach(folded, matrix))
    in_rows = in_rows and isa != "mve" and not call.small and "shift" not in stage
    taps_c = weight.shape[-1]
    is_dense = groups == 1 and 1 in (windows.kernel[1], windows.dilation[1])
    if in_rows and conv2d_rows.pays_for_groups(windows, groups, channels // groups, taps_c, isa):
        is_gathered = (taps_c > 1 and groups > 1) or not windows.are_inside
        column = is_gathered * windows.kernel[0] * (windows.input_c if taps_c == 1 else taps_c)
        reach_w = (windows.kernel[1] - 1) * windows.dilation[1] + 1
        scratch = column * ((windows.output[1] - 1) * windows.stride[1] + reach_w)
        gathering = _convolution_call(call, windows, weight, groups, isa, in_rows=False)
        return convolution(
            "pl_conv2d_rows_s8",
            {"packed_c": channels // groups, "gathered": int(is_gathered)},
            {"weight": Constant(matrix), "bias": Constant(folded.astype(np.int32)), **stage},
            scratch,
            _rows_overlap(call, windows, reads_first=is_gathered and taps_c == 1),
            gathering if gathering.scratch <= scratch else None,
            column * reach_w if is_gathered else None,
        )
    if isa == "dsp" and not call.small:
        by_rows = matrix.reshape(channels, windows.kernel[0], -1)
        pairs = Pairs.of(by_rows, folded, multiplier, shift, groups)
        if pairs is not None:
            one_run = windows.kernel[1] == 1 or is_dense
            gathered = int(not (windows.are_inside and one_run))
            spread = "spread_" * (gathered and not is_dense)
            return convolution(
                f"pl_conv2d_{spread}{'wide_' * pairs.wide}pairs_s8",
                {"packed_c": pairs.weight.shape[1], "gathered": gathered},
                pairs.constants(),
                4 * ROWS * pairs.steps + gathered * depth,
                _overlap(call, windows, 1, isa) if groups == 1 else (),
            )
    if isa == "mve" and not call.small:
        merged, parts = _fewer_groups(weight, groups)
        of_pixels = windows.kernel == (1, 1) and windows.are_inside  # of a group's channels
        in_place = of_pixels or (parts == 1 and windows.are_runs)
        by_columns = (merged if in_place else merged.swapaxes(1, 2)).reshape(channels, -1)
        blocks = pack_blocks(by_columns, folded, multiplier, shift, parts)
        if blocks is not None:
            packed_c = len(blocks["bias"].array) // 3 // parts

            def by_columns_call(
                columns: Columns | None, fallback: KernelCall | None = None
            ) -> KernelCall:
                rows = columns.windows if columns else windows.output[1]
                return convolution(
                    blocks_function("conv2d", channels // parts, rows),
                    {
                        "groups": parts,
                        "packed_c": packed_c,
                        "gathered": columns.windows if columns else 0,
                    },
                    blocks,
                    columns.scratch if columns else 0,
                    _columns_overlap(call, windows, columns) if parts == 1 else (),
                    fallback,
                    columns.column * windows.kernel[1] if columns else None,
                )

            if in_place:
                return by_columns_call(None)
            column = merged.shape[1] * merged.shape[3]
            first, *fewer = Columns.choices(windows, column)
            fallback = None
            for columns in reversed(fewer):
                fallback = by_columns_call(columns, fallback)
            return by_columns_call(first, fallback)
    gathered = 0 if runs else min(rows_at_a_time(depth, isa), windows.output[0] * windows.output[1])
    ordered = _overlap(call, windows, gathered, isa) if groups == 1 else ()
    return convolution(
        f"pl_conv2d_{'runs_' if runs else '' if is_dense else 'spread_'}s8",
        {"packed_c": packed_channels(channels // groups, isa), "gathered": gathered},
        pack(call, matrix, bias, multiplier, shift, input_zero_point, isa, groups),
        gathered * depth,
        ordered,
        one=None if runs else depth,
    )


def _fewer_groups(weight: AnyArray, groups: int) -> tuple[AnyArray, int]:
    """Return weight and groups with groups of few channels merged into one.

    Groups are merged while their outputs fit into one block of the product. This adds no steps and
    no weights to the block. Weights of other groups are 0.
    """
    outputs, *kernel, taps_c = weight.shape
    outputs //= groups
    count = max(n for n in range(1, max(1, BLOCK_CHANNELS // outputs) + 1) if groups % n == 0)
    parts = groups // count
    merged = np.zeros((parts, count, outputs, *kernel, count, taps_c), np.int8)
    for index in range(count):
        merged[:, index, ..., index, :] = weight.reshape(parts, count, outputs, *kernel, taps_c)[
            :, index
        ]
    return merged.reshape(len(weight), *kernel, count * taps_c), parts


def _rows_overlap(call: OpCall, windows: Windows, reads_first: bool) -> tuple[Overlap, ...]:
    source, output = call.tensor("input"), call.output()
    return overlap(source, output, windows.starts, windows.output[1], reads_first)


@dataclass(frozen=True)
class Columns:
    """Windows of an output row with shared columns, in conv2d_blocks_s8_mve.c and in all of
    kernels/conv2d_pieces.

    Attributes:
      windows: windows multiplied together.
      column: bytes of one column of a group.
    """

    windows: int
    phases: int
    column: int
    scratch: int

    @classmethod
    def choices(cls, windows: Windows, column: int) -> list["Columns"]:
        """Return the useful window counts, from many to few.

        The last choice is one window at a time, if adjacent windows share no column.

        Args:
          windows: of the call.
          column: bytes of one column of a group.
        """
        found = [cls._of(windows, column, most) for most in _COLUMNS_BYTES]
        if found[0].phases > 1:
            found.append(cls.of_one(windows, column))
        return [x for i, x in enumerate(found) if i == 0 or x.scratch < found[i - 1].scratch]

    @classmethod
    def of_one(cls, windows: Windows, column: int) -> "Columns":
        """Return the call that computes one window at a time."""
        return cls(1, 1, column, column * windows.kernel[1])

    @classmethod
    def _of(cls, windows: Windows, column: int, most: int) -> "Columns":
        stride, dilation = windows.stride[1], windows.dilation[1]
        phases = 1 if stride % dilation == 0 else dilation
        step = stride * phases // dilation
        row = -(-windows.output[1] // phases)
        fitting = (most // column - windows.kernel[1]) // step + 1
        count = min(row, max(2, fitting & ~1))
        return cls(count, phases, column, column * ((count - 1) * step + windows.kernel[1]))


def _columns_overlap(
    call: OpCall, windows: Windows, columns: Columns | None
) -> tuple[Overlap, ...]:
    """Return the overlap of windows with shared columns: they are read first.

    Windows of phases are in no order.
    """
    source, output, starts = call.tensor("input"), call.output(), windows.starts
    if columns is None or columns.phases > 1:
        return overlap(source, output, starts, windows.output[1])
    return overlap(source, output, starts, columns.windows, reads_first=True)


def _overlap(call: OpCall, windows: Windows, gathered: int, isa: Isa) -> tuple[Overlap, ...]:
    """Return the overlap: im2col windows cross row ends, and runs are multiplied row by row."""
    source, output, starts = call.tensor("input"), call.output(), windows.starts
    if gathered:
        images = starts.reshape(windows.batches, -1)
        return overlap(source, output, images, gathered, reads_first=True)
    return overlap(source, output, starts, unordered_rows(windows.output[1], isa))


def _wide_call(call: OpCall, windows: Windows, weight: AnyArray, groups: int) -> KernelCall:
    # Four outputs share their reads. Fewer outputs take more time this way, one by one, if a read
    # is one value.
    shared = len(weight) // groups >= (2 if weight.shape[-1] > 1 else DOTS)
    is_fast = not call.small and shared
    dots = dots_constants(call, weight, groups) if is_fast else None
    source, output = call.tensor("input"), call.output()
    return KernelCall(
        function="pl_conv2d_blocks_s16" if dots else "pl_conv2d_s16",
        header="kernels/conv2d/conv2d_s16.h",
        params={**windows.params(dilation=True), **activation_range(call, "int16")},
        dims={**windows.dims(), "output_c": weight.shape[0], "groups": groups},
        data={
            "input": source,
            **(dots or wide_constants(call, weight)),
            "output": output,
        },
        overlap=overlap(source, output, 2 * windows.starts, at_a_time=1),
        rows=windows.by_rows(),
    )
