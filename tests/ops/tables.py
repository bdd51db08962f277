# SPDX-License-Identifier: Apache-2.0
"""The tables of this folder."""

import importlib
from types import ModuleType

TABLES = (
    "convolution",
    "elementwise",
    "integers",
    "movement",
    "pattern",
    "pooling",
    "precision",
    "product",
    "reduction",
)
MOVE_NOTHING = ("reshape", "channels_last_to_nhwc", "nhwc_to_channels_last")
"""Ops without a kernel; no case counts them."""


def table(name: str) -> ModuleType:
    return importlib.import_module(f"tests.ops.{name}")
