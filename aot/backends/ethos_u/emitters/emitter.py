# SPDX-License-Identifier: Apache-2.0
"""What an emitter is: how one op of the dialect becomes TOSA."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aot.backends.ethos_u.block import Value
from aot.dialect.library import Op


def _takes_all(**_: object) -> str:
    return ""


def _as_given(**_: object) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True)
class Emitter:
    """Of one op; the functions take the op's arguments by name.

    Attributes:
      emit: adds operators to the graph, its first argument, and gives the op's result. Activations
        are `Value`s, constants are torch tensors.
      reject: why the NPU cannot run a call, as one phrase; "" if it can. Activations are tensors on
        the meta device.
      moves: the op computes nothing.
      adopts: the op, with arithmetic of the NPU's own, that stands for this one where the NPU runs
        it; it is what `emit` is for.
      adapt: by name the constants that a call has where the NPU runs it, if not those it is given:
        factors in as many bits as the NPU multiplies by. Activations as for `reject`.
      not_int16: why the NPU does not run it of int16 values; "" if it does.
      int16_on_u85: it is U55 and U65 only that do not.
    """

    emit: Callable[..., Value]
    reject: Callable[..., str] = _takes_all
    moves: bool = False
    adopts: Op | None = None
    adapt: Callable[..., Mapping[str, Any]] = _as_given
    not_int16: str = ""
    int16_on_u85: bool = False
