# SPDX-License-Identifier: Apache-2.0
"""Layers with int16 activations, or four-bit weights, selected by module names."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import nn
from torch.nn import functional

from tests.ops.bundle import as_model
from tests.ops.case import Case, Function, Input, spatial
from tests.ops.recurrent import H, Layers, X

# BUILD.bazel has it too.
QUANTIZATION = {
    "default": "int16",
    "*.int8": "int8",
    "*.int8w4": "int8w4",
    "*.int8w4g32": "int8w4g32",
}

STEPS = Input((5, 2, X))
_A, _B = Input((2, 3, 8)), Input((3, 1), -0.5, 1.5)


class Mixed(nn.Module):
    """An int8 layer between two int16 layers. The next layer reads all values, and another op reads
    one of them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.before = nn.Linear(8, 12)
        self.int8 = nn.Sequential(nn.Linear(12, 12), nn.ReLU(), nn.Linear(12, 12))
        self.after = nn.Linear(12, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.before(x)
        result: torch.Tensor = self.after(x + self.int8(x))
        return result


class MixedParts(nn.Module):
    """Joins values of both types, one of them read in two places."""

    def __init__(self) -> None:
        super().__init__()
        self.int8 = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = self.int8(torch.tanh(x))
        return torch.cat([y, torch.sin(x)], -1), functional.silu(y)


def _convolutions() -> Iterator[Case]:
    shape = (1, 6, 7, 8)
    for name, make, op in (
        ("conv", partial(nn.Conv2d, 6, 10, 3, padding=1), "conv2d"),
        ("conv_stride", partial(nn.Conv2d, 6, 4, (3, 2), stride=2, dilation=2), "conv2d"),
        ("conv_groups", partial(nn.Conv2d, 6, 9, 3, groups=3, padding=(2, 0)), "conv2d"),
        ("conv_1x1", partial(nn.Conv2d, 6, 9, 1), "conv2d"),
        ("depthwise", partial(nn.Conv2d, 6, 12, 3, groups=6, padding=1), "depthwise_conv2d"),
    ):
        yield spatial(name, make, shape, {op: 1})
    yield spatial("conv1d", partial(nn.Conv1d, 6, 5, 3, padding=1), (1, 6, 20), {"conv2d": 1})


def _windows() -> Iterator[Case]:
    shape = (1, 6, 7, 8)
    for name, make, op in (
        ("max_pool", partial(nn.MaxPool2d, 3, 2, 1), "max_pool2d"),
        ("avg_pool", partial(nn.AvgPool2d, (2, 3), count_include_pad=False), "mean_pool2d"),
        ("adaptive_avg", partial(nn.AdaptiveAvgPool2d, (3, 5)), "mean_pool2d"),
        ("adaptive_max", partial(nn.AdaptiveMaxPool2d, (3, 5)), "adaptive_max_pool2d"),
    ):
        yield spatial(name, partial(_behind, nn.Tanh, make), shape, {"lut": 1, op: 1})
    pad = partial(_behind, nn.Tanh, partial(nn.ZeroPad2d, (1, 2, 0, 3)))
    yield Case("pad", pad, (Input(shape),), {"lut": 1, "pad": 1})


def _behind(first: Callable[[], nn.Module], second: Callable[[], nn.Module]) -> nn.Module:
    return nn.Sequential(first(), second())


def _global_response(x: torch.Tensor) -> torch.Tensor:
    """Return ConvNeXt V2's global response norm: each channel's norm relative to the others."""
    norm: torch.Tensor = torch.linalg.vector_norm(x, dim=1, keepdim=True)
    return x * (norm / (norm.mean(-1, keepdim=True) + 1e-6)) + x


_RESPONSE = {"second_moment": 1, "mean": 1, "lut": 1, "div": 1}


def _functions() -> Iterator[Case]:
    pairs: tuple[tuple[str, Callable[..., object], dict[str, int]], ...] = (
        ("add", torch.add, {"add": 1}),
        ("sub_relu", lambda a, b: functional.relu(a - 2.0 * b), {"add": 1, "lut": 1}),
        ("mul", torch.mul, {"mul": 1}),
    )
    for name, function, ops in pairs:
        yield Case(name, partial(Function, function), (_A, _B), ops)
    functions: tuple[tuple[str, Callable[..., object], dict[str, int]], ...] = (
        ("sigmoid", torch.sigmoid, {"lut": 1}),
        ("tanh", torch.tanh, {"lut": 1}),
        ("gelu", functional.gelu, {"lut": 1}),
        ("hardswish_in_place", lambda x: functional.hardswish(x) * 0.5, {"lut": 1}),
        ("layer_norm", lambda x: functional.layer_norm(x, (8,)), {"normalize": 1}),
        ("group_norm", lambda x: functional.group_norm(x, 3).relu(), {"normalize": 1}),
        (
            "l2_norm",
            lambda x: x / (x.norm(dim=-1, keepdim=True).clamp(min=3) + 0.5),
            {"normalize": 1},
        ),
        ("global_response_norm", _global_response, {**_RESPONSE, "mul": 1, "add": 1}),
        ("rms_norm", lambda x: functional.rms_norm(x, (8,)), {"normalize": 1}),
        ("mean", lambda x: x.mean(1), {"mean": 1}),
        ("sum", lambda x: x.sum((0, 2), keepdim=True), {"mean": 1}),
        (
            "movement",
            lambda x: torch.cat([x[:, 1:].mT, x.mT], -1).flatten(1),
            {"slice": 1, "cat": 1},
        ),
    )
    for name, function, ops in functions:
        transposes = 1 if name == "movement" else 0
        yield Case(name, partial(Function, function), (_A,), ops, transposes)


def _pairs() -> Iterator[Case]:
    """Yield functions of several values, and parts of attention and upsampling."""
    square = Input((4, 8))
    functions: tuple[tuple[str, Callable[..., object], tuple[Input, ...], dict[str, int]], ...] = (
        ("matmul", torch.matmul, (Input((2, 3, 8)), Input((2, 8, 5))), {"bmm": 1}),
        ("matmul_rows", lambda a, b: a @ b.mT, (square, square), {"bmm": 1}),
        ("softmax", lambda x: torch.softmax(x, 1), (Input((2, 9, 4)),), {"softmax": 1}),
        ("div", torch.div, (square, Input((4, 1), 0.5, 2.0)), {"div": 1}),
        ("maximum", torch.maximum, (square, square), {"maximum": 1, "requantize": 1}),
        (
            "attention",
            lambda q, k, v: functional.scaled_dot_product_attention(
                q, k, v, is_causal=True, scale=1.0
            ),
            (Input((1, 2, 6, 8)),) * 3,
            {"bmm": 2, "masked_softmax": 1},
        ),
        (
            "where",
            lambda a, b: torch.where(a <= b, a, b),
            (square, square),
            {"less": 1, "where": 2},
        ),
        ("band", lambda x: (x.abs() < 1.0) | (x > 1.5), (square,), {"less": 3, "where": 4}),
    )
    for name, function, inputs, ops in functions:
        yield Case(name, partial(Function, function), inputs, ops)
    image = (1, 3, 4, 5)
    resize = partial(functional.interpolate, scale_factor=2, mode="bilinear")
    yield spatial("interpolate", partial(Function, resize), image, {"resize_bilinear": 1})
    yield Case("prelu", partial(nn.PReLU, 3), (Input(image),), {"prelu": 1})
    for kind in ("LSTM", "GRU", "RNN"):
        ops = {kind.lower(): 1}
        yield Case(kind.lower(), partial(Layers, partial(getattr(nn, kind), X, H)), (STEPS,), ops)


def _named(name: str, make: Callable[[], nn.Module]) -> nn.Module:
    """Return a layer as the module of that name."""
    return nn.Sequential(OrderedDict({name: make()}))


def _four_bits() -> Iterator[Case]:
    for name in ("int8w4", "int8w4g32"):
        ops = {"linear_w4": 1}
        layer = partial(_named, name, partial(nn.Linear, 37, 5))
        yield Case(f"linear_{name}", layer, (Input((3, 37)),), ops)
        layer = partial(_named, name, partial(_relu, partial(nn.Conv2d, 40, 6, 1)))
        yield spatial(f"conv_{name}", layer, (1, 40, 3, 4), ops)
        layer = partial(_named, name, partial(_relu, partial(nn.Conv1d, 6, 7, 1, bias=False)))
        yield spatial(f"conv1d_{name}", layer, (2, 6, 5), ops)


def _relu(make: Callable[[], nn.Module]) -> nn.Module:
    return nn.Sequential(make(), nn.ReLU())


def cases() -> Iterator[Case]:
    yield Case("linear", partial(nn.Linear, 8, 20), (_A,), {"linear": 1})
    yield Case("deep_linear_relu", _deep, (Input((1, 600)),), {"linear": 1})
    yield from _convolutions()
    yield from _windows()
    yield from _functions()
    yield from _pairs()
    yield from _four_bits()
    ops = {"linear": 4, "add": 1, "requantize": 2}
    yield Case("mixed", Mixed, (_A,), ops)
    ops = {"lut": 3, "linear": 1, "cat": 1, "requantize": 3}
    yield Case("mixed_parts", MixedParts, (_A,), ops)
    yield from _extremes()
    yield from _transposed()
    yield from _given()


def _given() -> Iterator[Case]:
    """Yield functions of integer inputs, used unchanged."""
    samples, pixels = Input((2, 24), narrow="int16"), Input((1, 4, 5, 3), narrow="uint8")
    windows = partial(Function, lambda x: x.unfold(1, 8, 4).float() / 32768)
    yield Case("given_samples", windows, (samples,), {"gather": 1, "lut": 1})
    image = partial(Function, lambda x: x.permute(0, 3, 1, 2) / 255)
    yield Case("given_bytes", image, (pixels,), {"requantize": 1, "lut": 1})
    mask = partial(Function, lambda x: (x > 127, x.long()))
    yield Case("given_bytes_unquantized", mask, (pixels,), {"lut": 1, "integer_lut": 1})


def _extremes() -> Iterator[Case]:
    functions: tuple[tuple[str, Callable[..., object], dict[str, int]], ...] = (
        ("amax", lambda x: x.amax(1), {"amax": 1}),
        ("amin", lambda x: x.amin((0, 2), keepdim=True), {"amin": 1}),
        ("max_indices", lambda x: x.max(2), {"max_with_indices": 1}),
        ("topk", lambda x: x.topk(3, -1), {"topk": 1}),
        ("var", lambda x: x.var(1), {"second_moment": 1}),
        ("std", lambda x: x.std((0, 2), correction=0), {"second_moment": 1}),
        ("norm", lambda x: x.norm(dim=-1, keepdim=True), {"second_moment": 1}),
        ("norm_1", lambda x: x.norm(p=1, dim=1), {"lut": 1, "mean": 1}),
        ("log_softmax", lambda x: torch.log_softmax(x, 1), {"log_softmax": 1}),
        ("logsumexp", lambda x: torch.logsumexp(x, (0, 2)), {"logsumexp": 1}),
        ("cumsum", lambda x: x.cumsum(1), {"cumsum": 1}),
    )
    for name, function, ops in functions:
        yield Case(name, partial(Function, function), (_A,), ops)


def _transposed() -> Iterator[Case]:
    make = partial(nn.ConvTranspose2d, 6, 8, 3, stride=2, padding=1, groups=2)
    yield spatial("conv_transpose", make, (1, 6, 7, 8), {"transpose_conv2d": 1})


def _deep() -> nn.Module:
    return nn.Sequential(nn.Linear(600, 3), nn.ReLU())


factory, calibration, test_inputs = as_model(cases)
