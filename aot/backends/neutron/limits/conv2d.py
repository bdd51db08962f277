# SPDX-License-Identifier: Apache-2.0
"""Convolutions; those of groups become one for each (forms.py)."""

from __future__ import annotations

from typing import Any

from torch.fx import Node

from aot.backends.neutron.limits.windows import too_large, too_many_weights

_MOST_GROUPS = 10
"""Limit of ExecuTorch's own backend: each group is a branch of its own."""


def reject(_: Node, a: dict[str, Any]) -> str:
    _, height, width, channels = a["weight"].meta["val"].shape
    if a["groups"] > _MOST_GROUPS:
        return f"it has {a['groups']} groups, of at most {_MOST_GROUPS}"
    sizes = too_large(kernel=(height, width), stride=a["stride"], dilation=a["dilation"])
    return sizes or too_many_weights(height, width, channels)
