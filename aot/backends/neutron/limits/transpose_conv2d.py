# SPDX-License-Identifier: Apache-2.0
"""Transposed convolutions."""

from __future__ import annotations

from typing import Any

from torch.fx import Node

from aot.backends.neutron.limits.windows import too_large

_LARGEST_STRIDE = 2


def reject(_: Node, a: dict[str, Any]) -> str:
    _, height, width, _ = a["weight"].meta["val"].shape
    kernel, stride = (height, width), list(a["stride"])
    if max(stride) > _LARGEST_STRIDE:
        return f"its stride is {stride}, of at most {_LARGEST_STRIDE}"
    if any(step > size for step, size in zip(stride, kernel, strict=True)):
        return f"its stride is {stride}, larger than its kernel, {list(kernel)}"
    if any(before >= size for before, size in zip(a["padding"], kernel, strict=True)):
        return f"its padding is {list(a['padding'])}, as large as its kernel, {list(kernel)}"
    return too_large(kernel=kernel)
