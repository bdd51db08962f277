# SPDX-License-Identifier: Apache-2.0
"""Layouts of a model's inputs and outputs if lowering may choose them."""

from __future__ import annotations

import torch
from torch import nn

from aot.lower import lower
from aot.options import Io
from aot.plan.pte import read_program
from aot.pte.conventions import SIDES
from aot.testing.fixtures import model, samples

IMAGE = (1, 3, 8, 6)


def test_sequences_have_their_channels_last_where_that_saves_a_transpose() -> None:
    module = model(
        lambda conv, linear, x, y: (conv(x), linear(y)), nn.Conv1d(3, 5, 3), nn.Linear(4, 3)
    )
    data = samples((1, 3, 9), (1, 7, 4))
    plain = lower(module, data[0], calibration=data)
    result = lower(module, data[0], calibration=data, io=Io(io_layout="auto"))
    layouts = [port["layout"] for side in SIDES for port in result.report[f"{side}s"]]
    assert layouts == ["nlc", "row_major", "nlc", "row_major"]
    assert [port.layout for port in read_program(result.pte).inputs] == ["nlc", "row_major"]
    given = result.moved.given(result.reference(result.moved.taken(data[0])))
    assert all(map(torch.equal, given, plain.reference(data[0])))
    assert "pl.transpose" not in [op["op"] for op in result.report["ops"]]
    assert [result.report[f"{side}s"][0]["shape"] for side in SIDES] == [[1, 9, 3], [1, 7, 5]]


def test_an_input_that_is_joined_to_what_is_made_of_it() -> None:
    """The next convolution reads an image's channels next to those of a convolution, without a
    copy.
    """
    module = model(
        lambda first, second, x: second(torch.cat([first(x), x], 1)),
        nn.Conv2d(3, 4, 3, padding=1),
        nn.Conv2d(7, 2, 3),
    )
    data = samples(IMAGE)
    plain = lower(module, data[0], calibration=data)
    result = lower(module, data[0], calibration=data, io=Io(io_layout="auto"))
    assert [p["layout"] for s in SIDES for p in result.report[f"{s}s"]] == ["nhwc", "nhwc"]
    assert "pl.transpose" not in [op["op"] for op in result.report["ops"]]
    given = result.moved.given(result.reference(result.moved.taken(data[0])))
    assert all(map(torch.equal, given, plain.reference(data[0])))


def test_an_input_that_is_used_both_ways_stays() -> None:
    module = model(lambda conv, x: (conv(x), x.flatten(1) * 2.0), nn.Conv2d(3, 4, 3))
    data = samples(IMAGE)
    result = lower(module, data[0], calibration=data, io=Io(io_layout="auto"))
    assert [p["layout"] for s in SIDES for p in result.report[f"{s}s"]] == [
        "nchw",
        "nhwc",
        "row_major",
    ]
