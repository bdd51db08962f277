# SPDX-License-Identifier: Apache-2.0
"""The choice among small and fast kernels that takes the least flash.

A small form saves bytes where all calls take it. Where one that is only fast is there anyway, or
does alone for what takes several others, it is the smaller one. So all calls that have the same two
forms change from one to the other together, as long as that saves bytes of code or constants.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace

from aot.plan.code_sizes import CodeSizes
from aot.plan.graph import Graph, Step, build_graph, operands
from aot.plan.program import Program
from kernels.common.kernel import Constant, Isa

_Forms = tuple[str, str]
"""The functions of a call in its small and in its fast form."""


def least_code(program: Program, isa: Isa, sizes: CodeSizes) -> Graph:
    """The graph that takes the least flash; the small forms where others take no less."""
    small, fast = (build_graph(program, isa, small=small) for small in (True, False))
    pairs = list(zip(small.steps, fast.steps, strict=True))
    constants = [(_constants(a), _constants(b)) for a, b in pairs]
    forms = frozenset(map(_forms, pairs))

    def cost(of_fast: Set[_Forms]) -> int:
        chosen = [_forms(pair) in of_fast for pair in pairs]
        functions = (pair[i].kernel.function for pair, i in zip(pairs, chosen, strict=True))
        of_data = sum(both[i] for both, i in zip(constants, chosen, strict=True))
        return sizes.of(functions) + of_data

    found = [_improved(start, forms, cost) for start in (frozenset[_Forms](), forms)]
    of_fast = min(found, key=cost)
    return replace(small, steps=tuple(pair[_forms(pair) in of_fast] for pair in pairs))


def _forms(pair: tuple[Step, Step]) -> _Forms:
    return pair[0].kernel.function, pair[1].kernel.function


def _constants(step: Step) -> int:
    """Bytes of flash."""
    arrays = (x.array if isinstance(x, Constant) else x.constant for x in operands(step.kernel))
    return sum(array.nbytes for array in arrays if array is not None)


def _improved(
    of_fast: frozenset[_Forms], forms: Set[_Forms], cost: Callable[[Set[_Forms]], int]
) -> frozenset[_Forms]:
    """The best that is found by changing one pair of forms after the other."""
    while True:
        best = min((of_fast ^ {one} for one in sorted(forms)), key=cost, default=of_fast)
        if cost(best) >= cost(of_fast):
            return of_fast
        of_fast = best
