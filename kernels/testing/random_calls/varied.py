# SPDX-License-Identifier: Apache-2.0
"""Cases of the kernels' folders with other values, factors and constants as operands."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from kernels.common.kernel import AnyArray
from kernels.testing.case import Case
from kernels.testing.folders import folders
from kernels.testing.values import Values

MULTIPLIERS = (2**30, 2**31 - 1)
SHIFTS = (-31, -21, -20, -1, 0, 1)

_MOST_BYTES = 2000
"""Limit of the tensors of a case: a board's flash holds those of some hundred runs."""

_INDICES = ("index", "indices", "mask", "table", "exp_table")
"""Arguments with a restricted set of values."""

_Tensors = Mapping[str, AnyArray | Sequence[AnyArray]]


@cache
def cases_by_op() -> Mapping[str, Sequence[Case]]:
    """Return the cases of all folders that fit on boards."""
    found: dict[str, list[Case]] = {}
    for folder in folders():
        for case in folder.cases():
            if _bytes(case.inputs) + _bytes(case.constants) <= _MOST_BYTES:
                found.setdefault(case.op, []).append(case)
    return found


def varied(v: Values, op: str) -> Case:
    """Return a case of an op. Float32 ones stay: their tolerance is for their values."""
    case = v.choice(cases_by_op()[op])
    if case.tolerance is not None:
        return case
    wide = any(array.dtype == np.int16 for array in _arrays(case.inputs))
    inputs = {name: _other(v, name, given) for name, given in case.inputs.items()}
    constants = {name: _other(v, name, given) for name, given in case.constants.items()}
    if len(inputs) > 1 and v.integer(0, 7) == 0:
        name = v.choice(sorted(inputs))
        constants[name] = inputs.pop(name)
    attributes = {n: _attribute(v, n, given, wide) for n, given in case.attributes.items()}
    return replace(case, inputs=inputs, constants=constants, attributes=attributes)


def _arrays(tensors: _Tensors) -> list[AnyArray]:
    lists = ([given] if isinstance(given, np.ndarray) else given for given in tensors.values())
    return [array for arrays in lists for array in arrays]


def _bytes(tensors: _Tensors) -> int:
    return sum(array.nbytes for array in _arrays(tensors))


def _attribute(v: Values, name: str, given: Any, wide: bool) -> Any:
    if name.endswith("multiplier") and v.integer(0, 3) == 0:
        return v.choice(MULTIPLIERS) * (-1 if given < 0 else 1)
    if name.endswith("_shift") and name not in ("left_shift", "radicand_shift") or name == "shift":
        return v.choice(SHIFTS) if v.integer(0, 5) == 0 else given
    if name.endswith("zero_point") and not wide:
        return v.choice([given, v.zero_point()])
    return given


def _other(
    v: Values, name: str, given: AnyArray | Sequence[AnyArray]
) -> AnyArray | Sequence[AnyArray]:
    if not isinstance(given, np.ndarray):
        return [np.asarray(_other(v, name, array)) for array in given]
    if name.endswith(("multiplier", "shift")) and v.integer(0, 3) == 0:
        ends = MULTIPLIERS if name.endswith("multiplier") else SHIFTS
        some = v.int8(*given.shape) > 60
        return np.where(some, np.int32(v.choice(ends)), given)
    if name in _INDICES or given.dtype not in (np.int8, np.int16):
        return given
    wide = given.dtype == np.int16
    draws = (v.int16, v.extreme_int16) if wide else (v.int8, v.extreme_int8)
    draw = v.choice([None, *draws])
    return given if draw is None else draw(*given.shape)
