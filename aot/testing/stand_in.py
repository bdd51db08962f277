# SPDX-License-Identifier: Apache-2.0
"""A backend without hardware. It takes the requested ops. Its payload is the region's own .pte, and
a second compiled plan can run it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from torch.fx import GraphModule, Node

from aot.backends.backend import Backend
from aot.backends.cortex_m import CORTEX_M
from aot.backends.target import Target
from aot.dialect.delegate import DelegatePayload
from aot.dialect.graph import dialect_op
from aot.pte.writer import write_pte

DELEGATE_ID = "StandInBackend"


def stand_in(
    takes: Collection[str] | Callable[[Node], bool], name: str = "stand_in", **more: Any
) -> Backend:
    """Return the backend.

    Args:
      takes: names of dialect ops, e.g. {"conv2d"}; or a predicate for a node.
      name: of the backend.
      **more: fields of Backend that replace the defaults.
    """

    def reject(node: Node) -> str:
        op = dialect_op(node)
        assert op is not None  # partition asks of nothing else
        taken = takes(node) if callable(takes) else op.name in takes
        return "" if taken else f"{name} does not take {op.name} `{node.name}`"

    given = {"delegate_id": DELEGATE_ID, "compile": compile_region, "reject": reject, **more}
    return Backend(name, **given)


def compile_region(region: GraphModule) -> DelegatePayload:
    """Return the region's .pte. A stand-in needs no memory of its own."""
    return DelegatePayload(write_pte(region))


def stand_in_target(*takes: Collection[str] | Callable[[Node], bool]) -> Target:
    """Return a target with stand-ins "stand_in", "stand_in_1", … for the arguments, and the CPU."""
    names = ["stand_in", *(f"stand_in_{i}" for i in range(1, len(takes)))]
    engines = [stand_in(t, name) for t, name in zip(takes, names, strict=True)]
    return Target("stand-in", (*engines, CORTEX_M))
