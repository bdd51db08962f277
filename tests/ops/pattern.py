# SPDX-License-Identifier: Apache-2.0
"""Ops together, where their quantization, their layout or their fusion has gone wrong elsewhere."""

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import nn
from torch.nn import functional

from tests.ops import recurrent
from tests.ops.bundle import as_model
from tests.ops.case import Case, Function, Input, sequence, spatial


class SignedSkip(nn.Module):
    """A U-Net skip: conv and relu, concatenated with signed values."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(4, 6, 3, padding=1)
        self.inner = nn.Conv2d(6, 6, 3, padding=1)
        self.up = nn.Conv2d(12, 4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skip = functional.relu(self.down(x))
        output: torch.Tensor = self.up(torch.cat((skip, self.inner(skip)), dim=1))
        return output


class Residual(nn.Module):
    """conv-bn-relu-conv-bn, plus the input, relu. The input is projected if its size changes."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.skip: nn.Module = nn.Identity()
        if stride > 1:
            projection = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
            self.skip = nn.Sequential(projection, nn.BatchNorm2d(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = functional.relu(self.norm1(self.conv1(x)))
        return functional.relu(self.norm2(self.conv2(y)) + self.skip(x))


class SqueezeExcite(nn.Module):
    """Channel gates from the means: a mul that broadcasts."""

    def __init__(self) -> None:
        super().__init__()
        self.reduce = nn.Conv2d(8, 4, 1)
        self.expand = nn.Conv2d(4, 8, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate = functional.relu(self.reduce(x.mean((2, 3), keepdim=True)))
        return x * functional.hardsigmoid(self.expand(gate))


class ShuffleUnit(nn.Module):
    """Half of the channels pass, half go through convolutions, then the halves are mixed."""

    def __init__(self) -> None:
        super().__init__()
        self.branch = nn.Sequential(nn.Conv2d(4, 4, 1), nn.ReLU(), nn.Conv2d(4, 4, 3, padding=1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept, changed = x.chunk(2, dim=1)
        joined = torch.cat((kept, self.branch(changed)), dim=1)
        output: torch.Tensor = functional.channel_shuffle(joined, 2)
        return output


class SharedConv(nn.Module):
    """One convolution's result before and after its relu: the relu cannot be fused.

    relu(y) + y is a function of y alone, one table.
    """

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.conv(x)
        return functional.relu(y) + y


class UNet(nn.Module):
    """Down and up again by a transposed convolution, with the skip by cat."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1, bias=False), nn.BatchNorm2d(6))
        self.inner = nn.Conv2d(6, 8, 3, padding=1)
        self.up = nn.Sequential(nn.ConvTranspose2d(8, 6, 2, 2), nn.BatchNorm2d(6), nn.ReLU())
        self.last = nn.Conv2d(12, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skip = functional.relu(self.down(x))
        inner = functional.relu(self.inner(functional.max_pool2d(skip, 2)))
        output: torch.Tensor = self.last(torch.cat((skip, self.up(inner)), dim=1))
        return output


class ChannelsFirstNorm(nn.Module):
    """LayerNorm over the channels of an image, as ConvNeXt has it."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 3)
        self.norm = nn.LayerNorm(6)
        self.conv2 = nn.Conv2d(6, 4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(self.conv1(x).permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        output: torch.Tensor = self.conv2(y)
        return output


class ResidualGroupNorm(nn.Module):
    """A ResNet's basic block with GroupNorm, with a projection."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(4, 8, 3, 2, padding=1, bias=False)
        self.norm1 = nn.GroupNorm(2, 8)
        self.conv2 = nn.Conv2d(8, 8, 3, padding=1, bias=False)
        self.norm2 = nn.GroupNorm(2, 8)
        self.skip = nn.Sequential(nn.Conv2d(4, 8, 1, 2, bias=False), nn.GroupNorm(2, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = functional.relu(self.norm1(self.conv1(x)))
        return functional.relu(self.norm2(self.conv2(y)) + self.skip(x))


class ConvNeXt(nn.Module):
    """A ConvNeXt block: its last linear layers see the channels last, as the kernels do."""

    def __init__(self) -> None:
        super().__init__()
        self.spatial = nn.Conv2d(8, 8, 7, padding=3, groups=8)
        self.norm = nn.LayerNorm(8, eps=1e-6)
        self.wide, self.narrow = nn.Linear(8, 32), nn.Linear(32, 8)
        self.scale = nn.Parameter(torch.linspace(0.2, 0.8, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(self.spatial(x).permute(0, 2, 3, 1))
        y = self.scale * self.narrow(functional.gelu(self.wide(y)))
        output: torch.Tensor = x + y.permute(0, 3, 1, 2)
        return output


class Mixer(nn.Module):
    """An MLP-Mixer block: one perceptron over the tokens, one over the channels."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(8), nn.LayerNorm(8)
        self.tokens = nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 6))
        self.channels = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        output: torch.Tensor = x + self.channels(self.norm2(x))
        return output


def _autoencoder() -> nn.Module:
    layers: list[nn.Module] = []
    for inputs, outputs in ((24, 16), (16, 4), (4, 16)):
        layers += [nn.Linear(inputs, outputs), nn.LayerNorm(outputs), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(16, 24))


class Twice(nn.Module):
    """One layer called twice: its weights appear once."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.linear(torch.tanh(self.linear(x))))


def _batch_norm_cases() -> Iterator[Case]:
    norm2d, norm1d = partial(nn.BatchNorm2d, 6), partial(nn.BatchNorm1d, 9)
    affine = {"depthwise_conv2d": 1}
    yield spatial("batch_norm2d_alone", norm2d, (1, 6, 4, 5), affine)
    not_affine = partial(nn.BatchNorm2d, 6, affine=False)
    yield spatial("batch_norm2d_not_affine", not_affine, (1, 6, 4, 5), affine)
    yield Case("batch_norm1d_alone", norm1d, (Input((1, 9)),), affine)
    yield spatial("batch_norm1d_rank_3", norm1d, (1, 9, 7), affine)
    conv, depthwise = partial(nn.Conv2d, 4, 6, 3), partial(nn.Conv2d, 6, 6, 3, groups=6)
    yield spatial(
        "batch_norm2d_after_conv2d", partial(sequence, conv, norm2d), (1, 4, 6, 6), {"conv2d": 1}
    )
    yield spatial(
        "batch_norm2d_after_depthwise_and_relu",
        partial(sequence, depthwise, norm2d, nn.ReLU),
        (1, 6, 6, 6),
        {"depthwise_conv2d": 1},
    )
    yield Case(
        "batch_norm1d_after_linear",
        partial(sequence, partial(nn.Linear, 5, 9), norm1d, nn.ReLU),
        (Input((1, 5)),),
        {"linear": 1},
    )
    yield spatial(
        "batch_norm1d_after_conv1d",
        partial(sequence, partial(nn.Conv1d, 4, 9, 3), norm1d),
        (1, 4, 8),
        {"conv2d": 1},
    )
    yield spatial(
        "batch_norm2d_after_relu",
        partial(sequence, conv, nn.ReLU, norm2d),
        (1, 4, 6, 6),
        {"conv2d": 1, "depthwise_conv2d": 1},
    )


# name, module, input shape (NCHW), dialect ops
_SPATIAL: tuple[tuple[str, Callable[[], nn.Module], tuple[int, ...], dict[str, int]], ...] = (
    ("conv_relu_in_signed_cat", SignedSkip, (1, 4, 6, 6), {"conv2d": 3, "cat": 1}),
    ("residual", partial(Residual, 4, 4, 1), (1, 4, 6, 6), {"conv2d": 2, "add": 1}),
    ("residual_projected", partial(Residual, 4, 8, 2), (1, 4, 6, 6), {"conv2d": 3, "add": 1}),
    (
        "u_net",
        UNet,
        (1, 3, 8, 8),
        {"conv2d": 3, "max_pool2d": 1, "transpose_conv2d": 1, "cat": 1},
    ),
    (
        "conv_group_norm_relu_conv",
        partial(
            sequence,
            partial(nn.Conv2d, 3, 6, 3),
            partial(nn.GroupNorm, 2, 6),
            nn.ReLU,
            partial(nn.Conv2d, 6, 4, 1),
        ),
        (1, 3, 6, 6),
        {"conv2d": 2, "normalize": 1},
    ),
    ("relu_of_a_shared_conv", SharedConv, (1, 4, 5, 5), {"conv2d": 1, "lut": 1}),
    (
        "hardswish_not_after_conv",
        partial(sequence, partial(nn.MaxPool2d, 2), nn.Hardswish, partial(nn.Conv2d, 4, 4, 1)),
        (1, 4, 6, 6),
        {"max_pool2d": 1, "lut": 1, "conv2d": 1},
    ),
    (
        "conv_and_hardswish",
        partial(sequence, partial(nn.Conv2d, 4, 6, 3), nn.Hardswish),
        (1, 4, 6, 6),
        {"conv2d": 1, "lut": 1},
    ),
    (
        "conv_pool_conv",
        partial(
            sequence,
            partial(nn.Conv2d, 3, 6, 3),
            partial(nn.MaxPool2d, 2),
            partial(nn.Conv2d, 6, 4, 1),
        ),
        (1, 3, 8, 8),
        {"conv2d": 2, "max_pool2d": 1},
    ),
)


def cases() -> Iterator[Case]:
    yield from _batch_norm_cases()
    for name, module, shape, ops in _SPATIAL:
        yield spatial(name, module, shape, ops)
        last = (Input(shape, channels_last=True),)
        yield Case(f"{name}_channels_last", module, last, ops)
    gates = {"mean": 1, "conv2d": 2, "lut": 1, "mul": 1}
    yield Case("squeeze_excite", SqueezeExcite, (Input((1, 8, 5, 5)),), gates)
    shuffle = {"slice": 2, "conv2d": 2, "cat": 1}
    yield Case("channel_shuffle_unit", ShuffleUnit, (Input((1, 8, 4, 4)),), shuffle, 3)
    norm = {"conv2d": 2, "normalize": 1}
    # torch's result is channels_last here.
    yield Case("layer_norm_of_channels", ChannelsFirstNorm, (Input((1, 3, 6, 6)),), norm, 1)
    basic = {"conv2d": 3, "normalize": 3, "add": 1}
    yield spatial("residual_group_norm", ResidualGroupNorm, (1, 4, 8, 8), basic)
    convnext = {"depthwise_conv2d": 1, "normalize": 1, "linear": 2, "lut": 1, "add": 1}
    yield spatial("convnext_block", ConvNeXt, (1, 8, 8, 8), convnext)
    mixer = {"normalize": 2, "linear": 4, "lut": 2, "add": 2}
    yield Case("mixer_block", Mixer, (Input((1, 6, 8)),), mixer, 2)
    encoder = {"linear": 4, "normalize": 3}
    yield Case("layer_norm_autoencoder", _autoencoder, (Input((1, 24)),), encoder)
    normed = partial(sequence, partial(nn.BatchNorm1d, 9), partial(nn.Linear, 9, 5))
    yield Case("batch_norm1d_on_an_input", normed, (Input((1, 9)),), {"linear": 1})
    yield Case("layer_called_twice", Twice, (Input((1, 8)),), {"linear": 2, "lut": 2})
    yield Case(
        "channels_first_plus_channels_last",
        partial(Function, torch.add),
        (Input((1, 3, 4, 5)), Input((1, 3, 4, 5), channels_last=True)),
        {"add": 1},
        1,
    )
    classifier = partial(
        sequence,
        partial(nn.Conv2d, 3, 8, 3, 2),
        nn.ReLU,
        partial(nn.AdaptiveAvgPool2d, 1),
        nn.Flatten,
        partial(nn.Linear, 8, 5),
        partial(nn.Softmax, dim=1),
    )
    layers = {"conv2d": 1, "mean": 1, "linear": 1, "softmax": 1}
    yield Case("classifier", classifier, (Input((1, 3, 9, 9)),), layers, 1)
    flat = partial(sequence, partial(nn.Conv2d, 3, 4, 3), nn.Flatten, partial(nn.Linear, 36, 5))
    # The second transpose goes into the order of the linear layer's weights.
    yield Case("flatten_after_conv", flat, (Input((1, 3, 5, 5)),), {"conv2d": 1, "linear": 1}, 1)
    yield Case(
        "two_outputs",
        partial(Function, lambda x, y: (x + y, x * y)),
        (Input((3, 4)), Input((3, 4))),
        {"add": 1, "mul": 1},
    )
    yield Case(
        "relu_of_relu",
        partial(sequence, nn.ReLU, nn.ReLU6),
        (Input((3, 4), -8.0, 8.0),),
        {"lut": 1},
    )
    yield from recurrent.cases()


factory, calibration, test_inputs = as_model(cases)
