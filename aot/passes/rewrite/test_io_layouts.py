# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs have the user's I/O layout, and the graph computes the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from aot.dialect.graph import border_nodes, is_channels_last
from aot.dialect.io_layout import NOT_MOVED
from aot.dialect.verifier import verify
from aot.passes.rewrite.io_layouts import KEEP, TO_NHWC_BORDER, images_moved, set_border
from aot.testing.fixtures import folded, int8_inputs, op_counts
from aot.upstream.torch import tree_leaves

IMAGE, ROW = (2, 3, 6, 5), (2, 7)
TO_LAST, FROM_LAST = "pl.nhwc_to_channels_last", "pl.channels_last_to_nhwc"


def image(channels_last: bool, shape: tuple[int, ...] = IMAGE) -> torch.Tensor:
    layout = torch.channels_last if channels_last else torch.contiguous_format
    return torch.zeros(shape).contiguous(memory_format=layout)


@pytest.mark.parametrize("layout", [KEEP, TO_NHWC_BORDER])
@pytest.mark.parametrize("last_in", [False, True])
@pytest.mark.parametrize("last_out", [False, True])
def test_images(layout: str, last_in: bool, last_out: bool) -> None:
    graph = folded(lambda a, x: a(x), nn.Conv2d(3, 3, 3, padding=1), shapes=[IMAGE])
    (x,) = int8_inputs(graph)
    (expected,) = tree_leaves(graph(x))
    before = op_counts(graph)
    images = images_moved(graph) if layout == TO_NHWC_BORDER else NOT_MOVED
    set_border(graph, [image(last_in)], [image(last_out)], images)
    verify(graph, "set_border")
    added = {op: n - before.get(op, 0) for op, n in op_counts(graph).items()}
    nhwc = layout == TO_NHWC_BORDER
    moved = {FROM_LAST: last_in and not nhwc, TO_LAST: last_out and not nhwc}
    assert {op for op in (FROM_LAST, TO_LAST) if added.get(op)} == {
        o for o, m in moved.items() if m
    }
    assert added["pl.transpose"] == (nhwc or last_in) + (nhwc or last_out)

    (source,), (result,) = border_nodes(graph)
    if nhwc:
        assert source.meta["val"].shape == (2, 6, 5, 3) == result.meta["val"].shape
        (given,) = tree_leaves(graph(x.permute(0, 2, 3, 1).contiguous()))
        given = given.permute(0, 3, 1, 2)
    else:
        assert is_channels_last(source.meta["val"]) == last_in
        given_in = x.contiguous(memory_format=torch.channels_last) if last_in else x
        (given,) = tree_leaves(graph(given_in))
        assert is_channels_last(given) == last_out
    assert torch.equal(given, expected)


def test_what_is_no_image_stays() -> None:
    graph = folded(lambda a, x: a(x), nn.Linear(7, 4), shapes=[ROW])
    before = op_counts(graph)
    assert images_moved(graph) == NOT_MOVED
    set_border(graph, [torch.zeros(ROW)], [torch.zeros(2, 4)], NOT_MOVED)
    assert op_counts(graph) == before


Function = Callable[..., object]


@pytest.mark.parametrize(
    ("function", "outputs"),
    [
        (lambda x: (y := x + x, y), 2),
        (lambda x: (x + x, x * x), 2),
        (lambda x: {"a": x + x, "b": [x * x]}, 2),
        (lambda x: (x[[0, 1]], x + x), 2),
    ],
)
def test_several_outputs(function: Function, outputs: int) -> None:
    graph = folded(function, shapes=[IMAGE])
    (x,) = int8_inputs(graph)
    expected = tree_leaves(graph(x))
    set_border(graph, [image(True)], [image(True)] * outputs, NOT_MOVED)
    verify(graph, "set_border")
    given = tree_leaves(graph(x.contiguous(memory_format=torch.channels_last)))
    assert len(given) == outputs
    for a, b in zip(given, expected, strict=True):
        assert torch.equal(a, b) and is_channels_last(a)
