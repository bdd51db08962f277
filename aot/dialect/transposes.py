# SPDX-License-Identifier: Apache-2.0
"""How transposes pass through an op: op(transpose(x)) as transpose(op(x)).

An op declares it with `define(transposes=...)`. The pass that moves transposes through a graph
(aot/passes/rewrite/sink_transposes.py) knows no such op by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

Perm = list[int]


@dataclass(frozen=True)
class Moved:
    """A call on the tensors as they are before a transpose.

    Attributes:
      arguments: what differs from the call on transposed tensors, but for the tensors.
      perm: transposes the result, or each of them that has as many dimensions, to what the call on
        transposed tensors gives.
    """

    arguments: Mapping[str, object]
    perm: Perm


@dataclass(frozen=True)
class Transposes:
    """What an op says of transposes.

    Attributes:
      tensors: names of the arguments that are transposed, all by the same permutation. Where they
        broadcast, those of lower rank count with 1s in front.
      move: the call before the transpose, from the arguments of the call behind it and the
        permutation; None if the op needs that order.
      elementwise: each element of the result comes from one place of the tensors: reshapes of a
        single tensor pass as well.
    """

    tensors: tuple[str, ...]
    move: Callable[[Mapping[str, Any], Perm], Moved | None]
    elementwise: bool = False


def elementwise(*tensors: str) -> Transposes:
    """Of an op that computes every element by itself, with broadcasting."""
    return Transposes(tensors, lambda _, perm: Moved({}, perm), elementwise=True)


def along_dim(tensors: str) -> Transposes:
    """Of an op that works along the dimension that its argument `dim` names."""
    return Transposes((tensors,), lambda values, perm: Moved({"dim": perm[values["dim"]]}, perm))


def along_dims(tensors: str) -> Transposes:
    """Of an op that reduces the dimensions that its argument `dim` lists; `keepdim` says whether
    they stay.
    """

    def move(values: Mapping[str, Any], perm: Perm) -> Moved:
        dims = sorted(perm[d] for d in values["dim"])
        return Moved({"dim": dims}, reduced(perm, values["dim"], values["keepdim"]))

    return Transposes((tensors,), move)


def reduced(perm: Perm, dims: Sequence[int], keepdim: bool) -> Perm:
    """Transposes the result of a reduction to that of the reduction of a transposed tensor.

    Args:
      perm: of the transposed tensor.
      dims: of the transposed tensor, that are reduced.
      keepdim: they stay, of size 1.
    """
    if keepdim:
        return perm
    kept = [source for d, source in enumerate(perm) if d not in dims]
    return [sorted(kept).index(source) for source in kept]


def inverse(perm: Sequence[int]) -> Perm:
    """The permutation that undoes perm."""
    result = [0] * len(perm)
    for position, dim in enumerate(perm):
        result[dim] = position
    return result


def movement(places: torch.Tensor) -> tuple[list[int], Perm] | None:
    """How a value is moved: sizes to reshape it to, and the permutation that follows; None if no
    such two give every element once.

    Args:
      places: where each element of the result is in the value, counted in its order.
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
