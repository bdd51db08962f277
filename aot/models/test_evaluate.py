# SPDX-License-Identifier: Apache-2.0
"""Cost of int8 for the ready-made models.

The SQNR floors lie 1 dB below the output of `bazel run //aot/models:evaluate`. The last bits of
calibration differ between cores, and 8 inputs are few.
"""

import pytest

from aot.models.evaluate import MODELS, evaluate

SQNR_FLOOR_DB = {
    "digits": 33.4,
    "ds_cnn": 35.0,
    "mobilenet_v1": 19.2,
    "resnet8": 37.0,
    "deep_autoencoder": 24.1,
}
# Allowed share of values differing by one step from torchao's quantized graph.
#
# torchao divides in float32 and rounds half to even. The limit is twice the worst network's result
# in `evaluate`.
OFF_BY_ONE_RATE = 0.005


@pytest.mark.parametrize("model", MODELS)
def test_int8_keeps_what_float_says(model: str) -> None:
    result = evaluate(model)
    assert result.sqnr_db >= SQNR_FLOOR_DB[model]
    assert result.lockstep.largest <= 1
    assert result.off_by_one_rate <= OFF_BY_ONE_RATE
    if result.accuracy is not None:
        assert result.accuracy.int8 >= result.accuracy.float32 - 0.005
