# SPDX-License-Identifier: Apache-2.0
"""torchao's specs of the quantized types of the dialect."""

from typing import Any

import torch

from aot.dialect.quantization import Quantization, QuantizedType
from aot.upstream.torchao import FixedQParamsQuantizationSpec, QuantizationSpec


def fixed(quantization: Quantization) -> FixedQParamsQuantizationSpec:
    """Return a spec with a known scale and zero point."""
    kind = quantization.type
    return FixedQParamsQuantizationSpec(
        dtype=kind.dtype,
        scale=quantization.scale,
        zero_point=quantization.zero_point,
        quant_min=kind.quant_min,
        quant_max=kind.quant_max,
        qscheme=torch.per_tensor_affine,
    )


def per_tensor(kind: QuantizedType, observer: Any) -> QuantizationSpec:
    """Return a spec with one scale, from an observer."""
    return QuantizationSpec(
        dtype=kind.dtype,
        quant_min=kind.quant_min,
        quant_max=kind.quant_max,
        qscheme=torch.per_tensor_symmetric if kind.symmetric else torch.per_tensor_affine,
        observer_or_fake_quant_ctr=observer,
    )


def per_channel(kind: QuantizedType, observer: Any, axis: int) -> QuantizationSpec:
    """Return a spec with a scale for each channel of weights."""
    return QuantizationSpec(
        dtype=kind.dtype,
        quant_min=kind.quant_min,
        quant_max=kind.quant_max,
        qscheme=torch.per_channel_symmetric,
        ch_axis=axis,
        observer_or_fake_quant_ctr=observer,
    )
