# SPDX-License-Identifier: Apache-2.0
"""Calls of kernels/conv2d/conv2d_taps.h and kernels/linear/linear_taps.h."""

from dataclasses import replace

import numpy as np

from kernels.common.gemm import fold_zero_point
from kernels.common.gemm_taps import (
    Block,
    TapPairs,
    digits,
    last_stage,
    with_fallbacks,
    words,
)
from kernels.common.kernel import AnyArray, KernelCall, OpCall
from kernels.common.quantization import activation_range, channel_vector, factors, zero_point
from kernels.common.rows import product_by_rows
from kernels.common.window import Windows

_LEAST_DIGITS = 3
"""Output channels of one row: of a word with four, others are computed too."""


def _folded(call: OpCall, weight: AnyArray) -> AnyArray:
    bias = channel_vector(call, "bias", len(weight))
    return fold_zero_point(call, weight, bias, zero_point(call, "input_zero_point"))


def _pairs(call: OpCall, weight: AnyArray, groups: int = 1) -> TapPairs | None:
    return TapPairs.of(
        call, weight, _folded(call, weight), *factors(call, len(weight)), groups=groups
    )


def _linear_by_digits(call: OpCall, weight: AnyArray, slower: KernelCall) -> KernelCall:
    """Return the product of one row; needs the memory of `slower`, which it replaces."""
    if len(weight) < _LEAST_DIGITS or slower.function != "pl_linear_s8":
        return slower
    last = last_stage(call, weight, _folded(call, weight), *factors(call, len(weight)))
    if last is None:
        return slower
    stage, signed = last
    return replace(
        slower,
        function=f"pl_linear_{'signed_' * signed}digits_s8",
        data={
            "input": call.tensor("input"),
            "weight": digits(weight),
            "bias": words(stage),
            "output": call.output(),
        },
    )


def linear_by_taps(call: OpCall, weight: AnyArray, slower: KernelCall) -> KernelCall:
    """Return the product of rows with weight [O, K] by pairs of taps, or `slower`.

    `slower` is its last fallback call.
    """
    source, output = call.tensor("input"), call.output()
    channels, depth = weight.shape
    rows = source.size // depth
    if rows == 1:
        return _linear_by_digits(call, weight, slower)
    pairs = _pairs(call, weight)
    if pairs is None:
        return slower

    def product(block: Block, pairs: TapPairs) -> KernelCall:
        return KernelCall(
            function=f"pl_linear_{pairs.name}taps_s8",
            header="kernels/linear/linear_taps.h",
            params=activation_range(call),
            dims={
                "rows": rows,
                "input_channels": depth,
                "output_channels": channels,
                "expanded": block.channels,
                "band": block.band,
            },
            data={"input": source, **pairs.constants(), "output": output},
            scratch=block.scratch,
            overlap=pairs.overlap(block, source, output, depth * np.arange(rows)),
            rows=product_by_rows(source, output, rows, lambda _: block.scratch),
        )

    calls = [product(block, pairs) for block in pairs.blocks()]
    return with_fallbacks(calls, slower) if calls else slower


def convolution_by_taps(
    call: OpCall, windows: Windows, weight: AnyArray, groups: int, slower: KernelCall
) -> KernelCall:
    """Return the same of a convolution with weight [O, KH, KW, C / groups]."""
    if groups == 1 and windows.cover_input:
        return linear_by_taps(call, weight.reshape(len(weight), -1), slower)
    matrix = weight.reshape(len(weight), -1)
    pairs = _pairs(call, matrix, groups)
    if pairs is None:
        return slower
    source, output = call.tensor("input"), call.output()
    dense = groups == 1 and 1 in (windows.kernel[1], windows.dilation[1])
    calls = [
        KernelCall(
            function=f"pl_conv2d_{pairs.name}{'' if dense else 'spread_'}taps_s8",
            header="kernels/conv2d/conv2d_taps.h",
            params={
                **windows.params(dilation=True),
                "input_zero_point": zero_point(call, "input_zero_point"),
                **activation_range(call),
            },
            dims={
                **windows.dims(),
                "output_c": len(weight),
                "groups": groups,
                "expanded": block.channels,
                "band": block.band,
            },
            data={"input": source, **pairs.constants(), "output": output},
            scratch=block.scratch,
            overlap=pairs.overlap(
                block, source, output, windows.starts.reshape(windows.batches, -1), groups
            ),
            rows=windows.by_rows(),
        )
        for block in pairs.blocks(groups, copied=2)
    ]
    return with_fallbacks(calls, slower) if calls else slower
