# SPDX-License-Identifier: Apache-2.0
"""Error messages of lower() for bad samples."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import nn

from aot.errors import LoweringError
from aot.lower import lower
from aot.testing.fixtures import model, samples
from aot.upstream.torch import FakeTensorMode

GOOD = torch.ones(1, 4)
BAD_DATA: dict[str, tuple[Any, str]] = {
    "empty": ([], "calibration data are empty"),
    "none": (None, "calibration must be a list or generator .* got NoneType"),
    "a number": (3, "calibration must be .* got int"),
    "a function": (lambda: [GOOD], "got function. Call it first"),
    "nested": ([((GOOD,),)], r"sample 0 has input\[0\], but the example has input. All samples"),
    "a number in a tensor": (torch.tensor(1.0), r"calibration must be a list .* got float32\[\]"),
    "nested tensor": ([torch.nested.nested_tensor([GOOD, GOOD])], "Pass dense tensors"),
    "fake": ([FakeTensorMode().from_tensor(GOOD)], "is a FakeTensor"),
    "meta": ([GOOD.to("meta")], "on device meta"),
    "sparse": ([GOOD.to_sparse()], "layout torch.sparse_coo"),
    "count": (
        [(GOOD, GOOD, GOOD)],
        r"sample 0 is \(float32.*: too many positional arguments. Pass .* forward\(input\)",
    ),
    "shape": ([GOOD, torch.ones(1, 5)], r"sample 1, input 0 is float32\[1, 5\]"),
    "dtype": ([GOOD.double()], r"is float64\[1, 4\]"),
    "nan": ([GOOD * float("nan")], "NaN or infinite"),
    "lists of numbers": (
        [(((0.0,) * 6,), 1)],
        r"sample 0 is \(\(\(6 x float\)\), int\) .* Convert numbers with torch.tensor\(",
    ),
    "many lists of numbers": (
        [[[0.0] * 6] * 9],
        r"sample 0 is \(6 x float\): .* Pass numbers as a tensor, torch.tensor\(",
    ),
    "no tensor": ([("x",)], "sample 0, input 0 must be a tensor; got str"),
}


@pytest.mark.parametrize("name", BAD_DATA)
def test_bad_calibration_data(name: str) -> None:
    data, text = BAD_DATA[name]
    with pytest.raises(LoweringError, match=text):
        lower(nn.Linear(4, 2).eval(), [GOOD], calibration=data)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (3.0, "example_inputs is float: not a sample. Pass a tensor"),
        (None, "example_inputs is NoneType"),
        ((3,), r"example_inputs is \(int\) and has no tensor in it"),
        ((), r"missing a required argument: 'input'. Pass .* forward\(input\)"),
        ((GOOD.to("meta"),), "on device meta"),
    ],
)
def test_bad_example_inputs(given: Any, text: str) -> None:
    with pytest.raises(LoweringError, match=text):
        lower(nn.Linear(4, 2).eval(), given, calibration=[GOOD])


class ByName(nn.Module):
    def forward(self, *, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.tanh() + y


def test_arguments_that_have_names_only() -> None:
    with pytest.raises(LoweringError, match=r"Pass a dict of the arguments of forward\(\*, x, y\)"):
        lower(ByName().eval(), (GOOD, GOOD), calibration=[(GOOD, GOOD)])


def test_a_constant_that_is_no_number_is_said_to_be_one() -> None:
    module, data = model(lambda x: torch.where(x > 0.0, x, math.nan)), samples((1, 4))
    text = (
        r"is a constant of the model and holds NaN\n    at .*\n    instead: replace it by a finite"
    )
    with pytest.raises(LoweringError, match=text):
        lower(module, data[0], calibration=data)


def test_calibration_outside_a_functions_domain() -> None:
    module, data = model(lambda x: torch.log(x)), samples((1, 4))
    with pytest.raises(LoweringError, match=r"sample 0, aten.log.default gives NaN\n    at "):
        lower(module, data[0], calibration=data)
