# SPDX-License-Identifier: Apache-2.0
"""Calls with several results: how they are made, taken apart, and checked."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.fx import Graph, GraphModule, Node

from aot.dialect.graph import Builder, Edge, Origin, edge_of
from aot.dialect.quantization import Quantization
from aot.dialect.results import gives_first_only, is_result, results_of, taken_from, values_of
from aot.dialect.verifier import VerificationError, verify
from kernels.max_with_indices.op import max_with_indices

EDGE = Edge(Quantization(0.5, 3))
ORIGIN = Origin(("aten.max",), "model.py:7 in forward: return x.max(1)")


def graph(*indices: int) -> tuple[GraphModule, Node, list[Node]]:
    """Return a module with these results of a call, the call, and the results."""
    module = GraphModule(torch.nn.Module(), Graph())
    builder = Builder(module, module.graph)
    x = builder.placeholder("x", torch.empty((2, 5, 3), dtype=torch.int8, device="meta"), EDGE)
    call = builder.call(max_with_indices, x, 1, False, edge=Edge(), origin=ORIGIN)
    results = [builder.result(call, i, edge=Edge() if i else EDGE, origin=ORIGIN) for i in indices]
    module.graph.output(tuple(results))
    module.recompile()
    return module, call, results


def test_each_result_has_its_own_value() -> None:
    module, call, results = graph(0, 1)
    verify(module, "a pass")
    assert [(v.dtype, tuple(v.shape)) for v in values_of(call)] == [
        (torch.int8, (2, 3)),
        (torch.int32, (2, 3)),
    ]
    assert [r.meta["val"] for r in results] == list(values_of(call))
    assert [edge_of(r) for r in results] == [EDGE, Edge()]
    x = torch.tensor([[[1, 9, -4], [7, 9, -4], [7, 2, -5]]], dtype=torch.int8).repeat(2, 1, 1)
    values, indices = module(x)
    assert values.tolist() == [[7, 9, -4]] * 2 and indices.tolist() == [[1, 0, 0]] * 2


def test_what_was_taken_from_where() -> None:
    _, call, (indices, values) = graph(1, 0)
    assert (taken_from(indices), taken_from(values)) == ((call, 1), (call, 0))
    assert taken_from(call) == (call, 0)
    assert results_of(call) == [indices, values] and results_of(values) == [values]
    assert is_result(values) and not is_result(call)
    assert values_of(values) == [values.meta["val"]]


@pytest.mark.parametrize(
    ("indices", "expected"), [((0,), True), ((0, 0), True), ((1,), False), ((0, 1), False)]
)
def test_gives_first_only(indices: tuple[int, ...], expected: bool) -> None:
    assert gives_first_only(graph(*indices)[1]) == expected


def _mark(index: int, **meta: object) -> Callable[[Node, list[Node]], None]:
    return lambda _, results: results[index].meta.update(meta)


def _take(index: int) -> Callable[[Node, list[Node]], None]:
    return lambda call, results: results[1].update_arg(1, index)


BROKEN: dict[str, tuple[Callable[[Node, list[Node]], None], str]] = {
    "no such result": (_take(2), "takes result 2 of 2"),
    "another result": (_take(0), "is marked torch.int32[2, 3]"),
    "shape": (_mark(0, val=torch.empty(6, dtype=torch.int8, device="meta")), "gives torch.int8[2"),
    "no scale": (_mark(0, edge=Edge()), "torch.int8 without a scale"),
    "a scale of indices": (
        _mark(1, edge=EDGE),
        "gives torch.int32, but its scale is of torch.int8",
    ),
    "another scale": (_mark(0, edge=Edge(Quantization(0.25, 3))), "differ in scale"),
    "the call's values": (
        lambda call, _: call.meta.update(val=tuple(values_of(call)[::-1])),
        "gives torch.int8[2, 3] and torch.int32[2, 3], but is marked torch.int32[2, 3] and",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_verifier_checks_each_result(name: str) -> None:
    breaks, text = BROKEN[name]
    module, call, results = graph(0, 1)
    breaks(call, results)
    with pytest.raises(VerificationError) as error:
        verify(module, "some_pass")
    assert text in str(error.value) and "model.py:7" in str(error.value)
