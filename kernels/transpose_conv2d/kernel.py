# SPDX-License-Identifier: Apache-2.0
"""pl::transpose_conv2d on kernels/transpose_conv2d/transpose_conv2d.h."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from kernels.common.gemm import fold_zero_point, pack, packed_channels, rows_at_a_time
from kernels.common.gemm_blocks import last_pays, pack_blocks
from kernels.common.gemm_pairs import ROWS, Pairs
from kernels.common.gemm_taps import TapPairs, block_of
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
from kernels.common.quantization import (
    activation_dtype,
    activation_range,
    channel_vector,
    factors,
    zero_point,
)
from kernels.common.rows import ByRows, Taps, row_count
from kernels.common.wide import dots_constants, narrow_constants, wide_constants

_WINDOWS_BYTES = 2048
"""Windows that share the expansion of their weights to pairs of taps."""


@dataclass(frozen=True)
class _Phase:
    """Pixels of one axis, `output`, `output` + stride, ..., and the taps that reach them.

    The first tap for the first pixel is at `input`. A phase without taps has one tap of weight 0.
    """

    output: int
    input: int
    taps: tuple[int, ...]

    def of_weight(self, weight: AnyArray, axis: int) -> AnyArray:
        if self.taps:
            return weight.take(self.taps, axis)
        return np.zeros_like(weight.take([0], axis))


@dataclass(frozen=True)
class _Axis:
    """Rows or columns of a call."""

    kernel: int
    stride: int
    padding: int
    dilation: int
    size: int

    @property
    def tap_distance(self) -> int:
        """Pixels of the input between neighbouring taps of a phase."""
        return self.dilation // math.gcd(self.dilation, self.stride)

    @property
    def phases(self) -> list[_Phase]:
        """One for every remainder, as far as there are pixels. Taps are in the input's order."""
        phases = []
        for first in range(min(self.stride, self.size)):
            reach = {k: first + self.padding - k * self.dilation for k in range(self.kernel)}
            taps = [k for k in reversed(reach) if reach[k] % self.stride == 0]
            start = reach[taps[0]] // self.stride if taps else 0
            phases.append(_Phase(first, start, tuple(taps)))
        return phases

    def are_apart(self, inputs: int) -> bool:
        """Return True if each of `inputs` pixels has its result pixels for itself."""
        alone = self.padding == 0 and self.dilation == 1 and self.kernel <= self.stride
        return alone and self.size == inputs * self.stride


@kernel("pl::transpose_conv2d")
def transpose_conv2d(call: OpCall, isa: Isa) -> KernelCall:
    weight = call.constant("weight", "int8", rank=4)
    channels, kh, kw, depth = weight.shape
    groups = call.integer("groups", minimum=1)
    dtype = activation_dtype(call, "input")
    source, output = call.tensor("input", dtype, rank=4), call.output(dtype, rank=4)
    n, h, w, c = source.shape
    call.require(
        channels % groups == 0 and depth * groups == c,
        f"weight {list(weight.shape)} does not go with {c} input channels in {groups} groups",
    )
    size = call.integers("output_size", 2, minimum=1)
    call.require(
        output.shape == (n, *size, channels),
        f"output has shape {list(output.shape)}, it should be {[n, *size, channels]}",
    )
    axes = zip(
        (kh, kw),
        call.integers("stride", 2, minimum=1),
        call.integers("padding", 2, minimum=0),
        call.integers("dilation", 2, minimum=1),
        size,
        strict=True,
    )
    rows, columns = (_Axis(*axis) for axis in axes)
    beside = columns.stride if isa == "mve" and dtype == "int8" and groups == 1 else 1
    if beside > 1 and columns.are_apart(w) and not call.small:
        weight = _columns_as_channels(weight, beside)
        channels *= beside
        columns = _Axis(kernel=1, stride=1, padding=0, dilation=1, size=w)
    else:
        beside = 1
    phases: list[dict[str, Field]] = []
    parts: list[AnyArray] = []
    for vertical in rows.phases:
        for horizontal in columns.phases:
            part = horizontal.of_weight(vertical.of_weight(weight, 1), 2)
            parts.append(part)
            phases.append(
                {
                    "kernel_h": part.shape[1],
                    "kernel_w": part.shape[2],
                    "output_y": vertical.output,
                    "output_x": horizontal.output,
                    "input_y": vertical.input,
                    "input_x": horizontal.input,
                }
            )
    params: dict[str, Field] = {
        "stride_h": rows.stride,
        "stride_w": columns.stride,
        "dilation_h": rows.tap_distance,
        "dilation_w": columns.tap_distance,
        "first_row": 0,
        **activation_range(call, dtype),
    }
    by_rows = _by_rows(source, output, rows)
    dims: dict[str, Field] = {
        "batches": n,
        "input_h": h,
        "input_w": w,
        "input_c": c,
        "output_h": size[0],
        "output_w": columns.size,
        "output_c": channels,
        "groups": groups,
        "phases": len(phases),
    }
    data: dict[str, Field] = {
        "input": source,
        "phases": Array("const pl_transpose_conv2d_phase", tuple(phases)),
    }
    if dtype == "int16":
        name, constants = _wide_product(call, weight, parts, groups)
        return KernelCall(
            function=f"pl_transpose_conv2d_{name}s16",
            header="kernels/transpose_conv2d/transpose_conv2d_s16.h",
            params=params,
            dims=dims,
            data={**data, **constants, "output": output},
            rows=by_rows,
        )
    multiplier, shift = factors(call, channels // beside)
    bias = channel_vector(call, "bias", channels // beside)
    vectors = (np.tile(bias, beside), np.tile(multiplier, beside), np.tile(shift, beside))
    row = -(-columns.size // columns.stride)
    largest = max(part[0].size for part in parts)

    def convolution(product: _Product, fallback: KernelCall | None = None) -> KernelCall:
        gathered = min(product.rows(largest), row)
        windows_bytes = gathered * largest
        if product.shares_columns and columns.tap_distance == 1:
            gathered, windows_bytes = _sharing_columns(parts, windows_bytes, row)
        return KernelCall(
            function=f"pl_transpose_conv2d_{product.name}s8",
            header="kernels/transpose_conv2d/transpose_conv2d.h",
            params={
                **params,
                "input_zero_point": zero_point(call, "input_zero_point"),
                "output_zero_point": zero_point(call, "output_zero_point"),
            },
            dims={
                **dims,
                "packed_c": product.packed_c,
                "gathered": gathered,
                "windows_offset": product.bytes,
                "scratch_bytes": product.bytes + windows_bytes,
            },
            data={**data, **product.constants, "output": output},
            scratch=product.bytes + windows_bytes,
            fallback=fallback,
            rows=by_rows,
        )

    plain = convolution(_product(call, parts, vectors, groups, row, isa))
    if isa != "thumb1" or call.small:
        return plain
    by_taps = _taps_product(call, parts, vectors, groups)
    return convolution(by_taps, plain) if by_taps else plain


def _wide_product(
    call: OpCall, weight: AnyArray, parts: Sequence[AnyArray], groups: int
) -> tuple[str, dict[str, Constant]]:
    """Return the part of the function's name, and the constants: the fastest exact variant."""
    depthwise = None
    if weight.shape[-1] == 1 and len(weight) == groups:
        depthwise = narrow_constants(call, weight)
    if depthwise is not None:
        taps = [part[..., 0].transpose(1, 2, 0).ravel() for part in parts]
        right = Constant(-depthwise["shift"].array)
        return "depthwise_", {**depthwise, "weight": Constant(np.concatenate(taps)), "shift": right}
    # One tap of one output shares nothing, and takes less by itself.
    shared = len(weight) > groups or max(part[0].size for part in parts) > weight.shape[-1]
    dots = dots_constants(call, weight, groups) if shared and not call.small else None
    constants = dots or wide_constants(call, weight)
    constants["weight"] = Constant(np.concatenate([part.ravel() for part in parts]))
    return "" if dots is None else "blocks_", constants


def _columns_as_channels(weight: AnyArray, beside: int) -> AnyArray:
    """Return [beside * O, KH, 1, C] for weight [O, KH, KW, C].

    Adjacent result pixels with a common input pixel become channels of one pixel.
    """
    more = beside - weight.shape[2]
    wide = np.pad(weight, ((0, 0), (0, 0), (0, more), (0, 0)))
    return wide.transpose(2, 0, 1, 3).reshape(-1, weight.shape[1], 1, weight.shape[3])


def _sharing_columns(parts: Sequence[AnyArray], most: int, row: int) -> tuple[int, int]:
    """Return the number of row windows within `most` bytes of columns, and their bytes."""
    columns = [(part[0, :, 0].size, part.shape[2]) for part in parts]
    fitting = min(most // column - taps + 1 for column, taps in columns)
    count = row if fitting >= row else fitting & ~1
    return count, max(column * (count - 1 + taps) for column, taps in columns)


def _by_rows(source: Value, output: Value, rows: _Axis) -> ByRows | None:
    """Return the row streaming if the stride is a power of two.

    Each input row counts `stride` times. Several images are computed one by one.
    """
    count, given = row_count(output.shape), row_count(source.shape)
    if (images := source.shape[0]) > 1:
        are_rows = given == count == images
        return ByRows(count, {"input": Taps(count)}, {"batches": 1}) if are_rows else None
    reach = (rows.kernel - 1) * rows.dilation
    pad = reach - rows.padding
    if (given, count) != (source.shape[1], rows.size) or rows.stride & (rows.stride - 1):
        return None
    if pad < 0 or rows.size - 1 - pad >= given * rows.stride:
        return None
    taps = Taps(given, 1, pad, reach + 1, rows.stride.bit_length() - 1)
    return ByRows(count, {"input": taps}, {"output_h": 1}, height="input_h", place="first_row")


@dataclass(frozen=True)
class _Product:
    """The product of windows and weights."""

    name: str
    """Part of the function's name."""
    rows: Callable[[int], int]
    """Windows multiplied together, by their depth."""
    packed_c: int
    constants: dict[str, Constant]
    bytes: int = 0
    """Scratch before the windows."""
    shares_columns: bool = False
    """True if adjacent windows share columns, same as in transpose_conv2d_blocks_s8_mve.c."""


def _product(
    call: OpCall,
    parts: Sequence[AnyArray],
    vectors: tuple[AnyArray, AnyArray, AnyArray],
    groups: int,
    row: int,
    isa: Isa,
) -> _Product:
    """Return the fastest exact product for all phases.

    Args:
      parts: int8 [channels, KH, KW, C / groups] of each phase.
      vectors: bias, multiplier and shift of the channels.
      row: windows of a row of a phase.
    """
    matrices = [part.reshape(len(part), -1) for part in parts]
    channels = len(parts[0]) // groups
    input_zero_point = zero_point(call, "input_zero_point")
    bias, multiplier, shift = vectors
    folded = [fold_zero_point(call, matrix, bias, input_zero_point) for matrix in matrices]
    if isa == "dsp" and not call.small:
        pairs = [
            Pairs.of(matrix[:, None], sums, multiplier, shift, groups)
            for matrix, sums in zip(matrices, folded, strict=True)
        ]
        if all(pairs):
            wide = any(p.wide for p in pairs if p)
            alike = [replace(p, wide=wide) for p in pairs if p]
            return _Product(
                f"{'wide_' * wide}pairs_",
                lambda _: ROWS,
                alike[0].weight.shape[1],
                _joined([p.constants() for p in alike]),
                4 * ROWS * max(p.steps for p in alike),
            )
    if isa == "mve" and not call.small:
        by_columns = (part.swapaxes(1, 2).reshape(len(part), -1) for part in parts)
        blocks = [
            pack_blocks(matrix, sums, multiplier, shift, groups)
            for matrix, sums in zip(by_columns, folded, strict=True)
        ]
        if all(blocks):
            packed_c = -(-channels // 4) * 4
            constants = _joined([b for b in blocks if b])
            rows = partial(rows_at_a_time, isa=isa)
            name = f"{'last_' * last_pays(channels, row)}blocks_"
            return _Product(name, rows, packed_c, constants, shares_columns=True)
    packed = [pack(call, matrix, *vectors, input_zero_point, isa, groups) for matrix in matrices]
    stage = next((constants for constants in packed if "shift" in constants), packed[0])
    return _Product(
        "",
        partial(rows_at_a_time, isa=isa),
        packed_channels(channels, isa),
        {
            **_joined([{name: p[name] for name in ("weight", "bias")} for p in packed]),
            **{name: stage[name] for name in ("multiplier", "shift") if name in stage},
        },
    )


def _taps_product(
    call: OpCall,
    parts: Sequence[AnyArray],
    vectors: tuple[AnyArray, AnyArray, AnyArray],
    groups: int,
) -> _Product | None:
    """Return the product by pairs of taps, None if it is not exact or does not pay."""
    bias, multiplier, shift = vectors
    input_zero_point = zero_point(call, "input_zero_point")
    pairs: list[TapPairs] = []
    for part in parts:
        matrix = part.reshape(len(part), -1)
        folded = fold_zero_point(call, matrix, bias, input_zero_point)
        of_phase = TapPairs.of(call, matrix, folded, multiplier, shift, groups)
        if of_phase is None:
            return None
        pairs.append(of_phase)
    channels = len(parts[0]) // groups
    depth, stage = max(p.weight.shape[1] for p in pairs), pairs[0].stage.shape[1]
    block = block_of(channels, depth, stage)
    if block is None:
        return None
    constants = [p.constants() for p in pairs]
    return _Product(
        f"{pairs[0].name}taps_",
        lambda size: max(_WINDOWS_BYTES // size & ~1, 2),
        channels,
        _joined([{"weight": c["weight"], "bias": c["stage"]} for c in constants]),
        block.scratch,
    )


def _joined(packed: Sequence[dict[str, Constant]]) -> dict[str, Constant]:
    """Return the arrays of all phases, concatenated."""
    return {
        name: Constant(np.concatenate([constants[name].array for constants in packed]))
        for name in packed[0]
    }
