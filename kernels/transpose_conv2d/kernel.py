# SPDX-License-Identifier: Apache-2.0
"""pl::transpose_conv2d on kernels/transpose_conv2d/transpose_conv2d.h."""

import math
from dataclasses import dataclass

import numpy as np

from kernels.common.gemm import pack, packed_channels, rows_at_a_time
from kernels.common.kernel import AnyArray, Array, Constant, Field, Isa, KernelCall, OpCall, kernel
from kernels.common.quantization import activation_range, channel_vector, factors, zero_point


@dataclass(frozen=True)
class _Phase:
    """Along one axis: the pixels `output`, `output` + stride, ... and the taps that reach them.

    The first of the taps lies at `input` for the first pixel. Without taps it has one of weight 0.
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


@kernel("pl::transpose_conv2d")
def transpose_conv2d(call: OpCall, isa: Isa) -> KernelCall:
    weight = call.constant("weight", "int8", rank=4)
    channels, kh, kw, depth = weight.shape
    groups = call.integer("groups", minimum=1)
    source, output = call.tensor("input", "int8", rank=4), call.output("int8", rank=4)
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
    multiplier, shift = factors(call, channels)
    bias = channel_vector(call, "bias", channels)
    input_zero_point = zero_point(call, "input_zero_point")

    phases: list[dict[str, Field]] = []
    packed: list[dict[str, Constant]] = []
    largest = 0
    for vertical in rows.phases:
        for horizontal in columns.phases:
            part = horizontal.of_weight(vertical.of_weight(weight, 1), 2)
            matrix = part.reshape(channels, -1)
            largest = max(largest, matrix.shape[1])
            constants = (matrix, bias, multiplier, shift)
            packed.append(pack(call, *constants, input_zero_point, isa, groups))
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
    stage = next((constants for constants in packed if "shift" in constants), packed[0])
    gathered = min(rows_at_a_time(largest, isa), -(-size[1] // columns.stride))
    return KernelCall(
        function="pl_transpose_conv2d_s8",
        header="kernels/transpose_conv2d/transpose_conv2d.h",
        params={
            "stride_h": rows.stride,
            "stride_w": columns.stride,
            "dilation_h": rows.tap_distance,
            "dilation_w": columns.tap_distance,
            "input_zero_point": input_zero_point,
            "output_zero_point": zero_point(call, "output_zero_point"),
            **activation_range(call),
        },
        dims={
            "batches": n,
            "input_h": h,
            "input_w": w,
            "input_c": c,
            "output_h": size[0],
            "output_w": size[1],
            "output_c": channels,
            "groups": groups,
            "packed_c": packed_channels(channels // groups, isa),
            "gathered": gathered,
            "scratch_bytes": gathered * largest,
            "phases": len(phases),
        },
        data={
            "input": source,
            "phases": Array("const pl_transpose_conv2d_phase", tuple(phases)),
            "weight": _joined(packed, "weight"),
            "bias": _joined(packed, "bias"),
            **{name: stage[name] for name in ("multiplier", "shift") if name in stage},
            "output": output,
        },
        scratch=gathered * largest,
    )


def _joined(packed: list[dict[str, Constant]], name: str) -> Constant:
    return Constant(np.concatenate([constants[name].array for constants in packed]))
