# SPDX-License-Identifier: Apache-2.0
"""The quantize and dequantize ops of torchao's converted graphs."""

import torch
import torchao.quantization.pt2e  # noqa: F401 (registers torch.ops.quantized_decomposed)

QUANTIZE = torch.ops.quantized_decomposed.quantize_per_tensor.default
DEQUANTIZE = torch.ops.quantized_decomposed.dequantize_per_tensor.default
