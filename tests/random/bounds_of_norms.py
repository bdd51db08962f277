# SPDX-License-Identifier: Apache-2.0
"""Error bounds of norms and deviations, same as in bounds.py."""

from __future__ import annotations

from typing import Any

import torch

from tests.random.bounded import Bounded, computed, values_of


def deviation(target: Any, args: Any, kwargs: Any) -> Bounded:
    """Return the bound of var or std.

    std is the length of the values less their mean. Its error is at most the length of their
    errors.
    """
    value = target(*values_of(args), **kwargs)
    x, dims = args[0], args[1] if len(args) > 1 else None
    of_centered = x.error + x.error.mean(dims, keepdim=True)
    count = x.value.numel() // value.numel()
    divisor = max(count - float(kwargs.get("correction", 1)), 0.0)
    squares = of_centered.square().sum(dims, keepdim=kwargs.get("keepdim", False))
    error = (squares / divisor).sqrt()
    if "std" in str(target):
        return computed(value, error)
    return computed(value, error * (2.0 * value.clamp(min=0.0).sqrt() + error))


def _normalized(
    x: Bounded, dims: list[int], centered: bool, eps: float, floor: float, addend: float
) -> torch.Tensor:
    """Return the error of x / (max(sqrt(mean(x^2) + eps), floor) + addend), x less its mean if
    centered.

    The root's error is at most that of the root of the mean of the squares.
    """
    assert x.error is not None
    value, error = x.value, x.error
    if centered:
        value = value - value.mean(dims, keepdim=True)
        error = error + error.mean(dims, keepdim=True)
    root = (value.square().mean(dims, keepdim=True) + eps).sqrt().clamp(min=floor) + addend
    of_root = error.square().mean(dims, keepdim=True).sqrt()
    least = torch.maximum(root - of_root, torch.tensor(max(eps**0.5, floor) + addend))
    largest = (value.numel() / root.numel()) ** 0.5  # of a result
    result = (value / root).abs()
    return torch.minimum((error + result * of_root) / least, largest + result)


def _scaled(value: torch.Tensor, error: torch.Tensor, weight: Bounded | None) -> Bounded:
    return computed(value, error if weight is None else error * weight.value.abs())


_NO_WEIGHT = (None, None, None, None, 1e-5)  # for a norm with its last arguments left out


def layer_norm(target: Any, args: Any, kwargs: Any) -> Bounded:
    x, shape, weight, _, eps = (*args, *_NO_WEIGHT[len(args) :])[:5]
    error = _normalized(x, [*range(-len(shape), 0)], True, eps, 0.0, 0.0)
    return _scaled(target(*values_of(args), **values_of(kwargs)), error, weight)


def group_norm(target: Any, args: Any, kwargs: Any) -> Bounded:
    x, groups, weight, _, eps = (*args, *_NO_WEIGHT[len(args) :])[:5]
    return _of_channels(target(*values_of(args), **values_of(kwargs)), x, groups, weight, eps)


def instance_norm(target: Any, args: Any, _: Any) -> tuple[Bounded, None, None]:
    x, weight, *_ = args
    value = target(*values_of(args))[0]
    return _of_channels(value, x, x.value.shape[1], weight, args[-1]), None, None


def _of_channels(
    value: torch.Tensor, x: Bounded, groups: int, weight: Bounded | None, eps: float
) -> Bounded:
    assert x.error is not None
    shape = (x.value.shape[0], groups, -1)
    rows = Bounded(x.value.reshape(shape), x.error.reshape(shape))
    error = _normalized(rows, [2], True, eps, 0.0, 0.0).reshape(x.value.shape)
    if weight is not None:
        weight = Bounded(weight.value.reshape(-1, *[1] * (x.value.dim() - 2)), None)
    return _scaled(value, error, weight)


def norm(target: Any, args: Any, _: Any) -> Bounded:
    x, weight, _, *rest = args
    return _scaled(target(*values_of(args)), _normalized(x, *rest), weight)
