# SPDX-License-Identifier: Apache-2.0
"""The corpus: graphs that ExecuTorch's Arm backend lowers and Vela compiles, one entry each.

A graph is a module and the shapes of its inputs. `int16` graphs have int16 activations. Everything
is seeded, so lowering twice gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from tests.ethos_u.corpus import networks

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Graph:
    """One corpus entry: `module()` takes float tensors of `shapes`."""

    name: str
    module: Callable[[], nn.Module]
    shapes: tuple[Shape, ...]
    int16: bool = False
    spread: float = 1.0  # standard deviation of calibration inputs
    positive: bool = False  # calibrate with |x| (square roots, logarithms)
    resize: bool = False  # lower for TOSA with RESIZE; Vela maps it if the backend would not


class _Function(nn.Module):
    """A module out of a function without parameters."""

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> object:
        return self.function(*inputs)


def _function(
    name: str,
    function: Callable[..., object],
    *shapes: Shape,
    int16: bool = False,
    spread: float = 1.0,
    positive: bool = False,
    resize: bool = False,
) -> Graph:
    return Graph(name, lambda: _Function(function), shapes, int16, spread, positive, resize)


def _conv(
    name: str,
    channels: tuple[int, int],
    size: Shape,
    kernel: int | tuple[int, int],
    *,
    int16: bool = False,
    stride: int = 1,
    padding: int | tuple[int, int] = 0,
    dilation: int | tuple[int, int] = 1,
    groups: int = 1,
    bias: bool = True,
    activation: Callable[[], nn.Module] | None = None,
) -> Graph:
    def module() -> nn.Module:
        conv = nn.Conv2d(
            channels[0],
            channels[1],
            kernel,
            stride,
            padding,
            dilation=dilation,
            groups=groups,
            bias=bias,
        )
        return conv if activation is None else nn.Sequential(conv, activation())

    return Graph(name, module, ((1, channels[0], *size),), int16)


_CONVOLUTIONS = (
    _conv("conv1x1", (16, 24), (9, 7), 1),
    _conv("conv3x3", (8, 16), (12, 10), 3, padding=1),
    _conv("conv3x3_deep", (48, 40), (6, 6), 3, padding=1),
    _conv("conv3x3_rgb", (3, 16), (16, 16), 3, stride=2, padding=1),
    _conv("conv3x3_one_channel", (1, 8), (11, 13), 3),
    _conv("conv5x5_stride2", (6, 20), (17, 15), 5, stride=2, padding=2),
    _conv("conv7x7", (3, 8), (14, 14), 7, padding=3),
    _conv("conv9x9", (4, 6), (15, 13), 9, padding=4),
    _conv("conv2x2_stride3", (5, 9), (14, 11), 2, stride=3),
    _conv("conv1x9", (7, 12), (5, 24), (1, 9)),
    _conv("conv3x3_dilated", (10, 10), (14, 12), 3, padding=2, dilation=2),
    _conv("conv3x3_dilated_x", (10, 6), (9, 16), 3, padding=(1, 2), dilation=(1, 2)),
    _conv("conv_groups", (8, 12), (8, 8), 3, padding=1, groups=4),
    _conv("conv_no_bias", (12, 12), (7, 9), 3, bias=False),
    _conv("conv_relu", (8, 24), (10, 10), 3, padding=1, activation=nn.ReLU),
    _conv("conv_relu6", (8, 24), (10, 10), 3, padding=1, activation=nn.ReLU6),
    _conv("conv_sigmoid", (8, 16), (6, 7), 1, activation=nn.Sigmoid),
    _conv("conv_wide_depth", (24, 160), (5, 5), 1),
    Graph("conv1d", lambda: nn.Conv1d(8, 12, 5, padding=2), ((1, 8, 40),)),
    Graph("conv_transpose", lambda: nn.ConvTranspose2d(8, 6, 3, 2, 1, 1), ((1, 8, 7, 6),)),
    _conv("depthwise3x3", (16, 16), (10, 12), 3, padding=1, groups=16),
    _conv("depthwise5x5_stride2", (20, 20), (13, 15), 5, stride=2, padding=2, groups=20),
    _conv("depthwise_multiplier", (6, 12), (9, 9), 3, groups=6),
    _conv("depthwise_dilated", (12, 12), (12, 12), 3, padding=2, dilation=2, groups=12),
    _conv(
        "depthwise_relu6_wide", (144, 144), (6, 6), 3, padding=1, groups=144, activation=nn.ReLU6
    ),
)

_LINEAR = (
    Graph("linear", lambda: nn.Linear(20, 12), ((1, 20),)),
    Graph("linear_rows", lambda: nn.Linear(33, 17), ((1, 5, 33),)),
    Graph("linear_wide", lambda: nn.Linear(600, 64), ((1, 600),)),
    Graph("linear_relu", lambda: nn.Sequential(nn.Linear(24, 40), nn.ReLU()), ((3, 24),)),
    _function("bmm", torch.bmm, (2, 5, 8), (2, 8, 7)),
    _function("matmul", torch.matmul, (1, 3, 6, 9), (1, 3, 9, 4)),
)


def _pruned(layer: nn.Linear | nn.Conv2d, channels: int) -> nn.Module:
    """Return the layer without its first `channels` output channels: their weights are zeros."""
    with torch.no_grad():
        layer.weight[:channels] = 0
    return layer


_SPARSE = (
    Graph("linear_pruned", lambda: _pruned(nn.Linear(512, 512), 212), ((1, 512),)),
    Graph("linear_zero", lambda: _pruned(nn.Linear(8704, 8), 8), ((1, 8704),)),
    Graph("conv3x3_pruned", lambda: _pruned(nn.Conv2d(128, 128, 3), 64), ((1, 128, 16, 16),)),
)

_POOLS = (
    Graph("max_pool2x2", lambda: nn.MaxPool2d(2), ((1, 12, 10, 8),)),
    Graph("max_pool3x3", lambda: nn.MaxPool2d(3, 2, 1), ((1, 9, 11, 13),)),
    Graph("avg_pool2x2", lambda: nn.AvgPool2d(2), ((1, 12, 10, 8),)),
    Graph(
        "avg_pool3x3_padded",
        lambda: nn.AvgPool2d(3, 1, 1, count_include_pad=False),
        ((1, 10, 9, 11),),
    ),
    Graph("avg_pool3x3_zeros", lambda: nn.AvgPool2d(3, 2, 1), ((1, 10, 9, 11),)),
    Graph("avg_pool_global", lambda: nn.AdaptiveAvgPool2d(1), ((1, 40, 6, 5),)),
    Graph("adaptive_avg_pool", lambda: nn.AdaptiveAvgPool2d((2, 3)), ((1, 8, 8, 9),)),
    _function("mean_channels", lambda x: x.mean(dim=1, keepdim=True), (1, 24, 6, 6)),
    _function("sum_width", lambda x: x.sum(dim=3), (1, 5, 6, 20)),
    _function("amax", lambda x: torch.amax(x, dim=3), (1, 4, 5, 12)),
)

_ELEMENTWISE = (
    _function("add", torch.add, (1, 8, 6, 5), (1, 8, 6, 5)),
    _function("add_unequal_scales", lambda x, y: x + y * 7.0, (1, 8, 6, 5), (1, 8, 6, 5)),
    _function("add_broadcast_channel", torch.add, (1, 8, 6, 5), (1, 8, 1, 1)),
    _function("add_broadcast_plane", torch.add, (1, 8, 6, 5), (1, 1, 6, 5)),
    _function("add_broadcast_both", torch.add, (1, 8, 1, 5), (1, 1, 6, 1)),
    _function("add_scalar", lambda x: x + 1.75, (1, 4, 6, 9)),
    _function("add_relu", lambda x, y: torch.relu(x + y), (1, 8, 6, 5), (1, 8, 6, 5)),
    _function("sub", torch.sub, (1, 8, 6, 5), (1, 8, 6, 5)),
    _function("sub_broadcast", torch.sub, (1, 1, 6, 5), (1, 8, 6, 5)),
    _function("sub_from_scalar", lambda x: 0.5 - x, (1, 4, 6, 9)),
    _function("mul", torch.mul, (1, 8, 6, 5), (1, 8, 6, 5)),
    _function("mul_broadcast", torch.mul, (1, 8, 6, 5), (1, 8, 1, 1)),
    _function("mul_scalar", lambda x: x * 0.3, (1, 8, 6, 5)),
    _function("minimum", torch.minimum, (1, 8, 6, 5), (1, 8, 6, 5)),
    _function("maximum_broadcast", torch.maximum, (1, 8, 6, 5), (1, 8, 1, 5)),
    _function("abs", torch.abs, (1, 8, 6, 5)),
    _function("neg", torch.neg, (1, 8, 6, 5)),
    _function("clamp", lambda x: torch.clamp(x, -0.4, 1.1), (1, 8, 6, 5)),
)

_FUNCTIONS = (
    _function("sigmoid", torch.sigmoid, (1, 8, 6, 5), spread=3.0),
    _function("tanh", torch.tanh, (1, 8, 6, 5), spread=2.0),
    _function("gelu", functional.gelu, (1, 6, 20)),
    _function("silu", functional.silu, (1, 8, 6, 5)),
    _function("hardswish", functional.hardswish, (1, 8, 6, 5), spread=3.0),
    _function("elu", functional.elu, (1, 8, 6, 5)),
    _function("leaky_relu", lambda x: functional.leaky_relu(x, 0.1), (1, 8, 6, 5)),
    _function("exp", torch.exp, (1, 8, 6, 5)),
    _function("log", torch.log, (1, 8, 6, 5), positive=True),
    _function("rsqrt", torch.rsqrt, (1, 8, 6, 5), positive=True),
    _function("two_functions", lambda x: torch.tanh(x) * torch.sigmoid(x), (1, 8, 6, 5)),
    _function("softmax", lambda x: torch.softmax(x, dim=-1), (1, 5, 24), spread=3.0),
    _function("softmax_channels", lambda x: torch.softmax(x, dim=1), (1, 10, 4, 3), spread=3.0),
    _function("log_softmax", lambda x: torch.log_softmax(x, dim=-1), (1, 5, 24), spread=3.0),
)

_NORMS = (
    Graph("layer_norm", lambda: nn.LayerNorm(24), ((1, 6, 24),)),
    Graph("group_norm", lambda: nn.GroupNorm(2, 8), ((1, 8, 6, 5),)),
    Graph(
        "conv_batch_norm",
        lambda: nn.Sequential(nn.Conv2d(6, 12, 3, bias=False), nn.BatchNorm2d(12), nn.ReLU()),
        ((1, 6, 9, 8),),
    ),
)

_LAYOUT = (
    _function("cat_channels", lambda x, y: torch.cat([x, y], dim=1), (1, 5, 6, 7), (1, 9, 6, 7)),
    _function("cat_width", lambda x, y: torch.cat([x, y], dim=3), (1, 5, 6, 7), (1, 5, 6, 4)),
    _function("split", lambda x: torch.split(x, 5, dim=1), (1, 12, 6, 5)),
    _function("slice", lambda x: x[:, 2:7, 1:5, ::2], (1, 9, 6, 8)),
    _function("pad", lambda x: functional.pad(x, (1, 2, 3, 1)), (1, 6, 5, 7)),
    _function("transpose", lambda x: x.transpose(1, 2), (1, 7, 12, 5)),
    _function("permute", lambda x: x.permute(0, 3, 1, 2), (1, 7, 12, 5)),
    Graph(
        "flatten_linear",
        lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(48, 10)),
        ((1, 3, 6, 5),),
    ),
    _function("pixel_shuffle", lambda x: functional.pixel_shuffle(x, 2), (1, 12, 4, 5)),
    _function(
        "resize_2x", lambda x: functional.interpolate(x, scale_factor=2), (1, 6, 5, 7), resize=True
    ),
    _function(
        "resize_4x", lambda x: functional.interpolate(x, scale_factor=4), (1, 6, 5, 7), resize=True
    ),
    Graph(
        "resize_conv",
        lambda: nn.Sequential(
            nn.Conv2d(6, 10, 3),
            nn.ReLU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(10, 8, 3, padding=1),
        ),
        ((1, 6, 8, 9),),
        resize=True,
    ),
    _function("repeat", lambda x: x.repeat(1, 2, 3, 1), (1, 4, 3, 5)),
    _function("stack", lambda x, y: torch.stack([x, y], dim=2), (1, 6, 5), (1, 6, 5)),
)

_INT16 = (
    _conv("int16_conv3x3", (8, 16), (8, 7), 3, padding=1, int16=True),
    _conv("int16_conv_rgb", (3, 8), (9, 9), 3, stride=2, padding=1, int16=True),
    _conv("int16_conv_deep", (40, 24), (5, 5), 3, int16=True),
    _conv("int16_depthwise", (12, 12), (8, 8), 3, padding=1, groups=12, int16=True),
    Graph("int16_linear", lambda: nn.Linear(40, 24), ((1, 40),), True),
    _function("int16_add", torch.add, (1, 8, 6, 5), (1, 8, 6, 5), int16=True),
    _function(
        "int16_add_unequal", lambda x, y: x + y * 5.0, (1, 8, 6, 5), (1, 8, 6, 5), int16=True
    ),
    _function("int16_sub", torch.sub, (1, 8, 6, 5), (1, 8, 1, 5), int16=True),
    _function("int16_mul", torch.mul, (1, 8, 6, 5), (1, 8, 6, 5), int16=True),
    _function("int16_sigmoid", torch.sigmoid, (1, 8, 6, 5), int16=True, spread=3.0),
    _function("int16_tanh", torch.tanh, (1, 8, 6, 5), int16=True),
    _function(
        "int16_cat", lambda x, y: torch.cat([x, y], 1), (1, 5, 6, 7), (1, 9, 6, 7), int16=True
    ),
    _function("int16_softmax", lambda x: torch.softmax(x, dim=-1), (1, 5, 24), int16=True),
    Graph("int16_layer_norm", lambda: nn.LayerNorm(24), ((1, 6, 24),), True),
    Graph("int16_max_pool", lambda: nn.MaxPool2d(2), ((1, 12, 10, 8),), True),
)

_NETWORKS = (
    Graph("residual_net", networks.ResidualNet, ((1, 3, 16, 16),)),
    Graph("unet", networks.UNet, ((1, 3, 16, 16),)),
    Graph("keyword_net", networks.DepthwiseSeparableNet, ((1, 1, 49, 10),)),
    Graph("squeeze_excite", networks.SqueezeExcite, ((1, 8, 10, 10),)),
    Graph("self_attention", networks.SelfAttention, ((1, 10, 16),)),
    Graph("lstm_step", networks.LstmStep, ((1, 8), (1, 12), (1, 12))),
)

GROUPS: dict[str, dict[str, Graph]] = {
    name: {graph.name: graph for graph in graphs}
    for name, graphs in {
        "convolutions": _CONVOLUTIONS,
        "linear": _LINEAR,
        "sparse": _SPARSE,
        "pools": _POOLS,
        "elementwise": _ELEMENTWISE,
        "functions": _FUNCTIONS,
        "norms": _NORMS,
        "layout": _LAYOUT,
        "int16": _INT16,
        "networks": _NETWORKS,
        "mobilenet_v2_96": (Graph("mobilenet_v2_96", networks.MobileNetV2, ((1, 3, 96, 96),)),),
        "mobilenet_v2_192": (Graph("mobilenet_v2_192", networks.MobileNetV2, ((1, 3, 192, 192),)),),
    }.items()
}
