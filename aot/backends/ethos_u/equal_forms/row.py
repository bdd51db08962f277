# SPDX-License-Identifier: Apache-2.0
"""Definition of an equal form: another conversion of one dialect op, with the same bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aot.backends.ethos_u.block import TosaValue
from aot.backends.npus import Npu

U55, U65, U85 = "u55", "u65", "u85"
_VELA = ("5.1.0",)


@dataclass(frozen=True)
class EqualForm:
    """A row of the table.

    Attributes:
      name: in the report.
      ops: dialect ops with this form.
      matches: tells if a call has the form. Takes the NPU and the op's arguments by name, as
        `Emitter.reject` does.
      emit: as `Emitter.emit`.
      products: NPUs on which the form may win.
      vela: Vela's versions with which the form was executed.
    """

    name: str
    ops: tuple[str, ...]
    matches: Callable[..., bool]
    emit: Callable[..., TosaValue]
    products: tuple[str, ...] = (U55, U65, U85)
    vela: tuple[str, ...] = _VELA

    def holds(self, npu: Npu) -> bool:
        return npu.product in self.products
