# SPDX-License-Identifier: Apache-2.0
"""A value and how far from it others may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.fx.node import map_aggregate

# float32: sums in another order, and the error of torch's approximations of functions.
RELATIVE, ABSOLUTE = 1e-4, 1e-5


@dataclass(frozen=True)
class Bounded:
    """A value, and how far from it the float model and the int8 model may be; None: they need not
    be near, as it is an index.
    """

    value: torch.Tensor
    error: torch.Tensor | None


def values_of(arguments: Any) -> Any:
    return map_aggregate(arguments, lambda a: a.value if isinstance(a, Bounded) else a)


def errors_of(arguments: Any) -> Any:
    return map_aggregate(arguments, lambda a: a.error if isinstance(a, Bounded) else a)


def computed(value: torch.Tensor, error: torch.Tensor) -> Bounded:
    return Bounded(value, error + RELATIVE * value.abs() + ABSOLUTE)
