# SPDX-License-Identifier: Apache-2.0
"""Writes a network of MLPerf Tiny as a .tflite file: NAME PATH."""

import sys
from pathlib import Path

from measure.tflite.tflm import exported_network

if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(exported_network(sys.argv[1]))
