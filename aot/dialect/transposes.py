# SPDX-License-Identifier: Apache-2.0
"""Rules for moving transposes through an op: op(transpose(x)) as transpose(op(x)).

An op declares its rule with `define(transposes=...)`. The pass for moving transposes through a
graph (aot/passes/rewrite/sink_transposes.py) does not depend on op names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

Perm = list[int]


@dataclass(frozen=True)
class TransposedValue:
    """A call on the tensors before a transpose.

    Attributes:
      arguments: arguments differing from the call on transposed tensors, except the
        tensors.
      perm: transposes the result, or each result with as many dimensions, to the result
        of the call on transposed tensors.
    """

    arguments: Mapping[str, object]
    perm: Perm


@dataclass(frozen=True)
class Transposes:
    """An op's rule for transposes.

    Attributes:
      tensors: names of the transposed arguments; all have the same permutation. If they
        broadcast, those of lower rank get leading dimensions of 1.
      move: the call before the transpose, from the arguments of the call after it and the
        permutation; None if the op needs that order.
      elementwise: each element of the result depends on one position of the tensors:
        reshapes of a single tensor pass as well.
    """

    tensors: tuple[str, ...]
    move: Callable[[Mapping[str, Any], Perm], TransposedValue | None]
    elementwise: bool = False


def elementwise(*tensors: str) -> Transposes:
    """Return the rule of an op computing every element by itself, with broadcasting."""
    return Transposes(tensors, lambda _, perm: TransposedValue({}, perm), elementwise=True)


def along_dim(tensors: str) -> Transposes:
    """Return the rule of an op along the dimension in its argument `dim`."""
    return Transposes(
        (tensors,), lambda values, perm: TransposedValue({"dim": perm[values["dim"]]}, perm)
    )


def along_dims(tensors: str) -> Transposes:
    """Return the rule of an op reducing the dimensions in its argument `dim`.

    Its argument `keepdim` decides if they stay.
    """

    def move(values: Mapping[str, Any], perm: Perm) -> TransposedValue:
        dims = sorted(perm[d] for d in values["dim"])
        return TransposedValue({"dim": dims}, reduced(perm, values["dim"], values["keepdim"]))

    return Transposes((tensors,), move)


def reduced(perm: Perm, dims: Sequence[int], keepdim: bool) -> Perm:
    """Return the permutation from the result of a reduction to the result on a transposed tensor.

    Args:
      perm: of the transposed tensor.
      dims: reduced dimensions of the transposed tensor.
      keepdim: they stay, of size 1.
    """
    if keepdim:
        return perm
    kept = [source for d, source in enumerate(perm) if d not in dims]
    return [sorted(kept).index(source) for source in kept]


def inverse(perm: Sequence[int]) -> Perm:
    """Return the permutation that undoes perm."""
    result = [0] * len(perm)
    for position, dim in enumerate(perm):
        result[dim] = position
    return result


def movement(places: torch.Tensor) -> tuple[list[int], Perm] | None:
    """Return the reshape and permutation of a data movement: sizes, then a permutation.

    Return None if no such pair gives every element once.

    Args:
      places: index map: index in the value, in its order, of each element of the result.
    """
    steps: list[int] = []
    step = 1
    for dim in reversed(range(places.dim())):
        if places.shape[dim] > 1:  # else it may stand where it is
            first, second = (places.select(dim, index).flatten()[0] for index in (0, 1))
            step = int(second - first)
        steps.insert(0, step)
        step *= places.shape[dim]
    order = sorted(range(places.dim()), key=lambda dim: -steps[dim])
    sizes, perm = [places.shape[dim] for dim in order], inverse(order)
    moved = torch.arange(places.numel()).reshape(sizes).permute(perm)
    return (sizes, perm) if torch.equal(moved, places) else None
