# SPDX-License-Identifier: Apache-2.0
"""Sums of phases, and the exponent."""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from measure.benchmark.timing import Phases, exponent, phases_table


def _clock() -> Iterator[float]:
    yield from range(100)


def test_seconds_go_to_the_outer_phase() -> None:
    ticks = _clock()
    module: Any = ModuleType("module")
    module.inner = lambda: 1
    module.outer = lambda: module.inner() + 1
    phases = Phases(lambda: next(ticks))
    with phases.of_functions(module, {"first": ["inner"], "second": ["outer"]}):
        assert module.outer() == 2
        assert module.inner() == 1
    # Two ticks a phase: the inner one takes none inside of the outer.
    assert phases.seconds == {"second": 1, "first": 1, "total": 5}
    assert module.inner.__name__ == "<lambda>"


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_exponent(power: float) -> None:
    sizes = [8.0, 16.0, 64.0]
    assert exponent(sizes, [3 * size**power for size in sizes]) == pytest.approx(power)


def test_table_has_a_column_a_phase() -> None:
    text = phases_table({"net": {"export": 1.5, "total": 2.25}}, {"net": 4.0})
    assert text.split()[-4:] == ["net", "1.50", "2.25", "4.00"]
