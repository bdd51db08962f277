# SPDX-License-Identifier: Apache-2.0
"""Meaning of VEX's operations on integers."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.proofs.formulas import Bits

_BINARY: dict[str, Callable[[Bits, Bits], Bits]] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "And": lambda a, b: a & b,
    "Or": lambda a, b: a | b,
    "Xor": lambda a, b: a ^ b,
    "CmpEQ": lambda a, b: a.equals(b),
    "CmpNE": lambda a, b: ~a.equals(b),
}
_SHIFTS: dict[str, Callable[[Bits, Bits], Bits]] = {
    "Shl": lambda a, b: a << b,
    "Shr": lambda a, b: a.logical_right(b),
    "Sar": lambda a, b: a >> b,
}
_COMPARED: dict[str, Callable[[Bits, Bits], Bits]] = {
    "CmpLTS": lambda a, b: a < b,
    "CmpLES": lambda a, b: a <= b,
    "CmpLTU": lambda a, b: a.below(b),
    "CmpLEU": lambda a, b: ~b.below(a),
}


def meaning_of(operation: str) -> Callable[..., Bits]:
    """Return the function of an operation such as "Iop_Add32".

    Raises:
        NotImplementedError: not of integers, or not known here.
    """
    name = operation.removeprefix("Iop_")
    if match := re.fullmatch(r"([A-Z][A-Za-z]+?)(1|8|16|32|64)([SU]?)", name):
        kind, _, sign = match.groups()
        if kind + sign in _BINARY:
            return _BINARY[kind + sign]
        if kind in _SHIFTS and not sign:
            return lambda a, b: _SHIFTS[kind](a, b.unsigned(a.width))
        if kind + sign in _COMPARED:
            return _COMPARED[kind + sign]
        if kind == "Not":
            return lambda a: ~a
    match name:
        case "MullS32":
            return lambda a, b: a.signed(64) * b.signed(64)
        case "MullU32":
            return lambda a, b: a.unsigned(64) * b.unsigned(64)
        case "32HLto64":
            return lambda a, b: a.joined(b)
        case "64HIto32":
            return lambda a: a.part(32, 32)
    if match := re.fullmatch(r"(\d+)([SU]?)to(\d+)", name):
        _, sign, to = match.groups()
        width = int(to)
        return lambda a: a.signed(width) if sign == "S" else a.unsigned(width)
    raise NotImplementedError(operation)
