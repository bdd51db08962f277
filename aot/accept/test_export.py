# SPDX-License-Identifier: Apache-2.0
"""The ATen graph: forms that the rules know, and no BatchNorms."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.ao.nn.quantized import FloatFunctional
from torch.export import default_decompositions

from aot.accept.export import export_aten
from aot.rules import KEPT
from aot.support.support import check_supported
from aot.testing.fixtures import model, op_counts, samples

IMAGE, LINE, ROW = (2, 4, 6, 5), (2, 4, 9), (3, 4)
X = torch.ones(1, 4)

# name: function, children, shape, ops expected in the ATen graph
FORMS: dict[str, tuple[Callable[..., object], list[nn.Module], tuple[int, ...], dict[str, int]]] = {
    "sum by a module of torch's quantization, in float": (
        lambda f, x: f.add(x, x.tanh()),
        [FloatFunctional()],
        (1, 4),
        {"aten.add": 1, "aten.tanh": 1},
    ),
    "conv bn": (
        lambda a, b, x: b(a(x)),
        [nn.Conv2d(4, 6, 3), nn.BatchNorm2d(6)],
        IMAGE,
        {"aten.convolution": 1},
    ),
    "conv without bias, bn without affine": (
        lambda a, b, x: b(a(x)),
        [nn.Conv2d(4, 6, 3, bias=False), nn.BatchNorm2d(6, affine=False)],
        IMAGE,
        {"aten.convolution": 1},
    ),
    "depthwise bn": (
        lambda a, b, x: b(a(x)),
        [nn.Conv2d(4, 8, 3, groups=4), nn.BatchNorm2d(8)],
        IMAGE,
        {"aten.convolution": 1},
    ),
    "linear bn": (
        lambda a, b, x: b(a(x)),
        [nn.Linear(4, 6), nn.BatchNorm1d(6)],
        ROW,
        {"aten.linear": 1},
    ),
    "bn alone": (lambda b, x: b(x), [nn.BatchNorm2d(4)], IMAGE, {"aten.convolution": 1}),
    "bn alone, 1d": (
        lambda b, x: b(x),
        [nn.BatchNorm1d(4)],
        LINE,
        {"aten.unsqueeze": 1, "aten.convolution": 1, "aten.squeeze": 1},
    ),
    "bn alone, rows": (
        lambda b, x: b(x),
        [nn.BatchNorm1d(4)],
        ROW,
        {"aten.unsqueeze": 2, "aten.convolution": 1, "aten.squeeze": 2},
    ),
    "conv read twice before bn": (
        lambda a, b, x: b(y := a(x)) + y,
        [nn.Conv2d(4, 6, 3), nn.BatchNorm2d(6)],
        IMAGE,
        {"aten.convolution": 2, "aten.add": 1},
    ),
    "conv1d": (
        lambda a, x: a(x),
        [nn.Conv1d(4, 6, 3, stride=2, padding=1, dilation=2, groups=2)],
        LINE,
        {"aten.unsqueeze": 1, "aten.convolution": 1, "aten.squeeze": 1},
    ),
    "dropout, contiguous, clone": (
        lambda d, x: d(x.contiguous()).clone().tanh(),
        [nn.Dropout(0.5)],
        IMAGE,
        {"aten.tanh": 1},
    ),
    "split": (
        lambda x: torch.cat(x.chunk(2, 1)[::-1], 1),
        [],
        IMAGE,
        {"aten.slice": 2, "aten.cat": 1},
    ),
    "max_pool2d": (lambda x: F.max_pool2d(x, 2), [], IMAGE, {"aten.max_pool2d": 1}),
    "max_pool1d": (
        lambda x: F.max_pool1d(x, 2),
        [],
        LINE,
        {"aten.unsqueeze": 1, "aten.max_pool2d": 1, "aten.squeeze": 1},
    ),
    "conv1d, bn, relu": (
        lambda a, b, x: F.relu(b(a(x))),
        [nn.Conv1d(4, 6, 3), nn.BatchNorm1d(6)],
        LINE,
        {"aten.unsqueeze": 1, "aten.convolution": 1, "aten.relu": 1, "aten.squeeze": 1},
    ),
    "casts to what it is": (
        lambda x: x.float().to(torch.float32).to("cpu").to(x.dtype).tanh(),
        [],
        IMAGE,
        {"aten.tanh": 1},
    ),
    "a mask as a number": (
        lambda x: x * (x > 0).float() + (x < -1).to(x.dtype),
        [],
        IMAGE,
        {"aten.gt": 1, "aten.where": 1, "aten.lt": 1, "aten._to_copy": 1, "aten.add": 1},
    ),
    "memory format inside": (
        lambda a, x: a(x.to(memory_format=torch.channels_last)).contiguous(),
        [nn.Conv2d(4, 6, 3)],
        IMAGE,
        {"aten.convolution": 1},
    ),
    "constants": (lambda x: x + torch.ones(4, 1, 1).exp() * 2, [], IMAGE, {"aten.add": 1}),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms(name: str) -> None:
    function, children, shape, expected = FORMS[name]
    module = model(function, *children)
    (x,) = samples(shape, count=1)[0]
    graph = export_aten(module, [x])
    assert op_counts(graph) == expected
    with torch.no_grad():
        # Float tolerance: folding a BatchNorm reorders two roundings.
        torch.testing.assert_close(graph(x), module(x), rtol=1e-5, atol=1e-5)


def test_exported_programs_are_taken() -> None:
    program = torch.export.export(nn.Linear(4, 2).eval(), (torch.ones(3, 4),))
    assert op_counts(export_aten(program, [torch.ones(3, 4)])) == {"aten.linear": 1}


def test_programs_of_core_ops_are_what_they_were_made_of() -> None:
    block = nn.TransformerEncoderLayer(8, 2, 12, batch_first=True, activation="gelu")
    net = model(
        lambda conv, norm, block, x: block(norm(conv(x)).flatten(2).mT).log_softmax(-1),
        nn.Conv2d(3, 8, 3),
        nn.GroupNorm(2, 8),
        block,
    )
    image = torch.linspace(-2.0, 3.0, 90).reshape(1, 3, 6, 5)
    program = torch.export.export(net, (image,))
    whole, core = (export_aten(p, [image]) for p in (program, program.run_decompositions()))
    counts = op_counts(whole)
    assert counts["aten.layer_norm"] == 2 and counts["aten.softmax"] == 1
    names = ("aten.layer_norm", "aten.group_norm", "aten.softmax", "aten.log_softmax", "aten.gelu")
    assert {n: op_counts(core)[n] for n in names} == {n: counts[n] for n in names}
    check_supported(core, lambda _: False)
    torch.testing.assert_close(core(image)[0], net(image), rtol=1e-5, atol=1e-5)


def test_names_that_a_graph_has_itself_are_free_to_users() -> None:
    class Named(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.code, self.code_ = (nn.Parameter(torch.full((4,), v)) for v in (2.0, 3.0))
            self.meta, self.graph = nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4))
            self.register_buffer("recompile", torch.ones(1, 4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.recompile: torch.Tensor = x - self.recompile
            return self.graph(self.meta(x * self.code)) + self.recompile * self.code_  # type: ignore[no-any-return]

    module = Named().eval()
    program = torch.export.export(module, (X,))
    expected = module(X)
    for given in (module, program):
        module.recompile = torch.ones(1, 4)
        graph = export_aten(given, [X])
        torch.testing.assert_close(graph(X, torch.ones(1, 4)), (expected, X - 1.0))
    assert "graph.0.weight" in program.state_dict, "the user's program is as it was"


def test_what_rules_keep_whole_would_be_decomposed() -> None:
    assert [str(op) for op in KEPT if op not in default_decompositions()] == []
    assert len(set(KEPT)) == len(KEPT)
