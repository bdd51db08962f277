# SPDX-License-Identifier: Apache-2.0
"""Cases of blocks of pixels that become channels or batches, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from aot.importers.tflite.testing.build import File
from aot.importers.tflite.testing.movement import moved
from aot.importers.tflite.testing.random_values import Random, quantized, some


def space_to_depth(random: Random, dtype: Any = np.int8) -> File:
    file, q = File(dtype), quantized(random, dtype)
    n, h, w, c, block = map(int, random.integers(1, 4, 5))
    x = file.input((n, h * block, w * block, c), q)
    fields, result = {"blockSize": block}, (n, h, w, c * block**2)
    return moved(file, "SPACE_TO_DEPTH", [x], result, q, "SpaceToDepthOptions", fields)


def depth_to_space(random: Random, dtype: Any = np.int8) -> File:
    file, q = File(dtype), quantized(random, dtype)
    n, h, w, c, block = map(int, random.integers(1, 4, 5))
    x = file.input((n, h, w, c * block**2), q)
    fields, result = {"blockSize": block}, (n, h * block, w * block, c)
    return moved(file, "DEPTH_TO_SPACE", [x], result, q, "DepthToSpaceOptions", fields)


def space_to_batch(random: Random, dtype: Any = np.int8) -> File:
    """Return a case of three or four dimensions, without pads: TFLite Micro does not set their
    value.
    """
    file, q = File(dtype), quantized(random, dtype)
    count = some(random, (1, 2, 2))
    shape, blocks = random.integers(1, 4, count), random.integers(1, 4, count)
    n, c = map(int, random.integers(1, 4, 2))
    x = file.input((n, *map(int, shape * blocks), c), q)
    result = (n * int(np.prod(blocks)), *map(int, shape), c)
    inputs = [x, file.ints(blocks), file.ints(np.zeros((count, 2)))]
    return moved(file, "SPACE_TO_BATCH_ND", inputs, result, q, "SpaceToBatchNDOptions")


def batch_to_space(random: Random, dtype: Any = np.int8) -> File:
    file, q = File(dtype), quantized(random, dtype)
    count = some(random, (1, 2, 2))
    shape, blocks = random.integers(1, 7, count), random.integers(1, 4, count)
    size = shape * blocks
    before, after = random.integers(0, (size + 1) // 2), random.integers(0, (size + 1) // 2)
    n, c = map(int, random.integers(1, 4, 2))
    x = file.input((n * int(np.prod(blocks)), *map(int, shape), c), q)
    result = (n, *map(int, size - before - after), c)
    inputs = [x, file.ints(blocks), file.ints(np.stack([before, after], 1))]
    return moved(file, "BATCH_TO_SPACE_ND", inputs, result, q, "BatchToSpaceNDOptions")
