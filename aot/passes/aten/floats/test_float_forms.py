# SPDX-License-Identifier: Apache-2.0
"""Float32 parts keep their values, in ops with a float kernel."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.backends.cortex_m import has_float_kernel
from aot.errors import LoweringError
from aot.lower import lower
from aot.options import Io, Measure, Quantize
from aot.passes.aten.floats.float_forms import float_forms
from aot.plan.pte import read_program
from aot.testing.fixtures import check_aten_pass, model, samples

X = torch.randn((2, 4, 6, 6), generator=torch.Generator().manual_seed(0)) * 3.0

FUNCTIONS: dict[str, Callable[..., object]] = {
    "silu": F.silu,
    "gelu": F.gelu,
    "gelu by tanh": lambda x: F.gelu(x, approximate="tanh"),
    "elu": F.elu,
    "softplus": F.softplus,
    "hardswish": F.hardswish,
    "hardsigmoid": F.hardsigmoid,
    "mish": F.mish,
    "log_sigmoid": F.logsigmoid,
    "leaky relu": lambda x: F.leaky_relu(x, 0.2),
    "softmax": lambda x: F.softmax(x, 1),
    "log_softmax": lambda x: F.log_softmax(x, -1),
    "logsumexp": lambda x: x.logsumexp((2, 3)),
    "mean": lambda x: x.mean((1, 3), keepdim=True),
    "mean of all": lambda x: x.mean(),
    "variance": lambda x: x.var(1),
    "deviation": lambda x: x.std((2, 3), correction=0),
    "norm": lambda x: x.norm(dim=1),
    "normalized": F.normalize,
    "instance norm": F.instance_norm,
    "instance norm with factors": lambda x: F.instance_norm(
        x, weight=X[0, :, 0, 0], bias=X[0, :, 0, 1]
    ),
    "between two": lambda x: torch.lerp(x, x.flip(1), 0.3),
    "between two by weights": lambda x: torch.lerp(x, x.flip(1), x.sigmoid()),
    "pool of channels last": lambda x: F.avg_pool2d(x.permute(0, 3, 1, 2), 2, ceil_mode=True),
    "threshold": lambda x: F.threshold(x, 0.2, -1.5),
    "rms norm": lambda x: F.rms_norm(x, (6,)),
    "pool": lambda x: F.avg_pool2d(x, 3, 2, 1),
    "pool inside": lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    "adaptive pool": lambda x: F.adaptive_avg_pool2d(x, (4, 1)),
    "largest": lambda x: F.max_pool2d(x, 3, 2, 1),
    "largest of wide windows": lambda x: F.max_pool2d(x, 2, 1, dilation=2, ceil_mode=True),
    "adaptive largest": lambda x: F.adaptive_max_pool2d(x, 2),
    "resized": lambda x: F.interpolate(x, (9, 4), mode="bilinear"),
    "to corners": lambda x: F.interpolate(x, (9, 4), mode="bilinear", align_corners=True),
    "repeated": lambda x: F.interpolate(x, scale_factor=2),
    "product": lambda x: x @ x.transpose(-1, -2),
    "scaled sum": lambda x: torch.add(x, x.flip(1), alpha=0.3),
    "from a number": lambda x: 1.0 - x,
    "choice": lambda x: torch.where((x > 0.5) & (x <= 2.0), x, x * 0.1),
    "sums of exponentials": lambda x: torch.logaddexp(x, x.flip(0)),
    "inside": lambda x: torch.where(~((x < 0.5) & (x > -0.5)) ^ (x > 2.0), x, 0.0),
    "padded": lambda x: F.pad(x, (1, 0, -1, 2), value=0.5),
    "where it is largest": lambda x: x.argmax(1),
    "count": lambda x: (x > 0).float().mean(1),
    "entropy": lambda x: torch.special.entr(x.softmax(1)),
    "cube": lambda x: x.abs() ** 2.5,
    "running sum": lambda x: x.cumsum(1),
    "product of other ranks": lambda x: x @ x[:, :1, :, :2].permute(1, 0, 2, 3)[0, :, None],
    "resized line": lambda x: F.interpolate(x[0], scale_factor=1.7, mode="linear"),
    "both moments": lambda x: torch.var_mean(x, dim=(1, 3), keepdim=True),
    "limited by values": lambda x: x.clamp(x.flip(1) - 0.5, X[:, :, :1] + 1.0),
    "larger": lambda x: torch.fmax(x, torch.fmin(x.flip(2), X[:1])),
    "towards zero": lambda x: torch.div(x, 0.7, rounding_mode="trunc"),
    "downwards": lambda x: torch.div(x, x.abs() + 1.0, rounding_mode="floor"),
    "hard shrink": lambda x: F.hardshrink(x, 0.7),
    "number without dimensions": lambda x: (x.sum() * 0.01).clamp(-1.0, 1.0),
}
LAYERS: dict[str, tuple[Callable[..., object], nn.Module]] = {
    "convolution": (lambda a, x: a(x).relu(), nn.Conv2d(4, 3, 3)),
    "linear": (lambda a, x: a(x), nn.Linear(6, 3)),
    "slopes": (lambda a, x: a(x), nn.PReLU(4)),
}


@pytest.mark.parametrize("name", [*FUNCTIONS, *LAYERS])
def test_is_the_same_in_ops_with_kernels(name: str) -> None:
    function, *layers = LAYERS[name] if name in LAYERS else (FUNCTIONS[name],)

    def rewrite(graph: torch.fx.GraphModule) -> int:
        return float_forms(graph, lambda node: True)

    # Functions are written with others: some roundings of float32 more, of values up to some tens.
    _, graph = check_aten_pass(rewrite, function, *layers, inputs=[X], atol=2e-5)
    for node in graph.graph.nodes:
        several = isinstance(node.meta.get("val"), tuple)
        made = node.op == "call_function" and not several
        # Ops making a constant are folded in a model.
        assert not made or not node.all_input_nodes or has_float_kernel(node) or _of_masks(node)


def _of_masks(node: torch.fx.Node) -> bool:
    return all(n.meta["val"].dtype == torch.bool for n in node.all_input_nodes)


class Mixed(nn.Module):
    """Attention with a mask, a convolution and a state space of everyday ops."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.body = nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 8), nn.GELU())
        self.head = nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mask = torch.ones(5, 5, dtype=torch.bool).triu(1)
        y = x + self.attention(x, x, x, attn_mask=mask)[0]
        scores = self.head(self.body(y)[:, -1]).softmax(-1)
        return scores, scores.argmax(-1)


def test_a_whole_model_stays_float() -> None:
    """Its reference is the model itself; nothing is quantized."""
    net, data = Mixed().eval(), samples((2, 5, 8))
    lowered = lower(
        net,
        data[0],
        calibration=data,
        quantize=Quantize(quantization="float32"),
        io=Io(float_io=True),
        measure=Measure(per_op=False),
    )
    names = {str(n.target) for n in lowered.module.graph.nodes if n.op == "call_function"}
    assert not [name for name in names if "quantize" in name]
    scores, best = lowered.reference(list(data[0]))
    with torch.no_grad():
        expected, place = net(*data[0])
    torch.testing.assert_close(scores, expected, rtol=0.0, atol=1e-6)
    assert torch.equal(best.long(), place)


def test_logic_of_one_value_is_of_the_dialect() -> None:
    """The int8 form would be a table of that value."""
    net = model(lambda x: torch.where(~((x < 0.5) & (x > -0.5)) ^ (x > 2.0), x, x.cos()))
    data = samples((2, 5, 8))
    lowered = lower(
        net,
        data[0],
        calibration=data,
        quantize=Quantize(quantization="float32"),
        io=Io(float_io=True),
        measure=Measure(per_op=False),
    )
    names = [str(n.target) for n in lowered.module.graph.nodes if n.op == "call_function"]
    assert not [name for name in names if "logical" in name or "bitwise" in name]
    torch.testing.assert_close(lowered.reference(list(data[0]))[0], net(*data[0]))


OF_OTHER_TYPES: dict[str, Callable[..., object]] = {
    "counted": lambda x: (x > 0).count_nonzero(1),
    "in a range": lambda x: torch.bucketize(x, torch.tensor([-1.0, 0.0, 0.5])),
    "as integers": lambda x: (x > 0).long() + 1,
    "as a factor": lambda x: x * (1 - (x > 0).int()),
    "their share": lambda x: (x > 0).sum(1).float() / 5,
    "all of them": lambda x: (x > 0).float().mean(),
    "doubles": lambda x: x.exp().double().float() + x.to(torch.float64).to(x),
}


@pytest.mark.parametrize("function", OF_OTHER_TYPES.values(), ids=OF_OTHER_TYPES)
def test_what_is_computed_of_masks_and_doubles(function: Callable[..., object]) -> None:
    """The artefact has it in ops of the device, with the same shape."""
    net, data = model(function), samples((2, 5))
    lowered = lower(
        net,
        data[0],
        calibration=data,
        quantize=Quantize(quantization="float32"),
        io=Io(float_io=True),
        measure=Measure(per_op=False),
    )
    ops = {c.op for c in read_program(lowered.pte).calls}
    assert not [op for op in ops if "_to_copy" in op or op.endswith((".Scalar", ".Scalar_out"))]
    for sample in data[:3]:
        (actual,) = lowered.reference(list(sample))
        torch.testing.assert_close(actual, net(*sample), check_dtype=False)


def test_random_numbers_of_a_generator_are_an_error() -> None:
    net = model(lambda x: x + torch.randn(5, 4, generator=torch.Generator()))
    data = samples((5, 4))
    with pytest.raises(LoweringError, match=r"randn.*\n.*\n.*random numbers as a model input"):
        lower(net, data[0], calibration=data, quantize=Quantize(quantization="float32"))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.normal(x, x.abs()),
        lambda x: torch.normal(x, 1.0),
        lambda x: x + torch.normal(0.0, 1.0, (3,)),
        lambda x: x + torch.rand_like(x),
    ],
)
def test_random_numbers_are_no_constants(function: Callable[..., object]) -> None:
    data = samples((3,), count=4)
    with pytest.raises(LoweringError, match="pass random numbers as a model input"):
        lower(model(function), data[0], calibration=data, quantize=Quantize(quantization="float32"))


def test_what_has_no_float_form_is_an_error() -> None:
    net, data = model(lambda x: torch.erfinv(x.tanh())), samples((5, 4))
    with pytest.raises(LoweringError, match=r"stay in float32, and has no float kernel.*\n.*at"):
        lower(net, data[0], calibration=data, quantize=Quantize(quantization="float32"))
