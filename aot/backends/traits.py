# SPDX-License-Identifier: Apache-2.0
"""What an engine needs of values: read by the quantizer, checked by the partition."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Traits:
    """What an engine needs of the values around one op of the dialect, beside what the op asks for.

    The quantizer makes the values so wherever it can choose, and the partition keeps calls that did
    not come out so away from the engine.

    Attributes:
      shares_quantization: activations and result have one scale and zero_point.
      zero_point_0: activations and result have the zero_point 0.
      weights_per_tensor: all channels of the weights have one scale.
      whole_range: where the range of the result is known, such as softmax's, its scale is that of
        all of it, not a finer one of the part that calibration shows. Only the quantizer knows of
        it: an engine rejects what did not come out so.
      int16: activations and result may be int16, also where the backend's `dtypes` lack it. Only
        the partition reads it.
    """

    shares_quantization: bool = False
    zero_point_0: bool = False
    weights_per_tensor: bool = False
    whole_range: bool = False
    int16: bool = False
