# SPDX-License-Identifier: Apache-2.0
"""Flash, RAM and instructions of TFLite Micro and ExecuTorch for MLPerf Tiny's networks.

They were measured once.

Neither is built here. Both ran in QEMU, compiled with GCC 12.2. A plugin counted the instructions
of one inference. TFLite Micro: sources of August 2026 with CMSIS-NN and their own flags, the
trained files of MLPerf Tiny. ExecuTorch: 1.4.1 with its operators for Cortex-M and CMSIS-NN, a
selective build of each model without logging, -O2.

Flash is code, constants and data of the program without the model, with about 2.4 KB of its
caller. RAM, on Cortex-M55 alone: memory for activations, the interpreter's allocations, variables,
and the used stack.
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
"""Figures by network and core."""

EXECUTORCH_CORE = "cortex-m55"

EXECUTORCH = {
    "ds_cnn": Recorded(1840, 47.4, 20464 + 11984 + 24544 + 1920),
    "mobilenet_v1": Recorded(6646, 47.4, 138240 + 29812 + 24544 + 1896),
    "resnet8": Recorded(4928, 42.4, 49728 + 12416 + 24544 + 1896),
    "deep_autoencoder": Recorded(154, 27.7, 3200 + 5360 + 24480 + 1896),
}
"""Figures by network, on EXECUTORCH_CORE."""
