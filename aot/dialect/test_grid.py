# SPDX-License-Identifier: Apache-2.0
"""Scales holding numbers exactly."""

from __future__ import annotations

import numpy as np
import pytest

from aot.dialect.grid import common_step, exact_scale

INT8, INT16 = (-128, 127, False), (-32767, 32767, True)


@pytest.mark.parametrize(
    "values, step",
    [
        ([0.0, 0.0], 0.0),
        ([0.0, 1.0, -1.0], 1.0),
        ([3.0, -6.0, 300.0], 3.0),
        ([0.75, 0.5], 0.25),
        ([0.1, 0.2], None),
        ([1.0] * 300 + [0.5], 0.5),
        ([1.0] * 300 + [0.3], None),
        ([1.0, 1e9], None),
    ],
)
def test_the_step_of_values(values: list[float], step: float | None) -> None:
    assert common_step(np.array(values, np.float32)) == step


def test_a_step_is_of_all_samples() -> None:
    assert common_step(np.array([6.0, 9.0], np.float32), before=2.0) == 1.0


@pytest.mark.parametrize("integers", [INT8, INT16])
@pytest.mark.parametrize("low, high, step", [(-1.0, 1.0, 1.0), (0.0, 99.0, 3.0), (0.0, 0.0, 0.0)])
def test_values_of_a_step_stand_on_integers(
    integers: tuple[int, int, bool], low: float, high: float, step: float
) -> None:
    found = exact_scale(integers, (low * 1.1, high * 1.1), step, (low, high), ())
    if not step:
        assert found is None
        return
    assert found is not None
    scale, zero_point = found
    for value in (low, high, step):
        steps = round(value / scale)
        assert np.float32(steps) * np.float32(scale) == np.float32(value)
        assert integers[0] <= steps + zero_point <= integers[1]


@pytest.mark.parametrize("integers", [INT8, INT16])
def test_constants_are_multiples_in_float32(integers: tuple[int, int, bool]) -> None:
    constants = np.array([0.1, 0.3, -0.7], np.float32)
    found = exact_scale(integers, (-0.9, 0.71), None, (0.0, 0.0), constants.tolist())
    assert found is not None
    scale = np.float32(found[0])
    assert (np.rint(constants / scale) * scale == constants).all()


def test_a_constant_outside_widens_a_range_by_little_or_not_at_all() -> None:
    near = exact_scale(INT8, (0.0, 0.98), None, (0.0, 0.0), [1.0])
    assert near is not None
    scale, zero_point = near
    assert scale * (127 - zero_point) >= 1.0 > 0.98 and scale < 1.01 / 255
    assert exact_scale(INT8, (0.0, 0.98), None, (0.0, 0.0), [100.0]) is None


def test_a_grid_that_the_range_does_not_hold_is_none() -> None:
    assert exact_scale(INT8, (0.0, 300.0), 1.0, (0.0, 300.0), ()) is None
