# SPDX-License-Identifier: Apache-2.0
"""Elementwise ops of values with three dimensions, in four, as convolutions have them.

A value that a convolution and such an op read is otherwise in two shapes, and Vela copies it.
"""

from __future__ import annotations

from typing import Any

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters import EMITTERS
from aot.backends.ethos_u.equal_forms.row import EqualForm
from aot.backends.ethos_u.tosa import TosaGraph
from aot.backends.npus import Npu

_OPERANDS = {
    "add": ("a", "b"),
    "mul": ("a", "b"),
    "maximum": ("a", "b"),
    "minimum": ("a", "b"),
    "lut": ("input",),
}
_RANK = 3


def _is_of(op: str, npu: Npu, given: dict[str, Any]) -> bool:
    return all(given[name].dim() == _RANK for name in _OPERANDS[op])


def _widened(graph: TosaGraph, x: TosaValue | torch.Tensor) -> TosaValue | torch.Tensor:
    return x[None] if isinstance(x, torch.Tensor) else graph.reshape(x, (1, *x.shape))


def _emit(op: str, graph: TosaGraph, given: dict[str, Any]) -> TosaValue:
    wide = {name: _widened(graph, given[name]) for name in _OPERANDS[op]}
    y = EMITTERS[op].emit(graph, **{**given, **wide})
    return graph.reshape(y, y.shape[1:])


def _row(op: str) -> EqualForm:
    return EqualForm(
        f"{op}_in_four_dimensions",
        (op,),
        lambda npu, **given: _is_of(op, npu, given),
        lambda graph, **given: _emit(op, graph, given),
    )


FORMS = tuple(map(_row, _OPERANDS))
