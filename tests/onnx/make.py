# SPDX-License-Identifier: Apache-2.0
"""Writes a small network as an .onnx file: make name output."""

import sys
from collections.abc import Callable
from pathlib import Path

from aot.importers.onnx.testing.graphs import GraphCase, values
from aot.importers.onnx.testing.networks import classifier, stream
from aot.importers.onnx.testing.quantized import quantized


def layer() -> bytes:
    """Return a quantized convolution."""
    inputs = [values(1, 3, 8, 8), [values(4, 3, 3, 3)], [values(4)]]
    return quantized(GraphCase("Conv", inputs, {"pads": [1, 1, 1, 1]}))


_FILES: dict[str, Callable[[], bytes]] = {"float": classifier, "quantized": layer, "stream": stream}

if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(_FILES[sys.argv[1]]())
