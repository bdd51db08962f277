# SPDX-License-Identifier: Apache-2.0
"""Chooses between size-optimized and fast kernels for the least flash.

A size-optimized form saves bytes if all calls use it. A fast form is the smaller choice if it is
needed anyway, or if it alone replaces several others. Therefore all calls with the same two forms
change together, as long as this saves bytes of code or constants.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace

from aot.plan.code_sizes import CodeSizes
from aot.plan.graph import Graph, Step, build_graph, operands
from aot.plan.program import PlanProgram
from kernels.common.kernel import Constant, Isa

_Forms = tuple[str, str]
"""The functions of a call in its small and in its fast form."""


def least_code(program: PlanProgram, isa: Isa, sizes: CodeSizes) -> Graph:
    """Return the graph with the least flash. With equal sizes, size-optimized forms win."""
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
    """Return the bytes of flash for constants."""
    arrays = (x.array if isinstance(x, Constant) else x.constant for x in operands(step.kernel))
    return sum(array.nbytes for array in arrays if array is not None)


def _improved(
    of_fast: frozenset[_Forms], forms: Set[_Forms], cost: Callable[[Set[_Forms]], int]
) -> frozenset[_Forms]:
    """Return the best graph found by changing one pair of forms at a time."""
    while True:
        best = min((of_fast ^ {one} for one in sorted(forms)), key=cost, default=of_fast)
        if cost(best) >= cost(of_fast):
            return of_fast
        of_fast = best
