# SPDX-License-Identifier: Apache-2.0
"""Names of torchao.

Only this module imports it, because the first import logs missing GPU parts.
"""

from __future__ import annotations

import torch.ao.quantization.fx.utils

from aot.upstream.quiet import notices_hidden

with notices_hidden():
    import torchao.quantization.pt2e  # registers torch.ops.quantized_decomposed
    import torchao.utils

from torchao.quantization.pt2e import (
    FakeQuantize,
    FixedQParamsObserver,
    HistogramObserver,
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    ObserverBase,
    PerChannelMinMaxObserver,
    PlaceholderObserver,
)
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer import (
    ComposableQuantizer,
    DerivedQuantizationSpec,
    FixedQParamsQuantizationSpec,
    QuantizationAnnotation,
    QuantizationSpec,
    QuantizationSpecBase,
    Quantizer,
    SharedQuantizationSpec,
)

__all__ = [
    "ComposableQuantizer",
    "DerivedQuantizationSpec",
    "FakeQuantize",
    "FixedQParamsObserver",
    "FixedQParamsQuantizationSpec",
    "HistogramObserver",
    "MinMaxObserver",
    "MovingAverageMinMaxObserver",
    "MovingAveragePerChannelMinMaxObserver",
    "ObserverBase",
    "PerChannelMinMaxObserver",
    "PlaceholderObserver",
    "QuantizationAnnotation",
    "QuantizationSpec",
    "QuantizationSpecBase",
    "Quantizer",
    "SharedQuantizationSpec",
    "convert_pt2e",
    "forget_modules",
    "prepare_pt2e",
]


def forget_modules() -> None:
    """Remove all quantized modules from two caches of torchao."""
    torch.ao.quantization.fx.utils.assert_and_get_unique_device.cache_clear()
    torchao.utils._assert_and_get_unique_device.cache_clear()
