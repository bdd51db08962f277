# SPDX-License-Identifier: Apache-2.0
"""Placements of random graphs, against the best of all placements."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest
from torch.fx import Node

from aot.partition.placement import PlacementCosts, cheapest_regions
from aot.partition.regions import convex_regions
from aot.partition.test_regions import Case, build

CALL = 100


def ops_of(case: Case) -> list[Node]:
    return [n for n in case.module.graph.nodes if n.op == "call_function"]


def costs_of(case: Case, seed: int) -> PlacementCosts:
    """Return random costs, of which a few make the engine slower than the core."""
    draw = random.Random(seed)
    ops = ops_of(case)
    engine = {op: draw.choice([1, 20, 50, 500]) for op in ops}
    core = {op: draw.choice([10, 100, 300]) for op in ops}
    borders = {n: draw.choice([0, 10, 60]) for n in case.module.graph.nodes}
    return PlacementCosts(engine, core, CALL, borders.__getitem__)


def fewest(case: Case, costs: PlacementCosts) -> float:
    """Return the cycles of the best placement, found by trying each."""
    ops = ops_of(case)
    choices = product([False, True], repeat=len(ops))
    taken = ([op for op, on in zip(ops, choice, strict=True) if on] for choice in choices)
    return min(costs.total(convex_regions(case.module.graph, t)) for t in taken)


def random_case(seed: int) -> Case:
    draw = random.Random(seed)
    count = draw.randint(2, 8)
    reads = [(draw.randint(0, 3), draw.randint(0, 3)) for _ in range(count)]
    outputs = [draw.randint(0, 3)] * draw.randint(0, 1)
    return build(draw.randint(1, 2), reads, [True] * count, outputs)


@pytest.mark.parametrize("seed", range(60))
def test_a_chain_gets_the_best_placement(seed: int) -> None:
    count = 1 + seed % 8
    case = build(1, [(0, 0)] * count, [True] * count, [])
    costs = costs_of(case, seed)
    assert costs.total(cheapest_regions(case.module.graph, costs)) == fewest(case, costs)


def test_a_graph_gets_the_best_placement_nearly_always() -> None:
    missed = []
    for seed in range(150):
        case = random_case(seed)
        costs = costs_of(case, seed)
        found = costs.total(cheapest_regions(case.module.graph, costs))
        if found > (best := fewest(case, costs)):
            missed.append(found / best)
    assert len(missed) <= 3 and max(missed, default=1) < 1.15


def test_an_op_that_the_engine_fuses_stays_with_its_reader() -> None:
    """The engine bills the second op for both, and the core would be faster with it alone."""
    case = build(1, [(0, 0)] * 3, [True] * 3, [])
    a, b, c = ops_of(case)
    costs = PlacementCosts({a: 0, b: 150, c: 10}, {a: 400, b: 100, c: 400}, CALL, lambda _: 0)
    assert cheapest_regions(case.module.graph, costs) == [[a, b, c]]


def test_moves_alone_are_no_region() -> None:
    case = build(1, [(0, 0)] * 2, [True] * 2, [])
    a, b = ops_of(case)
    costs = PlacementCosts({a: 1, b: 500}, {a: 300, b: 10}, CALL, lambda _: 0)
    assert cheapest_regions(case.module.graph, costs) == [[a]]
    assert cheapest_regions(case.module.graph, replace(costs, moves=[a])) == []
