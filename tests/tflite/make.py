# SPDX-License-Identifier: Apache-2.0
"""Writes a small network as a .tflite file: make name output."""

import sys
from pathlib import Path

from aot.importers.tflite.testing.networks import network, streaming

_FILES = {"network": network, "streaming": streaming}

if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(_FILES[sys.argv[1]]().bytes())
