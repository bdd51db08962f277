# SPDX-License-Identifier: Apache-2.0
"""Definition of an emitter: the conversion of one dialect op to TOSA."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aot.backends.ethos_u.block import TosaValue
from aot.dialect.library import Op


def _takes_all(**_: object) -> str:
    return ""


def _as_given(**_: object) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True)
class Emitter:
    """Emitter of one op; the functions take the op's arguments by name.

    Attributes:
      emit: adds operators to the graph, its first argument, and returns the op's result.
        Activations are `Value`s, constants are torch tensors.
      reject: the reason why the NPU cannot run a call, as one phrase; "" if it can.
        Activations are tensors on the meta device.
      moves: the op computes nothing.
      adopts: the replacement op on the NPU, with the NPU's own arithmetic. `emit` is for
        this op.
      adapt: constants of a call on the NPU, by name, if they differ from the given ones:
        factors in the bits of the NPU's multiplier. Activations as for `reject`.
      not_int16: the reason why the NPU does not run it with int16 values; "" if it does.
      int16_on_u85: True if `not_int16` applies to U55 and U65 only.
    """

    emit: Callable[..., TosaValue]
    reject: Callable[..., str] = _takes_all
    moves: bool = False
    adopts: Op | None = None
    adapt: Callable[..., Mapping[str, Any]] = _as_given
    not_int16: str = ""
    int16_on_u85: bool = False
