# SPDX-License-Identifier: Apache-2.0
"""Forms that Vela 5.1.0 compiles wrongly: they are not emitted, and the check finds them. The
affected models are correct on the NPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.fx import GraphModule

from aot.backends.ethos_u import backend
from aot.backends.ethos_u.block import INT8, INT16, INT32, TosaValue
from aot.backends.ethos_u.emit import adopt, emitted, reject
from aot.backends.ethos_u.emitters.rescaling import ONE
from aot.backends.ethos_u.forms import FormError, check_forms
from aot.backends.ethos_u.testing.graphs import random_graph
from aot.backends.ethos_u.testing.regions import REGIONS, random_region
from aot.backends.ethos_u.tosa import TosaGraph
from aot.backends.npus import NPUS
from aot.dialect.graph import dialect_op
from aot.partition.partition import partition
from aot.partition.testing import calls, rewritten, unplaced

SEEDS = 2
U55, SMALL, U85 = "ethos-u55-128", "ethos-u55-32", "ethos-u85-256"


def _given(graph: TosaGraph, *shape: int) -> TosaValue:
    return graph.input(torch.empty(shape, dtype=torch.int8, device="meta"))


def _over_a_batch(graph: TosaGraph) -> TosaValue:
    return graph.conv2d(_given(graph, 3, 2, 2, 8), np.ones((4, 1, 1, 8)), [0] * 4, 0)


def _multiplier(graph: TosaGraph) -> TosaValue:
    x, weight = _given(graph, 1, 4, 4, 2), graph.constant(np.ones((3, 3, 2, 2)), INT8)
    window = ((1, 1), (0, 0, 0, 0), (1, 1))
    return graph._convolution("DepthwiseConv2d", x, weight, [0] * 4, 0, window, (1, 2, 2, 4))


def _sliced(graph: TosaGraph, *shape: int) -> TosaValue:
    x = _given(graph, shape[0] + 2, *shape[1:])
    return graph.slice(x, [1, *(0 for _ in shape[1:])], shape)


def _padded(graph: TosaGraph, kind: str, padding: Sequence[int]) -> TosaValue:
    """Return windows over a slice with a batch of 2."""
    x, window = _sliced(graph, 2, 4, 4, 8), ((1, 1), padding)
    if kind == "CONV2D":
        return graph.conv2d(x, np.ones((4, 3, 3, 8)), [0] * 4, 0, *window)
    if kind == "DEPTHWISE_CONV2D":
        return graph.depthwise_conv2d(x, np.ones((3, 3, 8, 1)), [0] * 8, 0, *window)
    pool = graph.max_pool2d if kind == "MAX_POOL2D" else graph.avg_pool2d
    return pool(x, (3, 3), *window)


def _sum_of_a_slice(graph: TosaGraph) -> TosaValue:
    wide = graph.rescale(_sliced(graph, 3, 4), *ONE, INT32)
    return graph.reduce_sum(graph.reshape(wide, (1, 3, 4)), 2)


def _transposed(graph: TosaGraph) -> TosaValue:
    x, weight = _sliced(graph, 1, 4, 4, 2), np.ones((3, 2, 2, 2))
    return graph.transpose_conv2d(x, weight, [0] * 3, 0, (0, 0, 0, 0), (2, 2), (8, 8))


def _product(graph: TosaGraph) -> TosaValue:
    a, b = _given(graph, 2, 3, 4), _given(graph, 2, 4, 5)
    return graph.rescale(graph.matmul(a, b, 0, 0), *ONE, INT8)


def _of_rank_four(graph: TosaGraph) -> TosaValue:
    y = graph.reshape(_product(graph), (1, 2, 3, 5))
    return graph.pad(y, [0, 0, 1, 1, 0, 0, 0, 0], 0)


def _behind_a_maximum(graph: TosaGraph) -> TosaValue:
    x = _given(graph, 2, 3, 4)
    return graph.concat([x, graph.reduce_max(x, 2)], 2)


def _turned_twice(graph: TosaGraph) -> TosaValue:
    turned = graph._transposed(_given(graph, 1, 2, 6, 32), (0, 2, 1, 3))
    return graph.reshape(graph._transposed(turned, (0, 2, 1, 3)), (1, 8, 6, 8))


def _turned(graph: TosaGraph, *shape: int) -> TosaValue:
    x = graph.table(_given(graph, 1, 63, 1, 16), range(127, -129, -1))
    return graph.reshape(graph.transpose(graph.reshape(x, (1, 9, 7, 16)), (0, 3, 1, 2)), shape)


def _of_one_weight(graph: TosaGraph, *given: tuple[int, int]) -> TosaValue:
    """Return convolutions with equal weights, each with a bias and a shift."""
    parts = []
    for bias, shift in given:
        x, weight = _given(graph, 1, 4, 4, 2), np.ones((2, 3, 3, 2))
        parts.append(graph.rescale(graph.conv2d(x, weight, [0, bias], 0), 1 << 30, shift, INT8))
    return graph.concat(parts, 3)


def _wide_sums(graph: TosaGraph) -> TosaValue:
    x = graph.input(torch.empty((1, 1, 6, 8), dtype=torch.int16, device="meta"))
    sums = graph.conv2d(x, np.ones((4, 1, 1, 8)), [0] * 4, 0)
    return graph.rescale(sums, 1 << 14, 14, INT32)


def _leading_zeros(graph: TosaGraph) -> TosaValue:
    x = _given(graph, 1, 4, 5, 8)
    wide = graph.rescale(x, *ONE, INT32)
    return graph.concat([x, graph.rescale(graph.clz(graph.add(wide, wide)), *ONE, INT8)], 3)


def _shifted(graph: TosaGraph) -> TosaValue:
    x = graph.rescale(_given(graph, 1, 4, 5, 8), *ONE, INT32)
    return graph.shift_left(x, graph.constant(np.full((1, 1, 1, 1), 3), INT32))


# name: (function making it, NPU, message)
WRONG: dict[str, tuple[Callable[[TosaGraph], TosaValue], str, str]] = {
    "1x1 over a batch": (_over_a_batch, U55, "a convolution of 1x1 over a batch of 3"),
    "multiplier": (_multiplier, U55, "a depthwise convolution with a multiplier"),
    "maximum of a slice": (
        lambda g: g.reduce_max(_sliced(g, 2, 3), 1),
        U55,
        "a slice before REDUCE_MAX",
    ),
    "sum of a slice": (_sum_of_a_slice, U55, "a slice before REDUCE_SUM"),
    "product of a slice": (
        lambda g: g.matmul(_sliced(g, 2, 3, 4), _given(g, 2, 4, 5), 0, 0),
        U55,
        "a slice before MATMUL",
    ),
    "transposed": (_transposed, U55, "a slice before TRANSPOSE_CONV2D"),
    **{
        f"{kind} of a slice": (
            partial(_padded, kind=kind, padding=padding),
            U55,
            f"a slice over a batch of 2 before {kind} with padding",
        )
        for kind, padding in (
            ("CONV2D", (1, 0, 0, 0)),
            ("DEPTHWISE_CONV2D", (0, 0, 1, 1)),
            ("AVG_POOL2D", (1, 1, 1, 1)),
            ("MAX_POOL2D", (0, 0, 1, 0)),
        )
    },
    "rank four": (_of_rank_four, U55, "PAD behind MATMUL in 4 dimensions"),
    "behind a maximum": (_behind_a_maximum, U55, "CONCAT behind REDUCE_MAX"),
    "behind a transpose": (
        lambda g: g.table(g.transpose(_given(g, 2, 3), (1, 0)), range(-128, 128)),
        SMALL,
        "a table behind a transpose, on this NPU",
    ),
    "table behind two transposes": (
        lambda g: g.table(_turned_twice(g), range(127, -129, -1)),
        U55,
        "TABLE behind two transposes",
    ),
    "clamp behind two transposes": (
        lambda g: g.clamp(_turned_twice(g), -20, 40),
        U55,
        "CLAMP behind two transposes",
    ),
    "transposed and back": (
        lambda g: g._transposed(_turned(g, 16, 9, 7), (1, 2, 0)),
        U55,
        "a transpose that undoes another one",
    ),
    "biases of one weight": (
        lambda g: _of_one_weight(g, (5, 30), (0, 31), (7, 30)),
        U55,
        "two convolutions of the same weights and scales, but other biases",
    ),
    "sums in two RESCALEs": (
        lambda g: g.rescale(_wide_sums(g), 1500000001, 33, INT16, double_round=True),
        U85,
        "sums of 48 bits, and a multiplier of more than 15 bits",
    ),
    "a unary end of a chain": (_leading_zeros, U85, "CONCAT behind .* end with ABS or CLZ"),
    "shifted and saturated": (
        lambda g: g.rescale(_shifted(g), *ONE, INT8),
        U85,
        "LOGICAL_LEFT_SHIFT before a RESCALE by 1",
    ),
    "product by channel": (
        lambda g: g.rescale(
            g.matmul(_given(g, 2, 3, 4), _given(g, 2, 4, 5), 0, 0), [1 << 30] * 5, [34] * 5, INT8
        ),
        U85,
        "a MATMUL with a scale by channel",
    ),
}
RIGHT: dict[str, Callable[[TosaGraph], TosaValue]] = {
    "1x1 in a row": lambda g: g.conv2d(_given(g, 1, 1, 6, 8), np.ones((4, 1, 1, 8)), [0] * 4, 0),
    "3x3 over a batch": lambda g: g.conv2d(
        _given(g, 3, 5, 5, 2), np.ones((4, 3, 3, 2)), [0] * 4, 0
    ),
    "maximum": lambda g: g.reduce_max(_given(g, 2, 3), 1),
    "a copied slice": lambda g: g.matmul(
        g.materialized(_sliced(g, 2, 3, 4)), _given(g, 2, 4, 5), 0, 0
    ),
    "padded at the end only": lambda g: _padded(g, "AVG_POOL2D", (0, 1, 0, 1)),
    "second operand": lambda g: g.matmul(_given(g, 2, 3, 4), _sliced(g, 2, 4, 5), 0, 0),
    "rank three": lambda g: g.pad(_product(g), [0, 0, 1, 1, 0, 0], 0),
    "behind a transpose": WRONG["behind a transpose"][0],
    "rescaled behind two transposes": lambda g: g.rescale(_turned_twice(g), *ONE, INT32),
    "table of what is copied and transposed": lambda g: g.table(
        g.transpose(g.near(_given(g, 1, 8, 6, 8)), (0, 3, 1, 2)), range(-128, 128)
    ),
    "transposed and back": lambda g: g.transpose(_turned(g, 16, 9, 7), (1, 2, 0)),
    "transposed and turned": lambda g: g.transpose(_turned(g, 16, 63), (1, 0)),
    "biases of one weight": lambda g: _of_one_weight(g, (5, 30), (5, 30), (7, 31)),
    "table of what is copied": lambda g: g.table(g.near(_given(g, 1, 8, 6, 8)), range(-128, 128)),
}


def _made(make: Callable[[TosaGraph], TosaValue], configuration: str) -> bytes:
    graph = TosaGraph(NPUS[configuration])
    graph.output(make(graph))
    return graph.serialize()


@pytest.mark.parametrize("name", WRONG)
def test_wrong_forms_are_found(name: str) -> None:
    make, configuration, message = WRONG[name]
    with pytest.raises(FormError, match=message):
        check_forms(_made(make, configuration), NPUS[configuration])


@pytest.mark.parametrize("name", RIGHT)
def test_right_forms_are_not(name: str) -> None:
    check_forms(_made(RIGHT[name], U55), NPUS[U55])


@pytest.mark.parametrize("name", [name for name, (_, npu, _) in WRONG.items() if npu == U85])
def test_forms_of_u85_are_right_elsewhere(name: str) -> None:
    check_forms(_made(WRONG[name][0], U55), NPUS[U55])


@pytest.mark.parametrize(
    "make",
    [
        lambda g: g.rescale(g.for_rescale(_wide_sums(g)), 1500000001, 33, INT16),
        lambda g: g.rescale(_wide_sums(g), 20001 << 16, 33, INT16),
    ],
)
def test_right_forms_of_wide_sums(make: Callable[[TosaGraph], TosaValue]) -> None:
    check_forms(_made(make, U85), NPUS[U85])


@pytest.mark.parametrize("configuration", [SMALL, U55, "ethos-u65-256", "ethos-u85-256"])
def test_emitters_have_right_forms_only(configuration: str) -> None:
    npu = NPUS[configuration]
    singles = [random_region(op, seed) for op in REGIONS for seed in range(SEEDS)]
    for region in [*singles, *(random_graph(seed) for seed in range(5 * SEEDS))]:
        if not any(reject(n, npu) for n in region.graph.nodes if dialect_op(n)):
            adopt(region)
            check_forms(emitted(region, npu).tosa, npu)


def _feed_forward(a: Any, b: Any, x: torch.Tensor) -> torch.Tensor:
    return torch.as_tensor(b(F.gelu(a(x))))


def _heads(a: Any, x: torch.Tensor) -> torch.Tensor:
    """Return slices of one product; others multiply and normalize them."""
    q, k, v = a(x).chunk(3, -1)
    return torch.bmm(torch.softmax(torch.bmm(q, k.transpose(1, 2)), -1), v)


# name: (model, its layers, shapes of its inputs)
MODELS: dict[str, tuple[Callable[..., Any], Sequence[nn.Module], list[tuple[int, ...]]]] = {
    "feed forward": (_feed_forward, [nn.Linear(16, 32), nn.Linear(32, 16)], [(1, 49, 16)]),
    "of a batch": (_feed_forward, [nn.Linear(16, 32), nn.Linear(32, 16)], [(4, 7, 16)]),
    "heads": (_heads, [nn.Linear(16, 48)], [(2, 12, 16)]),
    "maximum of a slice": (
        lambda x, y: (x[:, 2:] * y).amax((2, 3)),
        [],
        [(1, 12, 9, 9), (1, 10, 9, 9)],
    ),
    "sliced maximum": (lambda x: F.relu6(x[:, 1:8].amax(2)), [], [(1, 12, 400)]),
    "beside its maximum": (lambda x: torch.cat([x, x.amax(-1, True)], -1), [], [(1, 60, 40)]),
    "minimum": (lambda a, x: a(x).amin((2, 3)), [nn.Conv2d(3, 8, 3)], [(1, 3, 12, 10)]),
    "padded product": (
        lambda x, y: F.pad(torch.matmul(x, y), (1, 2, 0, 1)),
        [],
        [(1, 3, 9, 20), (1, 3, 20, 11)],
    ),
    "products side by side": (
        lambda x, y: torch.cat([torch.matmul(x, y), torch.matmul(y, x)], 1),
        [],
        [(1, 3, 12, 12), (1, 3, 12, 12)],
    ),
    "transposed slice": (
        lambda a, b, x: b(a(x)[:, :, 1:7, 2:]),
        [nn.Conv2d(3, 8, 3, padding=1), nn.ConvTranspose2d(8, 4, 2, 2)],
        [(1, 3, 8, 8)],
    ),
    "rows with an epsilon each": (
        lambda a, b, c, x: c(F.relu(b(a(x)))),
        [nn.LayerNorm(48, eps=1.0), nn.Linear(48, 48), nn.LayerNorm(48)],
        [(1, 20, 48)],
    ),
    "groups with an epsilon each": (
        lambda a, b, c, d, e, x: e(d(c(b(a(x))))),
        [
            nn.GroupNorm(4, 16, eps=1.0),
            nn.Conv2d(16, 16, 1),
            nn.GroupNorm(8, 16),
            nn.Conv2d(16, 16, 1),
            nn.InstanceNorm2d(16),
        ],
        [(1, 16, 9, 7)],
    ),
    "norm in front of a convolution": (
        lambda a, b, x: b(a(x)),
        [nn.GroupNorm(4, 16), nn.Conv2d(16, 16, 1)],
        [(1, 16, 9, 7)],
    ),
    "multiplied channels": (
        lambda a, x: torch.cat([a(x), x], 1),
        [nn.Conv2d(6, 12, 3, padding=1, groups=6)],
        [(1, 6, 12, 12)],
    ),
}


@cache
def _rewritten(name: str) -> GraphModule:
    function, layers, shapes = MODELS[name]
    torch.manual_seed(0)
    return rewritten(function, *layers, shapes=shapes)


@pytest.mark.parametrize("configuration", [U55, "ethos-u65-512"])
@pytest.mark.parametrize("name", MODELS)
def test_models_that_were_wrong_are_right(
    name: str, configuration: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run them even if they are not worth a call."""
    monkeypatch.setattr(backend, "not_worth", lambda *_: "")
    module = deepcopy(_rewritten(name))
    partition(module, unplaced(configuration, "fail"))  # executes Vela's payload
    assert len(calls(module).delegates) == 1 and calls(module).cpu == []
