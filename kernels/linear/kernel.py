# SPDX-License-Identifier: Apache-2.0
"""pl::linear on kernels/linear/linear.h."""

import numpy as np

from kernels.common.gemm import fold_zero_point, pack, unordered_rows
from kernels.common.gemm_blocks import pack_blocks
from kernels.common.gemm_pairs import ROWS, Pairs
from kernels.common.kernel import AnyArray, Constant, Isa, KernelCall, OpCall, kernel
from kernels.common.overlap import Overlap, overlap
from kernels.common.quantization import activation_range, channel_vector, factors, zero_point


@kernel("pl::linear")
def linear(call: OpCall, isa: Isa) -> KernelCall:
    weight = call.constant("weight", "int8", rank=2)
    shape = call.tensor("input", "int8").shape
    call.require(
        len(shape) >= 1 and shape[-1] == weight.shape[1],
        f"input has shape {list(shape)}, weight {list(weight.shape)}: the last sizes differ",
    )
    expected = (*shape[:-1], weight.shape[0])
    output = call.output("int8").shape
    call.require(
        output == expected, f"output has shape {list(output)}, it should be {list(expected)}"
    )
    return linear_call(call, weight, isa)


def linear_call(call: OpCall, weight: AnyArray, isa: Isa) -> KernelCall:
    """The input as rows of weight.shape[1] values times weight [O, K]; arguments as pl::linear."""
    channels, depth = weight.shape
    multiplier, shift = factors(call, channels)
    bias = channel_vector(call, "bias", channels)
    source = call.tensor("input")
    rows = source.size // depth
    input_zero_point = zero_point(call, "input_zero_point")

    def product(
        function: str,
        constants: dict[str, Constant],
        scratch: int = 0,
        overlap: Overlap = (),
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
            scratch=scratch,
            overlap=overlap,
        )

    starts = depth * np.arange(rows)
    if isa == "dsp":
        folded = fold_zero_point(call, weight, bias, input_zero_point)
        pairs = Pairs.of(weight.reshape(channels, 1, depth), folded, multiplier, shift, groups=1)
        if pairs is not None:
            lanes = 1 if rows < ROWS else ROWS
            ordered = overlap(source, call.output(), starts, at_a_time=1, reads_first=True)
            scratch = 4 * lanes * pairs.steps
            return product("pl_linear_pairs_s8", pairs.constants(), scratch, ordered)
    ordered = overlap(source, call.output(), starts, unordered_rows(rows, isa))
    if isa == "mve":
        folded = fold_zero_point(call, weight, bias, input_zero_point)
        blocks = pack_blocks(weight, folded, multiplier, shift, groups=1)
        if blocks is not None:
            return product("pl_linear_blocks_s8", blocks, overlap=ordered)
    packed = pack(call, weight, bias, multiplier, shift, input_zero_point, isa)
    return product("pl_linear_s8", packed, overlap=ordered)
