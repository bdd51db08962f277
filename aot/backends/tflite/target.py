# SPDX-License-Identifier: Apache-2.0
"""The target "tflite": everything runs on the CPU, and the model is a .tflite file as well."""

from __future__ import annotations

from aot.backends.cortex_m import CORTEX_M
from aot.backends.target import Exporter, Target
from aot.backends.tflite.exporting import to_tflite
from aot.backends.traits import Traits

_WHOLE = Traits(whole_range=True)
_TRAITS = {"softmax": _WHOLE, "lut": _WHOLE, "mean_pool2d": Traits(shares_quantization=True)}

TFLITE = Target("tflite", (CORTEX_M,), Exporter(to_tflite, _TRAITS))
