# SPDX-License-Identifier: Apache-2.0
"""Access maps of quantization and requantization: memory read and written by a call."""

from kernels.common.access import Access
from kernels.common.access_forms import elements

_REQUANTIZE = "kernels/quantize/requantize.h"

ACCESS: dict[str, Access] = {
    "pl_quantize_f32_s8": elements("kernels/quantize/quantize.h", 4, 1),
    "pl_quantize_f32_s16": elements("kernels/quantize/quantize_s16.h", 4, 2),
    "pl_requantize_s16": elements(_REQUANTIZE, 2, 2),
    "pl_requantize_s16_s8": elements(_REQUANTIZE, 2, 1),
    "pl_requantize_s8_s16": elements(_REQUANTIZE, 1, 2),
}
