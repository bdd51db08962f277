# SPDX-License-Identifier: Apache-2.0
"""An engine's needs for values: the quantizer reads them, the partition checks them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Traits:
    """An engine's needs for the values around one dialect op, in addition to the op's own.

    The quantizer fulfils them wherever it has a choice. The partition keeps calls with other values
    away from the engine.

    Attributes:
      shares_quantization: activations and result have one scale and zero_point.
      zero_point_0: activations and result have the zero_point 0.
      weights_per_tensor: all channels of the weights have one scale.
      whole_range: a result with a known range, such as softmax's, has the scale of the
        full range, not a finer one from calibration. Only the quantizer uses it: an
        engine rejects other scales itself.
      int16: activations and result may be int16, even if the backend's `dtypes` lack it.
        Only the partition reads it.
    """

    shares_quantization: bool = False
    zero_point_0: bool = False
    weights_per_tensor: bool = False
    whole_range: bool = False
    int16: bool = False
