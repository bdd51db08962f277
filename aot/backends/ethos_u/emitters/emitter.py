# SPDX-License-Identifier: Apache-2.0
"""What an emitter is: how one op of the dialect becomes TOSA."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aot.backends.ethos_u.tosa import Value
from aot.dialect.library import Op


def _takes_all(**_: object) -> str:
    return ""


@dataclass(frozen=True)
class Emitter:
    """Of one op; both functions take the op's arguments by name.

    Attributes:
      emit: adds operators to the graph, its first argument, and gives the op's result. Activations
        are `Value`s, constants are torch tensors.
      reject: why the NPU cannot run a call, as one phrase; "" if it can. Activations are tensors on
        the meta device.
      moves: the op computes nothing.
      adopts: the op, with arithmetic of the NPU's own, that stands for this one where the NPU runs
        it; it is what `emit` is for.
    """

    emit: Callable[..., Value]
    reject: Callable[..., str] = _takes_all
    moves: bool = False
    adopts: Op | None = None
