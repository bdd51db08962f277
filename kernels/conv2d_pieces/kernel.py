# SPDX-License-Identifier: Apache-2.0
"""plan::conv2d_pieces on kernels/conv2d_pieces: a convolution of a virtual concat.

The plan compiler makes such calls (aot/plan/virtual_concat.py). Arguments are those of pl::conv2d,
except `inputs`, with one image each, and `shifts`, with two for each input. The rows of an input
count 1 << the first shift times, its columns 1 << the second.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernels.common.gemm import fold_zero_point, pack
from kernels.common.gemm_blocks import pack_blocks
from kernels.common.gemm_pairs import ROWS, Pairs
from kernels.common.kernel import (
    AnyArray,
    Array,
    Constant,
    Field,
    Isa,
    KernelCall,
    OpCall,
    Value,
    kernel,
)
from kernels.common.overlap import overlap
from kernels.common.quantization import activation_range, channel_vector, factors, zero_point
from kernels.common.rows import ByRows, Taps
from kernels.common.window import Windows, image_starts
from kernels.conv2d.kernel import Columns


@kernel("plan::conv2d_pieces")
def conv2d_pieces(call: OpCall, isa: Isa) -> KernelCall:
    pieces = _pieces(call)
    shape = _concatenated(call, pieces)
    weight = call.constant("weight", "int8", rank=4)
    call.require(
        weight.shape[3] == shape[3],
        f"weight {list(weight.shape)} does not go with {shape[3]} input channels",
    )
    channels = weight.shape[0]
    matrix = weight.swapaxes(1, 2).reshape(channels, -1)
    windows = Windows.of_convolution(call, weight.shape[1:3], channels, shape=shape)
    input_zero_point = zero_point(call, "input_zero_point")
    bias = channel_vector(call, "bias", channels)
    folded = fold_zero_point(call, matrix, bias, input_zero_point)
    multiplier, shift = factors(call, channels)
    dims = windows.dims()
    del dims["batches"]

    def of_columns(
        columns: Columns,
        fallback: KernelCall | None,
        kind: str,
        constants: dict[str, Constant],
        steps_bytes: int = 0,
    ) -> KernelCall:
        output = call.output()
        overlaps = (
            overlap(piece.value, output, piece.starts(windows), columns.windows, reads_first=True)
            for piece in pieces
        )
        return KernelCall(
            function=f"pl_conv2d_pieces_{kind}s8",
            header="kernels/conv2d_pieces/conv2d_pieces.h",
            params={
                **windows.params(dilation=True),
                "input_zero_point": input_zero_point,
                "output_zero_point": zero_point(call, "output_zero_point"),
                **activation_range(call),
            },
            dims={
                "pieces": len(pieces),
                **dims,
                "output_c": channels,
                "gathered": columns.windows,
                "row": 0,
            },
            data={
                "pieces": Array("const pl_conv2d_piece", tuple(p.fields for p in pieces)),
                **constants,
                "output": output,
            },
            scratch=steps_bytes + columns.scratch,
            overlap=tuple(pair for found in overlaps for pair in found),
            fallback=fallback,
            rows=_by_rows(windows, pieces),
        )

    column = weight.shape[1] * weight.shape[3]
    choices = [c for c in Columns.choices(windows, column) if c.phases == 1]
    one = Columns.of_one(windows, column)
    if not choices or one.scratch < choices[-1].scratch:
        choices.append(one)
    blocks = (
        pack_blocks(matrix, folded, multiplier, shift, 1)
        if isa == "mve" and not call.small
        else None
    )
    constants = blocks or pack(call, matrix, bias, multiplier, shift, input_zero_point, isa)
    made = None
    for columns in reversed(choices):
        made = of_columns(columns, made, "blocks_" if blocks else "", constants)
    assert made is not None
    runs = matrix.reshape(channels, 1, -1)
    pairs = Pairs.of(runs, folded, multiplier, shift, 1) if isa == "dsp" else None
    if pairs is None or call.small:
        return made
    kind = "wide_pairs_" if pairs.wide else "pairs_"
    return of_columns(choices[0], made, kind, pairs.constants(), 4 * ROWS * pairs.steps)


@dataclass(frozen=True, eq=False)
class _Piece:
    """An input; its rows count 1 << shift_h times, its columns 1 << shift_w."""

    value: Value
    shift_h: int
    shift_w: int

    @property
    def image(self) -> tuple[int, int]:
        """Rows and columns of the piece within the concatenation."""
        _, h, w, _ = self.value.shape
        return h << self.shift_h, w << self.shift_w

    @property
    def fields(self) -> dict[str, Field]:
        return {
            "address": self.value,
            "channels": self.value.shape[3],
            "shift_h": self.shift_h,
            "shift_w": self.shift_w,
        }

    def starts(self, windows: Windows) -> AnyArray:
        """Return the first byte of the piece read by each window."""
        _, h, w, c = self.value.shape
        rows, columns = (
            np.maximum(np.arange(windows.output[d]) * windows.stride[d] - windows.padding[2 * d], 0)
            for d in range(2)
        )
        return image_starts(1, (h, w, c), rows >> self.shift_h, columns >> self.shift_w)


def _pieces(call: OpCall) -> tuple[_Piece, ...]:
    inputs = call.tensors("inputs", "int8")
    shifts = call.integers("shifts", 2 * len(inputs), minimum=0)
    for index, value in enumerate(inputs):
        call.require(
            len(value.shape) == 4 and value.shape[0] == 1,
            f"inputs[{index}] has shape {list(value.shape)}, not that of one image",
        )
    call.require(max(shifts) < 16, f"shifts are {list(shifts)}, the most is 15")
    return tuple(map(_Piece, inputs, shifts[::2], shifts[1::2]))


def _concatenated(call: OpCall, pieces: Sequence[_Piece]) -> tuple[int, ...]:
    """Return the shape of the concatenation."""
    sizes = [piece.image for piece in pieces]
    call.require(len(set(sizes)) == 1, f"the inputs are images of {sizes}")
    return (1, *sizes[0], sum(piece.value.shape[3] for piece in pieces))


def _by_rows(windows: Windows, pieces: Sequence[_Piece]) -> ByRows | None:
    rows = windows.by_rows()
    if rows is None or rows.pad != "pad_top":
        return None
    whole = rows.inputs["input"]
    taps = {
        f"pieces[{index}].address": Taps(
            whole.rows >> piece.shift_h, whole.stride, whole.pad, whole.reach, piece.shift_h
        )
        for index, piece in enumerate(pieces)
    }
    return ByRows(rows.rows, taps, {"output_h": 1}, row="row")
