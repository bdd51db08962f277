# SPDX-License-Identifier: Apache-2.0
"""Fully connected layers; where weights have a scale each channel they become convolutions
(forms.py).
"""

from __future__ import annotations

from typing import Any

from torch.fx import Node

from aot.backends.neutron.limits.windows import too_many_weights


def reject(_: Node, a: dict[str, Any]) -> str:
    return too_many_weights(1, 1, a["weight"].meta["val"].shape[1])
