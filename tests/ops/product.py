# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, and attention."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from tests.ops.bundle import as_model
from tests.ops.case import Case, Function, Input

# name, function, shapes of both sides, transposes
_PRODUCTS: tuple[tuple[str, Callable[..., Any], tuple[int, ...], tuple[int, ...], int], ...] = (
    ("mm", torch.mm, (3, 5), (5, 4), 0),
    ("bmm", torch.bmm, (2, 3, 5), (2, 5, 4), 0),
    ("mv", torch.mv, (3, 9), (9,), 0),
    ("dot", torch.dot, (9,), (9,), 0),
    ("matmul", torch.matmul, (2, 3, 4, 5), (2, 3, 5, 2), 0),
    ("matmul_vectors", torch.matmul, (7,), (7,), 0),
    ("matmul_vector_left", torch.matmul, (5,), (2, 5, 3), 0),
    ("matmul_vector_right", torch.matmul, (2, 3, 5), (5,), 0),
    ("matmul_one_for_all", torch.matmul, (2, 3, 4, 5), (5, 6), 0),
    ("matmul_both_broadcast", torch.matmul, (2, 1, 3, 4), (3, 4, 2), 0),
    ("matmul_transposed_right", lambda a, b: a @ b.mT, (2, 3, 5), (2, 4, 5), 0),
    ("matmul_transposed_left", lambda a, b: a.mT @ b, (2, 5, 3), (2, 5, 4), 1),
    ("matmul_relu", lambda a, b: functional.relu(a @ b), (3, 5), (5, 4), 0),
    ("linear_computed", functional.linear, (2, 3, 5), (4, 5), 0),
    ("einsum", partial(torch.einsum, "bhqd,bhkd->bhqk"), (2, 2, 3, 5), (2, 2, 4, 5), 0),
    ("einsum_over_batches", partial(torch.einsum, "bij,bjk->ik"), (2, 3, 4), (2, 4, 5), 1),
    ("tensordot", partial(torch.tensordot, dims=1), (2, 3, 5), (5, 4), 0),
)

# name, function of x and the constant, shapes of both, dialect ops, transposes
_CONSTANTS: tuple[
    tuple[str, Callable[..., Any], tuple[int, ...], tuple[int, ...], str, int], ...
] = (
    ("right", torch.matmul, (2, 3, 5), (5, 4), "linear", 0),
    ("right_vector", torch.matmul, (2, 3, 5), (5,), "linear", 0),
    ("right_of_one_batch", torch.matmul, (3, 5), (1, 5, 4), "linear", 0),
    ("right_of_batches", torch.matmul, (2, 3, 5), (2, 5, 4), "bmm", 0),
    ("left", lambda x, c: c @ x, (2, 3, 5), (4, 3), "linear", 2),
    ("left_vector", lambda x, c: c @ x, (2, 3, 5), (3,), "linear", 1),
    ("left_of_vector", lambda x, c: c @ x, (5,), (4, 5), "linear", 0),
    ("plus_bias", lambda x, c: x @ c + c[0], (2, 3, 5), (5, 4), "linear", 0),
    ("addmm", lambda x, c: torch.addmm(c[0], x, c), (3, 5), (5, 4), "linear", 0),
    ("einsum", partial(torch.einsum, "btc,dc->btd"), (2, 3, 5), (4, 5), "linear", 0),
)

_HEADS = (Input((1, 2, 6, 8)),) * 3
_SCALE = 1.0  # skips the multiplication of the queries, inputs in this test
_SOFT = {"bmm": 2, "softmax": 1}
_MASKED = {"bmm": 2, "masked_softmax": 1}


class Constant(Function):
    """A function of an input and a constant."""

    def __init__(self, function: Callable[..., object], constant: torch.Tensor) -> None:
        super().__init__(function)
        self.register_buffer("constant", constant)

    def forward(self, *inputs: torch.Tensor) -> object:
        return self.function(*inputs, self.constant)


def _values(shape: tuple[int, ...]) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape)))


def _attention(query: Any, key: Any, value: Any, mask: Any = None, **arguments: Any) -> Any:
    return functional.scaled_dot_product_attention(
        query, key, value, mask, scale=_SCALE, **arguments
    )


def _by_hand(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor
) -> Any:
    scores = (query @ key.transpose(-2, -1)).masked_fill(mask == 0, -1e9)
    return torch.softmax(scores, -1) @ value


def _padding() -> torch.Tensor:
    """Return a mask: False in the last columns, and in one whole row."""
    kept = torch.arange(6) < 4
    return kept & (torch.arange(6) != 2)[:, None]


def _bias() -> torch.Tensor:
    """Return the bias of scores, by head, with the last columns masked."""
    return _values((2, 6, 6)).masked_fill(torch.arange(6) >= 4, -torch.inf)


class SelfAttention(nn.Module):
    """nn.MultiheadAttention of an input with itself."""

    def __init__(
        self, need_weights: bool, mask: torch.Tensor | None = None, **arguments: Any
    ) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 2, **arguments)
        self.need_weights = need_weights
        self.register_buffer("mask", mask)

    def forward(self, x: torch.Tensor) -> Any:
        value, weights = self.attention(
            x, x, x, need_weights=self.need_weights, key_padding_mask=self.mask
        )
        return (value, weights) if self.need_weights else value


class CrossAttention(nn.Module):
    """nn.MultiheadAttention of an input with keys and values of another width."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 2, kdim=10, vdim=10, batch_first=True)

    def forward(self, x: torch.Tensor, memory: torch.Tensor) -> Any:
        return self.attention(x, memory, memory, need_weights=False)[0]


class FusedHeads(nn.Module):
    """Attention as vision transformers write it: one layer for queries, keys and values."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(16, 48)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        heads = self.qkv(x).reshape(batch, length, 3, 2, width // 2).permute(2, 0, 3, 1, 4)
        query, key, value = heads.unbind(0)
        weights = ((query @ key.transpose(-2, -1)) * (width // 2) ** -0.5).softmax(dim=-1)
        output: torch.Tensor = (weights @ value).transpose(1, 2).reshape(batch, length, width)
        return output


def _attention_cases() -> Iterator[Case]:
    yield Case("attention", partial(Function, _attention), _HEADS, _SOFT)
    default = partial(Function, functional.scaled_dot_product_attention)
    yield Case("attention_scaled", default, _HEADS, {**_SOFT, "lut": 1})
    causal = partial(_attention, is_causal=True)
    yield Case("attention_causal", partial(Function, causal), _HEADS, _MASKED)
    longer = (_HEADS[0], Input((1, 2, 9, 8)), Input((1, 2, 9, 5)))
    yield Case("attention_causal_of_more_keys", partial(Function, causal), longer, _MASKED)
    grouped = (Input((1, 4, 6, 8)), *_HEADS[1:])
    gqa = partial(_attention, enable_gqa=True)
    yield Case("attention_grouped", partial(Function, gqa), grouped, _SOFT)
    gqa = partial(gqa, is_causal=True)
    yield Case("attention_grouped_causal", partial(Function, gqa), grouped, _MASKED)
    padding = partial(Constant, _attention, _padding())
    yield Case("attention_boolean_mask", padding, _HEADS, _MASKED)
    bias = partial(Constant, _attention, _bias())
    yield Case("attention_added_mask", bias, _HEADS, {**_MASKED, "add": 1})
    bias = partial(Constant, _attention, _values((6, 6)))
    yield Case("attention_bias", bias, _HEADS, {**_SOFT, "add": 1})
    only = partial(Constant, _attention, torch.zeros(6, 6).masked_fill(torch.eye(6) > 0, -1e9))
    yield Case("attention_only_masked", only, _HEADS, _MASKED)
    given = (*_HEADS, Input((6, 6)))
    ops = {**_SOFT, "add": 1, "lut": 1}
    yield Case("attention_mask_given", partial(Function, _attention), given, ops)
    by_hand = partial(Constant, _by_hand, torch.ones(6, 6).tril())
    yield Case("attention_by_hand", by_hand, _HEADS, _MASKED)


def _layer_cases() -> Iterator[Case]:
    """Yield attention layers.

    If a layer makes queries, keys and values, each has a layer of its own, including the scale. The
    last layer reads the heads in place, as a convolution.
    """
    x = (Input((1, 6, 16)),)
    layers = {"linear": 3, "conv2d": 1}
    yield Case(
        "self_attention",
        partial(SelfAttention, False, batch_first=True),
        x,
        {**layers, **_SOFT},
    )
    yield Case(
        "self_attention_of_two_sequences",
        partial(SelfAttention, False),
        (Input((6, 2, 16)),),
        {"linear": 4, **_SOFT},
        1,
    )
    yield Case(
        "self_attention_with_weights",
        partial(SelfAttention, True, batch_first=True),
        x,
        {**layers, **_SOFT, "mean": 1},
    )
    padding = torch.tensor([[False] * 4 + [True] * 2])
    yield Case(
        "self_attention_with_padding",
        partial(SelfAttention, False, padding, batch_first=True),
        x,
        {**layers, **_MASKED},
    )
    yield Case("cross_attention", CrossAttention, (*x, Input((1, 5, 10))), {**layers, **_SOFT})
    yield Case("fused_heads", FusedHeads, x, {**_SOFT, "linear": 3}, 1)


def cases() -> Iterator[Case]:
    for name, function, a, b, transposes in _PRODUCTS:
        inputs = (Input(a), Input(b, -0.5, 1.0))
        yield Case(name, partial(Function, function), inputs, {"bmm": 1}, transposes)
    yield Case("matmul_itself", partial(Function, lambda a: a @ a), (Input((5, 5)),), {"bmm": 1})
    addends = (Input((4,)), Input((3, 5)), Input((5, 4)))
    yield Case("addmm", partial(Function, torch.addmm), addends, {"bmm": 1, "add": 1})
    scaled = partial(Function, partial(torch.addmm, beta=0, alpha=0.5))
    yield Case("addmm_scaled", scaled, addends, {"bmm": 1, "lut": 1})
    addends = (Input((2, 3, 4)), Input((2, 3, 5)), Input((2, 5, 4)))
    yield Case("baddbmm", partial(Function, torch.baddbmm), addends, {"bmm": 1, "add": 1})
    for name, function, x, shape, op, transposes in _CONSTANTS:
        module = partial(Constant, function, _values(shape))
        yield Case(f"constant_{name}", module, (Input(x),), {op: 1}, transposes)
    yield from _attention_cases()
    yield from _layer_cases()


factory, calibration, test_inputs = as_model(cases)
