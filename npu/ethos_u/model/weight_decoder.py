# SPDX-License-Identifier: Apache-2.0
"""The model's weight stream decoder, for tests: `libweight_stream.so`."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import numpy.typing as npt

_LIBRARY = ctypes.CDLL(str(Path(__file__).parent / "libweight_stream.so"))
_LIBRARY.decode_weights.restype = ctypes.c_char_p


def decode_weights(
    stream: bytes, count: int, step: int
) -> tuple[npt.NDArray[np.int16], str | None]:
    """Return `count` weights, read `step` at a time, and the error of the stream."""
    weights = np.full(count, 0x5555, np.int16)
    error = _LIBRARY.decode_weights(
        stream, len(stream), weights.ctypes.data_as(ctypes.c_void_p), count, step
    )
    return weights, error.decode() if error else None
