# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolutions; of one channel they become ordinary ones (forms.py)."""

from __future__ import annotations

from typing import Any

from torch.fx import Node

from aot.backends.neutron.limits.windows import too_large, too_many_weights
from aot.dialect.graph import shape_of


def reject(_: Node, a: dict[str, Any]) -> str:
    height, width, outputs = a["weight"].meta["val"].shape
    inputs = shape_of(a["input"])[3]
    if outputs != inputs and inputs > 1:
        return f"it makes {outputs // inputs} channels of each: the NPU makes one"
    sizes = too_large(kernel=(height, width), stride=a["stride"], dilation=a["dilation"])
    return sizes or too_many_weights(height, width, 1)
