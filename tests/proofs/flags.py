# SPDX-License-Identifier: Apache-2.0
"""Arm's condition flags in VEX: computed on demand, from the last operation that set them."""

from __future__ import annotations

from collections.abc import Callable

from tests.proofs.formulas import Bits


def _bit(value: Bits, index: int) -> Bits:
    return value.part(index, 1)


def _sum(left: Bits, right: Bits, carry: Bits) -> tuple[Bits, Bits, Bits]:
    """Return a sum, its carry and its overflow."""
    wide = left.unsigned(33) + right.unsigned(33) + carry.unsigned(33)
    total = wide.part(0, 32)
    overflow = _bit((left ^ total) & (right ^ total), 31)
    return total, _bit(wide, 32), overflow


def _nzcv(operation: int, a: Bits, b: Bits, c: Bits) -> tuple[Bits, Bits, Bits, Bits]:
    """Return N, Z, C and V after an operation of VEX's enumeration ARMG_CC_OP."""
    one, zero = Bits.of(1, 1), Bits.of(0, 1)
    match operation:
        case 0:  # the flags themselves
            return _bit(a, 31), _bit(a, 30), _bit(a, 29), _bit(a, 28)
        case 1:  # ADD
            total, carry, overflow = _sum(a, b, zero)
        case 2:  # SUB
            total, carry, overflow = _sum(a, ~b, one)
        case 3:  # ADC
            total, carry, overflow = _sum(a, b, _bit(c, 0))
        case 4:  # SBB
            total, carry, overflow = _sum(a, ~b, _bit(c, 0))
        case 5:  # LOGIC
            total, carry, overflow = a, _bit(b, 0), _bit(c, 0)
        case 6:  # MUL
            total, carry, overflow = a, _bit(c, 1), _bit(c, 0)
        case 7:  # MULL
            return _bit(b, 31), (a | b).equals(0), _bit(c, 1), _bit(c, 0)
        case _:
            raise NotImplementedError(f"flags of operation {operation}")
    return _bit(total, 31), total.equals(0), carry, overflow


def _known(operation: Bits) -> int:
    number = operation.value()
    if number is None:
        raise NotImplementedError("flags of one of several operations")
    return number


def _condition(which: Bits, a: Bits, b: Bits, c: Bits) -> Bits:
    number = _known(which)
    n, z, carry, v = _nzcv(number & 15, a, b, c)
    holds = [
        z,
        carry,
        n,
        v,
        carry & ~z,
        ~(n ^ v),
        ~z & ~(n ^ v),
        Bits.of(1, 1),
    ][number >> 5]
    return (~holds if number >> 4 & 1 and number >> 4 != 15 else holds).unsigned(32)


def _flag(index: int) -> Callable[[Bits, Bits, Bits, Bits], Bits]:
    return lambda op, a, b, c: _nzcv(_known(op), a, b, c)[index].unsigned(32)


CALLS: dict[str, Callable[..., Bits]] = {
    "armg_calculate_condition": _condition,
    "armg_calculate_flag_c": _flag(2),
    "armg_calculate_flag_v": _flag(3),
}
