# SPDX-License-Identifier: Apache-2.0
"""Models without an export are refused with a remedy."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import nn
from torch.ao.quantization import quantize_dynamic
from torch.distributions import Categorical
from torch.nn.attention.flex_attention import flex_attention
from torch.nn.utils.rnn import pack_padded_sequence

from aot.accept.export import export_aten
from aot.errors import LoweringError
from aot.testing.fixtures import model

X = torch.ones(1, 4)


def _nan_weights() -> nn.Module:
    layer = nn.Linear(4, 2).eval()
    with torch.no_grad():
        layer.weight[1, 2] = float("nan")
    return layer


@dataclass
class Pair:
    first: torch.Tensor
    second: torch.Tensor


class Branch(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.sum() > 0 else x


class Checked(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch._assert_async((x.sum() > 0), "positive")
        return x.tanh()


ERRORS: dict[str, tuple[Callable[[], Any], torch.Tensor, str]] = {
    "training": (lambda: nn.Dropout(0.5), torch.ones(1, 4), r"training mode.*\.eval\(\)"),
    "nan": (
        _nan_weights,
        torch.ones(1, 4),
        r"weight weight \(float32\[2, 4\]\) holds 1 values that are NaN",
    ),
    "control flow": (
        lambda: Branch().eval(),
        torch.ones(1, 4),
        r"branches or loops .*\n    at test_export_refused.py:\d+ in forward: return x \* 2 if x",
    ),
    "control flow of a layer": (
        lambda: nn.Sequential(nn.Tanh(), nn.Sequential(Branch())).eval(),
        torch.ones(1, 4),
        r"\n    at 1\.0 \(Branch\), test_export_refused.py:\d+ in forward: return x \* 2 if x",
    ),
    "least squares": (
        lambda: model(lambda x: torch.linalg.lstsq(x.T, x.T).solution),
        torch.ones(1, 4),
        r"linalg_lstsq.*\n.*\n    instead: compute the result in the application",
    ),
    "float64 input": (
        lambda: nn.Tanh().eval(),
        torch.ones(3, dtype=torch.float64),
        r"float64\[3\].*Inputs may be float32",
    ),
    "check": (lambda: Checked().eval(), torch.ones(1, 4), "checks its data at run time"),
    "function": (
        lambda: torch.tanh,
        torch.ones(1, 4),
        r"must be a torch.nn.Module .* got builtin_function_or_method.\n    instead: an nn.Module",
    ),
    "class": (lambda: nn.Tanh, torch.ones(1, 4), r"instead: make one: Tanh\(\.\.\.\)"),
    "no model": (lambda: None, torch.ones(1, 4), "got NoneType"),
    "script": (lambda: torch.jit.script(nn.Tanh().eval()), torch.ones(1, 4), "is TorchScript"),
    "meta": (
        lambda: nn.Linear(4, 2, device="meta").eval(),
        torch.ones(1, 4),
        r"weight weight \(float32\[2, 4\]\) is on device meta and has no values. .*, assign=True\)",
    ),
    "a quantized part": (
        lambda: quantize_dynamic(nn.Sequential(nn.Tanh(), nn.Linear(4, 2)).eval()),
        torch.ones(1, 4),
        "^1 is a Linear, which is quantized already. Pass the float model",
    ),
    "a distribution": (
        lambda: model(lambda x: Categorical(logits=x).probs),
        torch.ones(1, 4),
        r"a distribution checks its parameters' values.*\n.*\n    instead: .*validate_args=False",
    ),
    "a dataclass": (
        lambda: model(lambda x: Pair(x.tanh(), x)),
        torch.ones(4),
        "returns a .*Pair\n    instead: .*; register a dataclass with torch.export.reg",
    ),
    "a scripted part": (
        lambda: nn.Sequential(nn.Tanh(), torch.jit.script(nn.ReLU())).eval(),
        torch.ones(1, 4),
        "^1 of the model is TorchScript; .* Replace it by the original nn.Module",
    ),
    "max_norm": (
        lambda: nn.Sequential(nn.Embedding(9, 4, max_norm=1.0)).eval(),
        torch.ones(1, 4, dtype=torch.int64),
        "max_norm of 0 changes the weight in each call. Apply it once, .*max_norm = None",
    ),
    "a whole number": (
        lambda: model(lambda x: x * int(x.sum().item())),
        torch.ones(1, 4),
        r"uses a computed value as a Python number(.|\n)*for int\(x\) use x.trunc\(\)",
    ),
    "a number that it chooses by": (
        lambda: model(lambda x: x if x.sum().item() > 0 else -x),
        torch.ones(1, 4),
        "branches or loops on computed values",
    ),
    "a gradient": (
        lambda: model(
            lambda f, x: torch.autograd.grad(f(x.requires_grad_()).sum(), x)[0], nn.Linear(4, 2)
        ),
        torch.ones(1, 4),
        r"computes a gradient; the device cannot\n(.*\n)?    instead: write the derivative out",
    ),
    "a gradient of a function": (
        lambda: model(lambda f, x: torch.func.grad(lambda y: f(y).sum())(x), nn.Linear(4, 2)),
        torch.ones(1, 4),
        "computes a gradient; the device cannot",
    ),
    "packed": (
        lambda: model(
            lambda r, x: r(pack_padded_sequence(x, torch.tensor([3]), True))[1],
            nn.GRU(4, 2, batch_first=True),
        ),
        torch.ones(1, 5, 4),
        r"packs sequences by lengths that depend on values\n.*\n    instead: run on padded",
    ),
    "nested": (
        lambda: model(lambda x: torch.nested.nested_tensor([x[0], x[1]]).to_padded_tensor(0.0)),
        torch.ones(2, 4),
        "creates a nested tensor\n.*\n    instead: pad values to one length",
    ),
    "attention that is compiled": (
        lambda: model(lambda f, x: flex_attention(f(x), f(x), f(x)), nn.Linear(8, 8)),
        torch.ones(1, 2, 4, 8),
        r"calls flex_attention(.|\n)*instead: use F.scaled_dot_product_attention",
    ),
    "bins": (
        lambda: model(lambda i: torch.bincount(i)),
        torch.ones(4, dtype=torch.int64),
        r"bincount.*its shape depends on values(.|\n)*instead: \(i\[:, None\] == torch.arange",
    ),
    "half": (
        lambda: nn.Linear(4, 2).half().eval(),
        torch.ones(1, 4),
        r"weight weight is float16\[2, 4\]; .* Call \.float\(\)",
    ),
    "made to infer": (
        torch.inference_mode()(lambda: nn.Linear(4, 2).eval()),
        torch.ones(1, 4),
        r"weight weight was created in torch\.inference_mode\(\), .* outside of it",
    ),
    "on several devices": (
        lambda: nn.DataParallel(nn.Linear(4, 2)).eval(),
        torch.ones(1, 4),
        r"the model is DataParallel, .* Pass its \.module",
    ),
    "lazy": (lambda: nn.LazyLinear(2).eval(), torch.ones(1, 4), "weight weight has no shape yet"),
    "empty input": (lambda: nn.Tanh().eval(), torch.ones(0, 4), r"float32\[0, 4\]. An input needs"),
    "fails by itself": (
        lambda: nn.MaxPool2d(3, padding=2).eval(),
        torch.ones(1, 1, 8, 8),
        r"the model does not run on its first sample: RuntimeError: pad.*\n.*model\(\*sample\)",
    ),
    "whole numbers": (
        lambda: nn.LSTM(4, 2).eval(),
        torch.ones(3, 1, 4, dtype=torch.int64),
        r"on its first sample(.|\n)*instead: convert samples to float32, x.to\(torch.float32\)",
    ),
    "bytes of a camera": (
        lambda: nn.Conv2d(3, 4, 3).eval(),
        torch.ones(1, 3, 8, 8, dtype=torch.uint8),
        r"on its first sample(.|\n)*instead: convert samples to float32",
    ),
    "channels last": (
        lambda: nn.Conv2d(3, 4, 3).eval(),
        torch.ones(1, 8, 8, 3),
        r"on its first sample(.|\n)*instead: x.permute\(0, 3, 1, 2\) for images",
    ),
    "another device": (
        lambda: model(lambda x: x.to("cuda")),
        torch.ones(4),
        r"on its first sample(.|\n)*instead: keep the model on the CPU",
    ),
    "a set": (
        lambda: model(lambda x: {x * 2}),
        torch.ones(4),
        r"returns a set\n    instead: return a tensor, or a tuple",
    ),
    "rank": (lambda: nn.Tanh().eval(), torch.ones([1] * 7), "at most 6 dimensions"),
    "no output": (
        lambda: model(lambda x: ()),
        torch.ones(4),
        "the model returns no computed tensor",
    ),
    "nothing computed": (
        lambda: model(lambda x: (3, None, torch.ones(3))),
        torch.ones(4),
        "the model returns no computed tensor",
    ),
    "output is the input": (
        lambda: model(lambda i: i),
        torch.ones(4, dtype=torch.int64),
        "its input `.*, unchanged",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    make, x, text = ERRORS[name]
    with pytest.raises(LoweringError, match=text):
        export_aten(make(), [x])


def test_torch_prints_no_graph(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(LoweringError):
        export_aten(Branch().eval(), (X,))
    assert "def forward" not in "".join(capfd.readouterr())


def test_torch_logs_no_traceback(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("torch"), "propagate", True)
    with pytest.raises(LoweringError):
        export_aten(nn.Linear(3, 4).eval(), (X,))
    assert not [r for r in caplog.records if r.levelno >= logging.ERROR]


def test_dynamic_shapes_are_refused() -> None:
    batch = torch.export.Dim("batch", min=1, max=8)
    program = torch.export.export(
        nn.Linear(4, 2).eval(), (torch.ones(3, 4),), dynamic_shapes=({0: batch},)
    )
    with pytest.raises(LoweringError, match=r"dynamic dimensions \[0\].*fixed shapes"):
        export_aten(program, [torch.ones(3, 4)])


SUM = model(lambda x, y: x.tanh() + y)
LIST = model(lambda xs: xs[0].tanh() + xs[1])
PROGRAMS: dict[str, tuple[Callable[[], torch.export.ExportedProgram], str]] = {
    "shape": (
        lambda: torch.export.export(nn.Tanh(), (torch.ones(3, 4),)),
        r"input 0 is float32\[1, 4\], but the program was exported with float32\[3, 4\]",
    ),
    "count": (lambda: torch.export.export(SUM, (X, X)), "takes 2 inputs, but example_inputs has 1"),
    "nested": (lambda: torch.export.export(LIST, ((X, X),)), "takes 2 inputs"),
    "infinite weight": (
        lambda: torch.export.export(_nan_weights(), (X,)),
        "weight weight .* holds 1 values that are NaN or infinite",
    ),
    "only a number": (
        lambda: torch.export.export(model(lambda n: torch.ones(2) * n), (3,)),
        "takes 0 inputs",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_exported_programs_that_take_something_else(name: str) -> None:
    program, text = PROGRAMS[name]
    with pytest.raises(LoweringError, match=text):
        export_aten(program(), [X])


SPARSE: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "a buffer": (
        lambda: _with_matrix(lambda net, m: net.register_buffer("m", m.to_sparse())),
        r"weight m is of layout torch.sparse_coo. Pass dense float weights \(.to_dense\(\)\)",
    ),
    "a parameter": (
        lambda: _with_matrix(lambda net, m: setattr(net, "m", nn.Parameter(m.to_sparse()))),
        "weight m is of layout torch.sparse_coo",
    ),
    "rows": (
        lambda: _with_matrix(lambda net, m: net.register_buffer("m", m.to_sparse_csr())),
        "weight m is of layout torch.sparse_csr",
    ),
    "an attribute": (
        lambda: _with_matrix(lambda net, m: setattr(net, "m", m.to_sparse())),
        r"m -> float32\[4, 4\]: it is of layout torch.sparse_coo\n.*instead: a dense value",
    ),
    "made by the model": (
        lambda: model(lambda x: torch.sparse.mm(torch.eye(4).to_sparse(), x.mT)),
        r"aten.to_sparse.* -> float32\[4, 4\]: it is of layout torch.sparse_coo\n +at .*\.py:\d+",
    ),
    "quantized": (
        lambda: _with_matrix(
            lambda net, m: net.register_buffer("m", torch.quantize_per_tensor(m, 1, 0, torch.qint8))
        ),
        r"weight m is quantized already. Pass dense float weights \(.dequantize\(\)\)",
    ),
}


def _with_matrix(put: Callable[[nn.Module, torch.Tensor], None]) -> nn.Module:
    class Net(nn.Module):
        m: torch.Tensor

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y: torch.Tensor = torch.sparse.mm(self.m, x.mT)
            return y

    net = Net().eval()
    put(net, torch.eye(4))
    return net


@pytest.mark.filterwarnings("ignore:.*deprecated", "ignore:Sparse CSR")
@pytest.mark.parametrize("name", SPARSE)
def test_values_that_are_not_dense_are_refused(name: str) -> None:
    net, text = SPARSE[name]
    with pytest.raises(LoweringError, match=text):
        export_aten(net(), [X])
