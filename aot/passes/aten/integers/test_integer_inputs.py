# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.fx import GraphModule

from aot.dialect.quantization import WHOLE_NUMBERS
from aot.passes.aten.constants.fold_constants import fold_constants
from aot.passes.aten.integers.integer_inputs import integer_inputs_to_float
from aot.passes.aten.movement.remove_identities import remove_identities
from aot.testing.fixtures import check_aten_pass

X = {dtype: torch.arange(-60, 60, 5).to(dtype).reshape(2, 3, 4) for dtype in WHOLE_NUMBERS}


def _behind_casts(graph: GraphModule) -> int:
    remove_identities(graph)  # identities that export writes for casts
    count = integer_inputs_to_float(graph)
    fold_constants(graph)
    return count


FUNCTIONS: dict[str, Callable[..., object]] = {
    "cast": lambda x: x.float() / 255,
    "promoted": lambda x: x * 0.5 + x / 3,
    "moved": lambda x: x.permute(2, 0, 1).flip(0)[1:, :, None].to(torch.float32) - 1,
    "joined": lambda x: torch.cat([x, x[:1]]).clamp(3, 90) - 0.5,
    "sorted": lambda x: (x.sort(1)[0] * 0.5, x.sort(1)[1], x.median(2)[0] * 0.5, x.median() * 0.5),
    "chosen": lambda x: (torch.maximum(x, x[:1]) * 0.5, x.max() * 0.5, x.argmax(1)),
    "chosen by a mask": lambda x: torch.where(x > 7, x, torch.zeros_like(x)) * 0.5,
    "filled": lambda x: x.masked_fill(x > 7, 9) * 0.5,
    "largest": lambda x: (x.max(1)[0] * 0.5, x.amax(2) * 0.5, x.max(1)[1]),
    "compared": lambda x: (x > 7, x == x[:1]),
    "summed": lambda x: x.sum(1) + 1,
    "indices": lambda x: x.long() - x.int(),
}


@pytest.mark.parametrize("dtype", WHOLE_NUMBERS, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_whole_numbers_become_floats(name: str, dtype: torch.dtype) -> None:
    count, graph = check_aten_pass(_behind_casts, FUNCTIONS[name], inputs=[X[dtype]])
    assert count == 1
    graph.graph.eliminate_dead_code()
    values = {n: n.meta["val"] for n in graph.graph.nodes if n.op != "output"}
    narrow = [n for n, v in values.items() if isinstance(v, torch.Tensor) and v.dtype == dtype]
    assert [n.op for n in narrow] == ["placeholder"]
    assert [values[user].dtype for user in narrow[0].users] == [torch.float32]


# Functions with results in the input's own type; `x` has all numbers of it, also the smallest.
WRAPPED: dict[str, Callable[..., object]] = {
    "sum": lambda x: x + 100,
    "difference": lambda x: (x - 100) - x.flip(0),
    "product": lambda x: (x * 3).float() / 255,
    "negative": lambda x: -x,
    "magnitude": lambda x: x.abs(),
    "sign": lambda x: x.sign(),
    "bits": lambda x: (x | 3, x ^ -4, x & 15, ~x, x ^ x.flip(0), (x | x.flip(0)) & 7),
    "a number beyond the type": lambda x: (x + 300, x // 3, x % 7),
    "shifted": lambda x: (x << 3, x >> 2, x**3),
    "by minus one": lambda x: x // -1,
    "divided": lambda x: (torch.div(x, 3, rounding_mode="trunc"), x % 5, x.square()),
    "nibbles": lambda x: torch.stack([x & 15, x >> 4], -1).flatten(-2).float() / 15,
    "masks": lambda x: ((x > 3) | x, (x > 3) ^ x.long(), (x > 3) & x),
    "then chosen": lambda x: (x + 100).clamp(3, 90),
}


CASTS_AND_MOVES = {
    torch.ops.aten._to_copy.default,
    torch.ops.aten.cat.default,
    torch.ops.aten.clamp.default,
    torch.ops.aten.reshape.default,
    torch.ops.aten.unsqueeze.default,
    torch.ops.aten.view.default,
}


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16], ids=str)
@pytest.mark.parametrize("name", WRAPPED)
def test_arithmetic_wraps_around(name: str, dtype: torch.dtype) -> None:
    kind = torch.iinfo(dtype)
    every = torch.arange(kind.min, kind.max + 1).to(dtype)
    count, graph = check_aten_pass(_behind_casts, WRAPPED[name], inputs=[every])
    assert count > 1
    graph.graph.eliminate_dead_code()
    for node in graph.graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and value.dtype == dtype and node.op != "placeholder":
            assert node.target in CASTS_AND_MOVES, node


def test_other_inputs_stay() -> None:
    count, graph = check_aten_pass(_behind_casts, lambda x: x + 1, inputs=[torch.arange(4)])
    assert count == 0 and len(graph.graph.nodes) == 3
