# SPDX-License-Identifier: Apache-2.0
"""Pools."""

from __future__ import annotations

from typing import Any

from torch.fx import Node

from aot.backends.neutron.limits.windows import too_large

_LARGEST_STRIDE_PADDED = 32


def reject_average(_: Node, a: dict[str, Any]) -> str:
    return too_large(kernel=a["kernel"], stride=a["stride"])


def reject_max(_: Node, a: dict[str, Any]) -> str:
    if any(a["padding"]) and max(a["stride"]) > _LARGEST_STRIDE_PADDED:
        return (
            f"its stride is {list(a['stride'])}, of at most {_LARGEST_STRIDE_PADDED} with padding"
        )
    return too_large(kernel=a["kernel"], stride=a["stride"])
