# SPDX-License-Identifier: Apache-2.0
"""Writes a small network as a .tflite file: make name output."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from aot.importers.tflite.testing import layers
from aot.importers.tflite.testing.build import File
from aot.importers.tflite.testing.networks import network, streaming

_FILES: dict[str, Callable[[], File]] = {
    "filters": partial(layers.svdf, np.random.default_rng(3), np.int16),
    "network": network,
    "sequence": partial(layers.lstm, np.random.default_rng(4)),
    "streaming": streaming,
}

if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(_FILES[sys.argv[1]]().bytes())
