# SPDX-License-Identifier: Apache-2.0
"""Targets: what lowering is for, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch.fx import GraphModule

from aot.errors import LoweringError
from aot.pte.writer import write_pte


@dataclass(frozen=True)
class Target:
    """A set of backends.

    Attributes:
      name: as on the command line.
      emit: dialect graph, and whether its border is NHWC by request -> .pte.
    """

    name: str
    emit: Callable[[GraphModule, bool], bytes]


_TARGETS = {"cortex-m": Target("cortex-m", write_pte)}


def target_named(name: str) -> Target:
    """Raises LoweringError for a name that is no target."""
    if name not in _TARGETS:
        raise LoweringError(
            f"there is no target {name!r}; there are: {', '.join(sorted(_TARGETS))}"
        )
    return _TARGETS[name]
