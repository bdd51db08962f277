# SPDX-License-Identifier: Apache-2.0
"""Formulas of bit vectors, and their decision by Bitwuzla."""

from __future__ import annotations

from collections.abc import Sequence

from bitwuzla import Bitwuzla, Kind, Option, Options, Result, TermManager

SECONDS = 1200  # for one decision; most take less than one second
_TERMS = TermManager()
_SIMPLIFIER = Bitwuzla(_TERMS)


class Undecided(Exception):
    """The solver had no answer within the time limit."""


class Bits:
    """A bit vector, or with width 1 a condition. Operators are those of two's complement.

    An int operand takes the width of the other one. `<` and its like compare signed numbers.
    """

    def __init__(self, term: object, width: int) -> None:
        self.term, self.width = term, width

    @staticmethod
    def of(value: int, width: int) -> Bits:
        sort = _TERMS.mk_bv_sort(width)
        return Bits(_TERMS.mk_bv_value(sort, value & ((1 << width) - 1)), width)

    @staticmethod
    def variable(name: str, width: int = 32) -> Bits:
        return Bits(_TERMS.mk_const(_TERMS.mk_bv_sort(width), name), width)

    def _apply(self, kind: Kind, other: Bits | int) -> Bits:
        right = Bits.of(other, self.width) if isinstance(other, int) else other
        assert right.width == self.width, (kind, self.width, right.width)
        return Bits(_TERMS.mk_term(kind, [self.term, right.term]), self.width)

    def _compare(self, kind: Kind, other: Bits | int) -> Bits:
        condition = self._apply(kind, other).term
        one, zero = Bits.of(1, 1).term, Bits.of(0, 1).term
        return Bits(_TERMS.mk_term(Kind.ITE, [condition, one, zero]), 1)

    def __add__(self, other: Bits | int) -> Bits:
        return self._apply(Kind.BV_ADD, other)

    def __sub__(self, other: Bits | int) -> Bits:
        return self._apply(Kind.BV_SUB, other)

    def __mul__(self, other: Bits | int) -> Bits:
        return self._apply(Kind.BV_MUL, other)

    def __and__(self, other: Bits | int) -> Bits:
        return self._apply(Kind.BV_AND, other)

    def __or__(self, other: Bits | int) -> Bits:
        return self._apply(Kind.BV_OR, other)

    def __xor__(self, other: Bits | int) -> Bits:
        return self._apply(Kind.BV_XOR, other)

    def __lshift__(self, other: Bits | int) -> Bits:
        return self._apply(Kind.BV_SHL, other)

    def __rshift__(self, other: Bits | int) -> Bits:
        """Shift arithmetically."""
        return self._apply(Kind.BV_ASHR, other)

    def logical_right(self, other: Bits | int) -> Bits:
        return self._apply(Kind.BV_SHR, other)

    def __neg__(self) -> Bits:
        return Bits(_TERMS.mk_term(Kind.BV_NEG, [self.term]), self.width)

    def __invert__(self) -> Bits:
        return Bits(_TERMS.mk_term(Kind.BV_NOT, [self.term]), self.width)

    def equals(self, other: Bits | int) -> Bits:
        return self._compare(Kind.EQUAL, other)

    def __lt__(self, other: Bits | int) -> Bits:
        return self._compare(Kind.BV_SLT, other)

    def __le__(self, other: Bits | int) -> Bits:
        return self._compare(Kind.BV_SLE, other)

    def __gt__(self, other: Bits | int) -> Bits:
        return self._compare(Kind.BV_SGT, other)

    def __ge__(self, other: Bits | int) -> Bits:
        return self._compare(Kind.BV_SGE, other)

    def below(self, other: Bits | int) -> Bits:
        """Compare unsigned numbers."""
        return self._compare(Kind.BV_ULT, other)

    def part(self, low: int, width: int) -> Bits:
        term = _TERMS.mk_term(Kind.BV_EXTRACT, [self.term], [low + width - 1, low])
        return Bits(term, width)

    def joined(self, low: Bits) -> Bits:
        """Return a vector with these bits above those of `low`."""
        term = _TERMS.mk_term(Kind.BV_CONCAT, [self.term, low.term])
        return Bits(term, self.width + low.width)

    def signed(self, width: int) -> Bits:
        """Extend, or cut, to a width."""
        if width <= self.width:
            return self.part(0, width)
        more = width - self.width
        return Bits(_TERMS.mk_term(Kind.BV_SIGN_EXTEND, [self.term], [more]), width)

    def unsigned(self, width: int) -> Bits:
        """Extend with zeros, or cut, to a width."""
        if width <= self.width:
            return self.part(0, width)
        more = width - self.width
        return Bits(_TERMS.mk_term(Kind.BV_ZERO_EXTEND, [self.term], [more]), width)

    def known(self) -> Bits:
        """Return the same value in a simpler form."""
        return Bits(_SIMPLIFIER.simplify_term(self.term), self.width)

    def value(self) -> int | None:
        """Return the number if this is a constant."""
        term = self.known().term
        return int(term.value(2), 2) if term.is_value() else None  # type: ignore[attr-defined]


def choose(condition: Bits, yes: Bits, no: Bits) -> Bits:
    assert condition.width == 1 and yes.width == no.width
    holds = _TERMS.mk_term(Kind.EQUAL, [condition.term, Bits.of(1, 1).term])
    return Bits(_TERMS.mk_term(Kind.ITE, [holds, yes.term, no.term]), yes.width)


def counterexample(
    claim: Bits, given: Sequence[Bits], variables: Sequence[Bits], seconds: int = SECONDS
) -> list[int] | None:
    """Return signed values of the variables for which the claim is wrong; None if it is proved.

    Raises:
        Undecided: no answer within the time.
    """
    options = Options()
    options.set(Option.TIME_LIMIT_PER, seconds * 1000)
    options.set(Option.PRODUCE_MODELS, True)
    solver = Bitwuzla(_TERMS, options)
    for condition in [*given, ~claim]:
        solver.assert_formula(_TERMS.mk_term(Kind.EQUAL, [condition.term, Bits.of(1, 1).term]))
    result = solver.check_sat()
    if result == Result.UNSAT:
        return None
    if result != Result.SAT:
        raise Undecided(f"no answer within {seconds} s")
    numbers = [int(solver.get_value(v.term).value(2), 2) for v in variables]
    return [
        n - (1 << v.width) if n >> (v.width - 1) else n
        for n, v in zip(numbers, variables, strict=True)
    ]
