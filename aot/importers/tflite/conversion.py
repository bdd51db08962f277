# SPDX-License-Identifier: Apache-2.0
"""Advice for files of other kinds than int8 and int16: how to convert the network again."""

from __future__ import annotations

from collections.abc import Iterable

from aot.importers.tflite.file import TfliteTensor

_FULL = (
    "convert the network again with `optimizations = [tf.lite.Optimize.DEFAULT]`, a "
    "`representative_dataset` and "
    "`target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]`"
)


def conversion_hint(inputs: Iterable[TfliteTensor]) -> str:
    """Return the advice for an op that is refused, from its inputs; "" if there is none."""
    tensors = list(inputs)
    types = {tensor.type for tensor in tensors}
    if any(tensor.was_unsigned for tensor in tensors):
        kind = "a file of uint8 (by a converter before 2020)"
    elif "FLOAT16" in types:
        kind = "a float file with float16 weights"
    elif "FLOAT32" in types and types & {"INT8", "INT4"}:
        kind = "a hybrid file: its weights are integers, its values float"
    elif "FLOAT32" in types:
        kind = "a float file, or a part of it"
    else:
        return ""
    return f". This is {kind}; {_FULL}"
