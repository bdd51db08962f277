# SPDX-License-Identifier: Apache-2.0
"""Settings of `lower` in the objects of their groups, and by their own names as in 0.2."""

from __future__ import annotations

import inspect
import warnings
from dataclasses import fields
from typing import Any

import pytest
from torch import nn

from aot.errors import LoweringError
from aot.lower import lower
from aot.options import GROUPS, Io, Measure, Quantize, grouped
from aot.testing.fixtures import samples

NET = nn.Sequential(nn.Linear(8, 8), nn.ReLU()).eval()
DATA = samples((1, 8))
CALL: Any = lower


def test_every_setting_has_one_group() -> None:
    names = [field.name for group in GROUPS.values() for field in fields(group)]
    assert len(names) == len(set(names)) == 19
    arguments = set(inspect.signature(lower).parameters)
    assert set(GROUPS) < arguments and arguments.isdisjoint(names)


def test_old_names_give_the_same_and_say_what_to_write() -> None:
    io, measure = Io(float_io=True), Measure(per_op=False)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=r"lower\(")
        new = lower(
            NET,
            DATA[0],
            calibration=DATA,
            quantize=Quantize(observer="minmax"),
            io=io,
            measure=measure,
        )
    text = (
        r"lower\(observer, float_io, per_op=...\) is deprecated: give quantize=Quantize\(...\) "
        r"and io=Io\(...\) and measure=Measure\(...\)"
    )
    with pytest.warns(DeprecationWarning, match=text) as warned:
        old = CALL(NET, DATA[0], calibration=DATA, observer="minmax", float_io=True, per_op=False)
    assert old.pte == new.pte
    (ours,) = [one for one in warned if "lower(" in str(one.message)]
    assert ours.filename == __file__


def test_a_setting_beside_its_group() -> None:
    with pytest.raises(LoweringError, match="per_op beside measure: give Measure all of it"):
        CALL(NET, DATA[0], calibration=DATA, measure=Measure(), per_op=False)


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        ({"io_layout": "nchw"}, "io_layout must be one of .* got 'nchw'"),
        ({"float_io": 1}, "float_io must be True or False .* got 1"),
        ({"equalize": "yes"}, "equalize must be True or False .* got 'yes'"),
        ({"train": 3}, "train must be a function"),
        ({"per_op": None}, "per_op must be True or False .* got None"),
        ({"min_agreement": 2.0}, "min_agreement must be a share .* got 2.0"),
    ],
)
def test_a_group_refuses_what_is_not_valid(given: dict[str, Any], refusal: str) -> None:
    with pytest.raises(LoweringError, match=refusal):
        grouped(given)


def test_groups_are_made_of_what_is_given() -> None:
    found = grouped({"target": "cortex-m", "train": None, "min_sqnr": 3.0})
    assert found == {
        "target": "cortex-m",
        "quantize": Quantize(train=None),
        "measure": Measure(min_sqnr=3.0),
    }
