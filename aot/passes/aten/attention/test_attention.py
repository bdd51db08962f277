# SPDX-License-Identifier: Apache-2.0
"""The passes over attention: decompose_attention and mask_softmax. The values are torch's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch
import torch.nn.functional as F

from aot.passes.aten.attention.decompose_attention import decompose_attention
from aot.passes.aten.attention.mask_softmax import mask_softmax
from aot.passes.aten.constants.fold_constants import fold_constants
from aot.passes.aten.masks.additive_masks import additive_masks
from aot.passes.aten.movement.remove_identities import remove_identities
from aot.testing.fixtures import check_aten_pass, op_counts

Function = Callable[..., object]

ROWS, COLUMNS = 4, 6
OFF = -torch.inf


def values(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(5))


QUERY, KEY, VALUE = values(2, 4, ROWS, 8), values(2, 4, COLUMNS, 8), values(2, 4, COLUMNS, 5)
GROUPED = (QUERY, KEY[:, :2], VALUE[:, :2])
PLAIN = (QUERY, KEY, VALUE)
LAST_TWO = (torch.arange(COLUMNS) >= COLUMNS - 2)[None]
ONE_ROW = torch.ones(ROWS, COLUMNS, dtype=torch.bool).index_fill(0, torch.tensor(1), False)


def added(mask: torch.Tensor, number: float) -> torch.Tensor:
    return torch.zeros(mask.shape).masked_fill(mask, number)


# name: arguments of attention, inputs, resulting softmax (None: no change), additions.
ATTENTION: dict[str, tuple[dict[str, object], tuple[torch.Tensor, ...], str | None, int]] = {
    "plain": ({}, PLAIN, "softmax", 0),
    "scale": ({"scale": 0.25}, PLAIN, "softmax", 0),
    "causal": ({"is_causal": True}, PLAIN, "masked_softmax", 0),
    "keeps all": ({"attn_mask": ONE_ROW[:1]}, PLAIN, "softmax", 0),
    "padding": ({"attn_mask": ~LAST_TWO}, PLAIN, "masked_softmax", 0),
    "a row without keys": ({"attn_mask": ONE_ROW}, PLAIN, "masked_softmax", 0),
    "by batch and head": (
        {"attn_mask": values(2, 4, ROWS, COLUMNS) > -1},
        PLAIN,
        "masked_softmax",
        0,
    ),
    "one column for all": ({"attn_mask": ONE_ROW[:, :1]}, PLAIN, "masked_softmax", 0),
    "bias": ({"attn_mask": values(4, ROWS, COLUMNS)}, PLAIN, "softmax", 1),
    "minus infinity": ({"attn_mask": added(LAST_TWO, OFF)}, PLAIN, "masked_softmax", 0),
    "a row of minus infinity": ({"attn_mask": added(~ONE_ROW, OFF)}, PLAIN, "masked_softmax", 0),
    "bias and minus infinity": (
        {"attn_mask": values(ROWS, COLUMNS) + added(LAST_TWO, OFF)},
        PLAIN,
        "masked_softmax",
        1,
    ),
    "grouped": ({"enable_gqa": True}, GROUPED, "softmax", 0),
    "grouped, by head": (
        {"enable_gqa": True, "attn_mask": values(4, ROWS, COLUMNS) > -1},
        GROUPED,
        "masked_softmax",
        0,
    ),
    "no groups": ({"enable_gqa": True}, PLAIN, "softmax", 0),
    "rank 3": ({"is_causal": True}, (QUERY[0], KEY[0], VALUE[0]), "masked_softmax", 0),
    "rank 2": ({}, (QUERY[0, 0], KEY[0, 0], VALUE[0, 0]), "softmax", 0),
}


@pytest.mark.parametrize("name", ATTENTION)
def test_decompose_attention(name: str) -> None:
    arguments, inputs, softmax, additions = ATTENTION[name]

    def attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(query, key, value, **arguments)  # type: ignore[arg-type]

    def rewrite(module: torch.fx.GraphModule) -> int:
        remove_identities(module)
        fold_constants(module)
        return decompose_attention(module)

    changes, graph = check_aten_pass(rewrite, attention, inputs=inputs, atol=1e-6)
    counts = {op.partition(".")[2]: count for op, count in op_counts(graph).items()}
    assert changes == 1 and "scaled_dot_product_attention" not in counts
    assert counts["matmul"] == 2 and counts[str(softmax)] == 1
    assert counts.get("add", 0) == additions


def test_adds_a_mask_that_is_an_input() -> None:
    inputs = (*PLAIN, values(ROWS, COLUMNS) + added(LAST_TWO, -1e9))
    changes, graph = check_aten_pass(
        decompose_attention, F.scaled_dot_product_attention, inputs=inputs, atol=1e-6
    )
    counts = op_counts(graph)
    assert changes == 1 and counts["aten.add"] == counts["aten.clamp"] == 1


# name: function of a boolean mask for attention, added or masked tensor, number of ands
GIVEN: dict[str, tuple[Function, torch.Tensor, int]] = {
    "as it is": (lambda mask: mask, ONE_ROW, 0),
    "one for all keys": (lambda mask: mask, ONE_ROW[:, :1], 0),
    "of what is left out": (lambda mask: added(mask[:, None, None], OFF), LAST_TWO, 0),
    "for each head": (
        lambda mask: added(mask[:, None, None], OFF).expand(2, 4, 1, -1).reshape(8, 1, -1)[None],
        LAST_TWO.expand(2, -1),
        0,
    ),
    "by a product": (lambda mask: (1.0 - mask.float()) * -1e9, ~LAST_TWO, 0),
    "causal too": (
        lambda mask: added(mask, -1e9) + added(torch.ones(ROWS, COLUMNS).triu(2) > 0, OFF),
        LAST_TWO,
        1,
    ),
}


@pytest.mark.parametrize("name", GIVEN)
def test_takes_a_mask_of_booleans_that_is_an_input(name: str) -> None:
    function, given, conjunctions = GIVEN[name]

    def attention(
        query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor
    ) -> torch.Tensor:
        bias = function(mask)
        if name == "for each head":
            query, key, value = (x.flatten(0, 1)[None] for x in (query, key, value))
        assert isinstance(bias, torch.Tensor)
        return F.scaled_dot_product_attention(query, key, value, bias)

    def rewrite(module: torch.fx.GraphModule) -> int:
        remove_identities(module)
        fold_constants(module)
        additive_masks(module)
        count = decompose_attention(module)
        module.graph.eliminate_dead_code()
        return count

    changes, graph = check_aten_pass(rewrite, attention, inputs=(*PLAIN, given), atol=1e-6)
    counts = op_counts(graph)
    assert changes == counts["pl_float.masked_softmax"] == 1
    assert counts.get("aten.logical_and", 0) == conjunctions
    assert "aten.add" not in counts


X = values(2, ROWS, COLUMNS)
MASK, BIAS = values(ROWS, COLUMNS) > 0.3, values(ROWS, COLUMNS)
INFINITE, FINITE = added(MASK, OFF), added(MASK, -100.0)
BIASED = BIAS + added(MASK, -1e9)
FAR = FINITE + added(~ONE_ROW, -100.0)


def softmax(scores: torch.Tensor) -> torch.Tensor:
    return scores.softmax(-1)


# name: function, how many additions are left (None: it is left as it is).
MASKS: dict[str, tuple[Function, int | None]] = {
    "fill": (lambda x: softmax(x.masked_fill(MASK, -1e9)), 0),
    "fill by infinity": (lambda x: softmax(x.masked_fill(MASK, OFF)), 0),
    "where": (lambda x: softmax(torch.where(MASK, -1e4, x)), 0),
    "where not": (lambda x: softmax(torch.where(MASK, x, -100.0)), 0),
    "sum": (lambda x: softmax(x + INFINITE), 0),
    "sum of finite": (lambda x: softmax(FINITE + x), 0),
    "bias and mask": (lambda x: softmax(x + BIASED), 1),
    "a whole row is far": (lambda x: softmax(x + FAR), 0),
    "bias": (lambda x: softmax(x + BIAS), None),
    "fill with little": (lambda x: softmax(x.masked_fill(MASK, -5.0)), None),
    "another dimension": (lambda x: x.masked_fill(MASK, -1e9).softmax(1), None),
    "a whole row": (lambda x: softmax(x.masked_fill(~ONE_ROW, -1e9)), None),
    "that the model computes": (lambda x: softmax(x.masked_fill(x[:, :1] > 0.9, -1e9)), 0),
    "several": (
        lambda x: softmax(torch.where(x[:, :1] > 0.9, OFF, x + added(LAST_TWO, OFF))),
        0,
    ),
    "computed, in a sum": (lambda x: softmax(added(x[:, :1] > 0.9, -1e9) + x), 0),
    "computed, of little": (lambda x: softmax(added(x[:, :1] > 0.9, -5.0) + x), None),
}


@pytest.mark.parametrize(
    "function",
    [
        lambda x, keeps: softmax(x + keeps[:, None]),
        lambda x, keeps: softmax(x + (1.0 - keeps[:, None]) * -1e4),
    ],
)
def test_adds_a_given_mask_of_numbers_as_far_as_it_matters(function: Function) -> None:
    inputs = (X, (~LAST_TWO).float())
    changes, graph = check_aten_pass(mask_softmax, function, inputs=inputs, atol=1e-6)
    assert changes == op_counts(graph)["aten.clamp"] == 1


@pytest.mark.parametrize("name", MASKS)
def test_mask_softmax(name: str) -> None:
    function, additions = MASKS[name]

    def rewrite(module: torch.fx.GraphModule) -> int:
        remove_identities(module)
        fold_constants(module)
        additive_masks(module)
        count = mask_softmax(module)
        module.graph.eliminate_dead_code()
        return count

    changes, graph = check_aten_pass(rewrite, function, inputs=[X], atol=1e-6)
    assert changes == (additions is not None)
    counts = op_counts(graph)
    assert counts.get("pl_float.masked_softmax", 0) == changes
    assert additions is None or counts.get("aten.add", 0) == additions


def test_a_mask_is_as_small_as_it_can_be() -> None:
    """Repeated heads and rows are not kept."""
    mask = ~LAST_TWO.expand(2, 4, ROWS, COLUMNS)
    attention = partial(F.scaled_dot_product_attention, attn_mask=mask)
    _, graph = check_aten_pass(decompose_attention, attention, inputs=PLAIN, atol=1e-6)
    shapes = [b.shape for name, b in graph.named_buffers() if name.endswith("_mask")]
    assert [list(shape) for shape in shapes] == [[1, 1, 1, COLUMNS]]
