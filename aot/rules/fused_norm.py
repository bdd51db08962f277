# SPDX-License-Identifier: Apache-2.0
"""Float op for a norm written in single ops by the user. ATen has no norm this general."""

from __future__ import annotations

import torch

_LIBRARY = torch.library.Library("pl_float", "FRAGMENT")
_LIBRARY.define(
    "normalize(Tensor input, Tensor? weight, Tensor? bias, int[] dim, bool centered, float eps, "
    "float floor, float addend) -> Tensor"
)


def _normalize(
    input: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    dim: list[int],
    centered: bool,
    eps: float,
    floor: float,
    addend: float,
) -> torch.Tensor:
    """Compute x / (max(sqrt(mean(x^2) + eps), floor) + addend) * weight + bias.

    The mean is over dimensions dim. x is the input or, if centered, the input minus its mean.
    """
    x = input - input.mean(dim, keepdim=True) if centered else input
    root: torch.Tensor = ((x * x).mean(dim, keepdim=True) + eps).sqrt().clamp(min=floor) + addend
    x = x / root
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


_LIBRARY.impl("normalize", _normalize, "CompositeImplicitAutograd")

MAX_EPSILON = 1e6
"""Limit for eps, floor and addend, in the integers of pl::normalize."""

NORMALIZE = torch.ops.pl_float.normalize.default
