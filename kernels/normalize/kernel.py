# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::normalize, declared in kernels/normalize/normalize.h."""

import math
from collections.abc import Sequence

import numpy as np

from kernels.common.kernel import Constant, Field, Isa, KernelCall, OpCall, Value, kernel
from kernels.common.quantization import SUFFIXES, activation_dtype, activation_range, zero_point
from kernels.common.shapes import (
    REDUCTION_DIMS,
    Dim,
    broadcast_strides,
    contiguous_strides,
    merged,
    padded,
)

MAX_COUNT = {"int8": 2**18 - 1, "int16": 2**15 - 1}
MAX_BIAS = 3 * 2**28
MAX_SPAN = {"int8": 255, "int16": 65535}


@kernel("pl::normalize")
def normalize(call: OpCall, isa: Isa) -> KernelCall:
    del isa
    dtype = activation_dtype(call, "input")
    source, output = call.tensor("input"), call.output(dtype)
    call.require(
        source.shape == output.shape,
        f"output has shape {list(output.shape)}, it should be {list(source.shape)}",
    )
    parts = call.integers("parts", len(source.shape), minimum=1)
    call.require(
        not any(size % cuts for size, cuts in zip(source.shape, parts, strict=True)),
        f"the input's {list(source.shape)} cannot be cut in {list(parts)} parts",
    )
    count = source.size // math.prod(parts)
    call.require(count <= MAX_COUNT[dtype], f"the sums of {count} {dtype} values overflow")
    point = zero_point(call, "output_zero_point", dtype)
    output_bits = call.integer("output_bits", 1, 20)
    return KernelCall(
        function=f"pl_normalize_{SUFFIXES[dtype]}",
        header=f"kernels/normalize/normalize{'' if dtype == 'int8' else '_s16'}.h",
        params={
            "centered": int(call.flag("centered")),
            "center": zero_point(call, "input_zero_point", dtype),
            **_radicand(call, count, MAX_SPAN[dtype]),
            "count_bits": count.bit_length(),
            "output_bits": output_bits,
            **activation_range(call, dtype),
        },
        dims={"count": count, **_dims(call, source, parts)},
        data={
            "input": source,
            "affine": _affine(call, point, output_bits),
            "output": output,
        },
        in_place=((source.name, output.name),),
    )


def _radicand(call: OpCall, count: int, span: int) -> dict[str, Field]:
    epsilon, shift = call.integer("epsilon", 0, 2**62 - 1), call.integer("radicand_shift", -62, 60)
    floor, addend = call.integer("floor", 0, 2**62 - 1), call.integer("addend", 0, 2**31 - 1)
    call.require(shift % 2 == 0, f"radicand_shift is {shift}, it must be even")
    call.require(
        count**2 * span**2 * 2.0**shift + epsilon < 2**62,
        f"radicands of {count} values with radicand_shift {shift} and epsilon {epsilon} reach 2^62",
    )
    largest = math.sqrt(max(count**2 * span**2 * 2.0**shift + epsilon, floor))
    call.require(
        not addend or largest + addend < 2**31,
        f"roots of {count} values with radicand_shift {shift} and addend {addend} reach 2^31",
    )
    bits = call.integer("normalized_bits", 0, 61)
    reach = math.sqrt(count)
    if least := math.sqrt(max(epsilon, floor)) + addend:
        reach = min(reach, span * count * 2.0 ** (shift // 2) / least)
    # The factor 1.001 covers the root's error and the host's arithmetic.
    call.require(
        reach * 2.0**bits <= 2**30 * 1.001,
        f"normalized values reach {reach:g}: with {bits} fraction bits they overflow int32",
    )
    given = 61 - shift // 2 - bits
    call.require(
        given <= count.bit_length() + 39,
        f"with radicand_shift {shift} scaled values would be shifted by {given} bits",
    )
    return {
        "epsilon_high": epsilon >> 32,
        "epsilon_low": epsilon & 0xFFFFFFFF,
        "floor_high": floor >> 32,
        "floor_low": floor & 0xFFFFFFFF,
        "addend": addend,
        "radicand_shift": shift,
        "given_bits": given,
    }


def _affine(call: OpCall, point: int, output_bits: int) -> Constant:
    """Return weight and bias. The bias includes the zero point and half a step."""
    weight, bias = call.constant("weight", "int32"), call.constant("bias", "int32")
    call.require(
        weight.shape == bias.shape,
        f"weight has shape {list(weight.shape)}, bias {list(bias.shape)}",
    )
    call.require(
        int(np.abs(bias.astype(np.int64)).max()) <= MAX_BIAS, f"a bias is beyond {MAX_BIAS}"
    )
    whole = bias + np.int32((point << output_bits) + (1 << (output_bits - 1)))
    return Constant(np.stack([weight, whole], axis=-1).astype(np.int32))


def _dims(call: OpCall, source: Value, parts: Sequence[int]) -> dict[str, Field]:
    strides = zip(
        contiguous_strides(source.shape),
        broadcast_strides(call, call.tensor("weight").shape, source.shape),
        strict=True,
    )
    outer, inner = [], []
    for size, cuts, (step, channels) in zip(source.shape, parts, strides, strict=True):
        length = size // cuts
        outer.append(Dim(cuts, (step * length, channels * length)))
        inner.append(Dim(length, (step, channels)))
    fields: dict[str, Field] = {}
    for name, singular, dims in (("parts", "part", outer), ("values", "value", inner)):
        few = sorted(merged(dims), key=lambda dim: dim.size)  # the longest loop goes inside
        call.require(
            len(few) <= REDUCTION_DIMS,
            f"the {name} take {len(few)} nested loops, the kernel has {REDUCTION_DIMS}",
        )
        loops = padded(few, REDUCTION_DIMS, operands=2)
        fields[name] = tuple(loop.size for loop in loops)
        fields[f"{singular}_stride"] = tuple(loop.strides[0] for loop in loops)
        fields[f"{singular}_channels"] = tuple(loop.strides[1] for loop in loops)
    return fields
