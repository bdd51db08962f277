# SPDX-License-Identifier: Apache-2.0
"""What TFLite Micro takes of boards for MLPerf Tiny's networks, as it was measured once: its
sources of August 2026 with CMSIS-NN and their own flags, the trained files of MLPerf Tiny, GCC
12.2, in QEMU, whose plugin counted the instructions of one `Invoke`. It is not built here.

Flash is code, constants and data of the program without the .tflite file, with about 2.4 KB of what
called it. RAM, on Cortex-M55 alone: the arena that was used, variables, and the stack that was
touched.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Recorded:
    """Thousands of instructions of an inference, thousands of bytes of flash, bytes of RAM."""

    instructions: int
    flash: float
    ram: int | None = None


TFLM = {
    "ds_cnn": {
        "cortex-m55": Recorded(1816, 45.3, 27348 + 656 + 1076),
        "cortex-m4": Recorded(7700, 53.9),
        "cortex-m3": Recorded(10535, 47.5),
    },
    "mobilenet_v1": {
        "cortex-m55": Recorded(6558, 45.3, 100772 + 656 + 1076),
        "cortex-m4": Recorded(24102, 53.9),
        "cortex-m3": Recorded(31959, 47.5),
    },
    "resnet8": {
        "cortex-m55": Recorded(4912, 42.1, 55028 + 656 + 1032),
        "cortex-m4": Recorded(29864, 51.7),
        "cortex-m3": Recorded(41847, 45.5),
    },
    "deep_autoencoder": {
        "cortex-m55": Recorded(150, 20.7, 9268 + 552 + 800),
        "cortex-m4": Recorded(583, 28.6),
        "cortex-m3": Recorded(956, 24.5),
    },
}
"""By network and core."""
