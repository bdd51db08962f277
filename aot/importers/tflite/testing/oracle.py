# SPDX-License-Identifier: Apache-2.0
"""Results of TFLite Micro and of the dialect for a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from tflite_micro.python.tflite_micro import runtime

from aot.dialect.graph import border_nodes
from aot.dialect.reference import Reference
from aot.importers.tflite.file import read
from aot.importers.tflite.importing import import_tflite

_ARENA_BYTES = 2**20

Array = np.ndarray[Any, Any]


def tflm(data: bytes, runs: Sequence[Sequence[Array]]) -> list[list[Array]]:
    """Return the outputs of consecutive runs by TFLite Micro's interpreter.

    uint8 is given and returned as the dialect's int8.
    """
    interpreter = runtime.Interpreter.from_bytes(data, arena_size=_ARENA_BYTES)
    graph, found = read(data)[0], []
    for inputs in runs:
        for index, array in enumerate(inputs):
            unsigned = graph.tensors[graph.inputs[index]].type == "UINT8"
            interpreter.set_input(_flipped(array) if unsigned else array, index)
        interpreter.invoke()
        results = [np.array(interpreter.get_output(i)) for i in range(len(graph.outputs))]
        found.append([_flipped(y) if y.dtype == np.uint8 else y for y in results])
    return found


def _flipped(values: Array) -> Array:
    """Return uint8 as int8, or int8 as uint8: each 128 lower, or higher."""
    other = np.int8 if values.dtype == np.uint8 else np.uint8
    return (values.view(np.uint8) ^ np.uint8(128)).view(other)


def ours(data: bytes, runs: Sequence[Sequence[Array]]) -> list[list[Array]]:
    """Return the same by the dialect's reference."""
    reference = Reference(import_tflite(data))
    return [
        [y.numpy() for y in reference.reference([torch.from_numpy(np.array(x)) for x in inputs])]
        for inputs in runs
    ]


def random_runs(data: bytes, count: int = 2, seed: int = 0) -> list[list[Array]]:
    """Return inputs of random bytes."""
    generator = np.random.default_rng(seed)
    runs = []
    for _ in range(count):
        inputs = []
        for node in border_nodes(import_tflite(data))[0]:
            value = node.meta["val"]
            dtype = np.dtype(str(value.dtype).removeprefix("torch."))
            if value.is_floating_point():
                inputs.append(generator.normal(0.0, 3.0, tuple(value.shape)).astype(dtype))
                continue
            info = np.iinfo(dtype)
            inputs.append(
                generator.integers(info.min, info.max, tuple(value.shape), dtype, endpoint=True)
            )
        runs.append(inputs)
    return runs


def differences(data: bytes, count: int = 2, seed: int = 0) -> list[int]:
    """Return the differences of values, ours minus TFLite Micro's, for random inputs.

    Equal values are left out.
    """
    runs = random_runs(data, count, seed)
    found: list[int] = []
    for theirs, own in zip(tflm(data, runs), ours(data, runs), strict=True):
        for a, b in zip(own, theirs, strict=True):
            assert a.shape == b.shape and a.dtype == b.dtype, (a.dtype, a.shape, b.dtype, b.shape)
            difference = a.astype(np.float64) - b.astype(np.float64)
            found += [int(d) for d in difference[difference != 0]]
    return found
