# SPDX-License-Identifier: Apache-2.0
"""pl::linear on kernels/linear/linear.h or linear_s16.h, pl::linear_w4 on linear_w4.h."""

from collections.abc import Callable

import numpy as np

from kernels.common.conv2d_taps import linear_by_taps
from kernels.common.four_bits import FourBits, Packed
from kernels.common.gemm import fold_zero_point, pack, reach, unordered_rows
from kernels.common.gemm_blocks import blocks_function, pack_blocks
from kernels.common.gemm_pairs import ROWS, Pairs
from kernels.common.kernel import AnyArray, Constant, Isa, KernelCall, OpCall, kernel
from kernels.common.overlap import Overlap, overlap
from kernels.common.quantization import (
    activation_dtype,
    activation_range,
    channel_vector,
    factors,
    zero_point,
)
from kernels.common.rows import product_by_rows
from kernels.common.wide import dots_constants, wide_constants

_FEW_WEIGHTS, _FEW_CHANNELS = 384, 3
"""Limits with the DSP extension: up to this many weights or channels, rows are not
widened first.
"""

_TWO_ROWS = 2
"""Rows multiplied together by pl_linear_two_s8."""


@kernel("pl::linear")
def linear(call: OpCall, isa: Isa) -> KernelCall:
    weight = call.constant("weight", "int8", rank=2)
    dtype = activation_dtype(call, "input")
    shape = call.tensor("input").shape
    call.require(
        len(shape) >= 1 and shape[-1] == weight.shape[1],
        f"input has shape {list(shape)}, weight {list(weight.shape)}: the last sizes differ",
    )
    expected = (*shape[:-1], weight.shape[0])
    output = call.output(dtype).shape
    call.require(
        output == expected, f"output has shape {list(output)}, it should be {list(expected)}"
    )
    found = linear_call(call, weight, isa)
    if isa != "thumb1" or call.small or dtype != "int8":
        return found
    return linear_by_taps(call, weight, found)


def linear_call(call: OpCall, weight: AnyArray, isa: Isa) -> KernelCall:
    """Return the product of the input's rows and weight [O, K]; arguments as in pl::linear."""
    if activation_dtype(call, "input") == "int16":
        return _wide_call(call, weight)
    channels, depth = weight.shape
    multiplier, shift = factors(call, channels)
    bias = channel_vector(call, "bias", channels)
    source = call.tensor("input")
    rows = source.size // depth
    input_zero_point = zero_point(call, "input_zero_point")

    def product(
        function: str,
        constants: dict[str, Constant],
        scratch: Callable[[int], int] = lambda _: 0,
        overlap: tuple[Overlap, ...] = (),
    ) -> KernelCall:
        return KernelCall(
            function=function,
            header="kernels/linear/linear.h",
            params={
                "output_zero_point": zero_point(call, "output_zero_point"),
                **activation_range(call),
            },
            dims={"rows": rows, "input_channels": depth, "output_channels": channels},
            data={"input": source, **constants, "output": call.output()},
            scratch=scratch(rows),
            overlap=overlap,
            rows=product_by_rows(source, call.output(), rows, scratch),
        )

    starts = depth * np.arange(rows)
    if isa == "dsp" and not call.small:
        folded = fold_zero_point(call, weight, bias, input_zero_point)
        few = _few_pay(rows, channels, depth)
        two = channels == 2 and rows >= ROWS
        fours = np.pad(weight, ((0, 0), (0, (few or two) * (-depth % 4))))
        pairs = Pairs.of(fours[:, np.newaxis], folded, multiplier, shift, groups=1)
        if pairs is not None and two:
            ordered = overlap(source, call.output(), starts, _TWO_ROWS, reads_first=True)
            return product("pl_linear_two_s8", pairs.apart(), overlap=ordered)
        if pairs is not None and few:
            name = f"pl_linear_few_{'wide_' * (pairs.wide and channels > 1)}s8"
            ordered = overlap(source, call.output(), starts, at_a_time=1)
            return product(name, pairs.constants(alone=channels % 2 == 1), overlap=ordered)
        if pairs is not None:
            steps = pairs.steps
            ordered = overlap(source, call.output(), starts, at_a_time=1, reads_first=True)
            odd = channels % 2 == 1 and rows < ROWS
            name = f"pl_linear_{'odd_' * odd}{'wide_' * pairs.wide}pairs_s8"
            constants = pairs.constants(alone=odd)
            return product(
                name, constants, lambda n: 4 * (1 if n < ROWS else ROWS) * steps, ordered
            )
    ordered = overlap(source, call.output(), starts, unordered_rows(rows, isa))
    if isa == "mve" and not call.small:
        folded = fold_zero_point(call, weight, bias, input_zero_point)
        blocks = pack_blocks(weight, folded, multiplier, shift, groups=1)
        if blocks is not None:
            name = blocks_function("linear", channels, rows)
            return product(name, blocks, overlap=ordered)
    packed = pack(call, weight, bias, multiplier, shift, input_zero_point, isa)
    return product("pl_linear_s8", packed, overlap=ordered)


def _few_pay(rows: int, channels: int, depth: int) -> bool:
    """Return True if pl_linear_few_s8 takes less time than pl_linear_pairs_s8."""
    if channels == 1 or rows >= ROWS:
        return channels == 1
    return channels <= _FEW_CHANNELS or channels * depth <= _FEW_WEIGHTS


def _wide_call(call: OpCall, weight: AnyArray) -> KernelCall:
    channels, depth = weight.shape
    source, output = call.tensor("input"), call.output()
    rows = source.size // depth
    dots = dots_constants(call, weight) if not call.small else None
    return KernelCall(
        function="pl_linear_blocks_s16" if dots else "pl_linear_s16",
        header="kernels/linear/linear_s16.h",
        params=activation_range(call, "int16"),
        dims={
            "rows": rows,
            "input_channels": depth,
            "output_channels": channels,
        },
        data={"input": source, **(dots or wide_constants(call, weight)), "output": output},
        overlap=overlap(source, output, 2 * depth * np.arange(rows), at_a_time=1),
        rows=product_by_rows(source, output, rows),
    )


@kernel("pl::linear_w4")
def linear_w4(call: OpCall, isa: Isa) -> KernelCall:
    packed = call.constant("weight", "int8", rank=2)
    scale = call.constant("group_scale", "int8", rank=2)
    source, channels = call.tensor("input", "int8"), packed.shape[0]
    depth = source.shape[-1]
    group = call.integer("group", minimum=1)
    call.require(group % 2 == 0 or group >= depth, f"group is {group}: it must be even, or all")
    for name, array, size in (
        ("weight", packed, -(-depth // 2)),
        ("group_scale", scale, -(-depth // group)),
    ):
        call.require(
            array.shape == (channels, size),
            f"{name} has shape {list(array.shape)}, it should be {[channels, size]}",
        )
    expected = (*source.shape[:-1], channels)
    output = call.output("int8")
    call.require(
        output.shape == expected,
        f"output has shape {list(output.shape)}, it should be {list(expected)}",
    )
    weight = np.stack([(packed << 4) >> 4, packed >> 4], -1).reshape(channels, -1)[:, :depth]
    scaled = weight * np.repeat(scale.astype(np.int32), group, axis=1)[:, :depth]
    folded = fold_zero_point(
        call, scaled, channel_vector(call, "bias", channels), zero_point(call, "input_zero_point")
    )
    four_bits = FourBits(
        weight, scale, min(group, depth), folded, reach(folded, scaled), *factors(call, channels)
    )
    rows = source.size // depth

    def product(
        kind: str,
        packing: Packed,
        scratch: Callable[[int], int] = lambda _: 0,
        fallback: KernelCall | None = None,
    ) -> KernelCall:
        constants, size = packing
        return KernelCall(
            function=f"pl_linear_w4_{kind}s8",
            header="kernels/linear/linear_w4.h",
            params={
                "output_zero_point": zero_point(call, "output_zero_point"),
                **activation_range(call),
            },
            dims={
                "rows": rows,
                "input_channels": depth,
                "output_channels": channels,
                "group": size,
            },
            data={"input": source, **constants, "output": output},
            scratch=scratch(rows),
            fallback=fallback,
            rows=product_by_rows(source, output, rows, scratch),
        )

    plain = product("", four_bits.plain(packed))
    if call.small or not _fast_w4_pays(isa, rows, channels, depth):
        return plain
    if isa == "mve":
        blocks = four_bits.blocks()
        return product("blocks_", blocks) if blocks else plain
    pairs = four_bits.pairs()
    if pairs is None:
        return plain
    steps = 4 * -(-depth // 8)
    return product("pairs_", pairs, lambda n: 4 * (1 if n < ROWS else ROWS) * steps, fallback=plain)


def _fast_w4_pays(isa: Isa, rows: int, channels: int, depth: int) -> bool:
    """Return True if there are enough weights for a function other than pl_linear_w4_s8."""
    if isa == "mve":
        return channels > 1 or depth >= 24
    enough = rows >= ROWS or channels * depth >= (16 if channels > 1 else 32)
    return isa == "dsp" and enough
