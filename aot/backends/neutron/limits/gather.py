# SPDX-License-Identifier: Apache-2.0
"""Gathers, where they make each pixel several: nearest neighbours of a larger image."""

from __future__ import annotations

from typing import Any

from torch.fx import Node

from aot.backends.neutron.limits.resize_bilinear import reject_size
from aot.backends.tflite.emitters.movement import nearest_pixels
from aot.dialect.graph import shape_of


def reject(node: Node, a: dict[str, Any]) -> str:
    if not nearest_pixels(node, a):
        return "it gathers something else than nearest pixels"
    return reject_size(shape_of(a["input"])[1:3], shape_of(node)[1:3])
