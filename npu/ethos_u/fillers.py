# SPDX-License-Identifier: Apache-2.0
"""Test inputs for a payload."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
_Filler = Callable[[np.random.Generator, tuple[int, ...], Any, int, int], Array]

_FILLERS: dict[str, _Filler] = {
    "random": lambda rng, shape, dtype, low, high: rng.integers(
        low, high, shape, dtype, endpoint=True
    ),
    "extremes": lambda rng, shape, dtype, low, high: rng.choice(
        np.array([low, high], dtype), shape
    ),
    "minimum": lambda rng, shape, dtype, low, high: np.full(shape, low, dtype),
    "maximum": lambda rng, shape, dtype, low, high: np.full(shape, high, dtype),
    "small": lambda rng, shape, dtype, low, high: rng.integers(-8, 8, shape, dtype, endpoint=True),
}


def all_inputs(
    tensors: Sequence[tuple[tuple[int, ...], Any]],
) -> Iterator[tuple[str, list[Array]]]:
    """Yield kinds of inputs for shapes and integer dtypes, always the same."""
    for kind, fill in _FILLERS.items():
        rng = np.random.default_rng(zlib.crc32(kind.encode()))
        limits = [np.iinfo(dtype) for _, dtype in tensors]
        yield (
            kind,
            [
                fill(rng, shape, dtype, int(limit.min), int(limit.max))
                for (shape, dtype), limit in zip(tensors, limits, strict=True)
            ],
        )
