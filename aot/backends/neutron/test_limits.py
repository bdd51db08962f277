# SPDX-License-Identifier: Apache-2.0
"""The limits of Neutron NPUs: calls beyond a limit stay on the core, calls within it do not."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.fx import GraphModule

from aot.backends.neutron.test_backend import POINT, TARGET, after, one, partitioned
from aot.dialect.graph import dialect_op
from aot.dialect.library import OPS
from aot.partition.partition import partition
from aot.partition.testing import IMAGE, everything, rewritten

LINE = (1, 1, 1, 4100)

# name: function, its parts, shape of the input, the op left to the core, the reason
LEFT: dict[str, tuple[Callable[..., Any], list[nn.Module], tuple[int, ...], str, str]] = {
    "stride": (
        one,
        [nn.ConvTranspose2d(3, 4, 4, stride=3)],
        IMAGE,
        "transpose_conv2d",
        r"its stride is \[3, 3\], of at most 2",
    ),
    "transposed stride": (
        one,
        [nn.ConvTranspose2d(3, 4, 1, stride=2)],
        IMAGE,
        "transpose_conv2d",
        r"its stride is \[2, 2\], larger than its kernel, \[1, 1\]",
    ),
    "wide kernel": (
        one,
        [nn.Conv2d(1, 2, (1, 4097))],
        (1, 1, 1, 4100),
        "conv2d",
        r"its kernel is \[1, 4097\], of at most 4096",
    ),
    "many weights": (
        one,
        [nn.Conv2d(512, 1, (16, 8))],
        (1, 512, 16, 8),
        "conv2d",
        "it has 16 x 8 x 512 weights for an output channel, of at most 65535",
    ),
    "many groups": (
        one,
        [nn.Conv2d(24, 12, 1, groups=12)],
        (1, 24, 4, 4),
        "conv2d",
        "it has 12 groups, of at most 10",
    ),
    "multiplier": (
        one,
        [nn.Conv2d(3, 6, 3, groups=3)],
        IMAGE,
        "depthwise_conv2d",
        "it makes 2 channels of each: the NPU makes one",
    ),
    "softmax of channels": (
        lambda a, x: torch.softmax(a(x), 1),
        [POINT],
        (1, 3, 65, 64),
        "softmax",
        "of 4160 rows, of at most 4096",
    ),
    "softmax of many": (
        lambda a, x: torch.softmax(a(x), -1),
        [nn.Linear(2, 2041)],
        (1, 2),
        "softmax",
        "of 2041 values, of at most 2040",
    ),
    "softmax of a vector": (
        lambda a, x: torch.softmax(a(x), -1),
        [nn.Linear(6, 4)],
        (6,),
        "softmax",
        "along dimension 0 of 1",
    ),
    "resize": (
        after(lambda x: F.interpolate(x, scale_factor=3, mode="bilinear")),
        [POINT],
        IMAGE,
        "resize_bilinear",
        r"from \[8, 6\] to \[24, 18\]: the NPU resizes by 1, 2, 4, 8",
    ),
    "nearest": (
        after(lambda x: F.interpolate(x, scale_factor=3)),
        [POINT],
        IMAGE,
        "gather",
        r"from \[8, 6\] to \[24, 18\]",
    ),
    "gather": (after(lambda x: x.flip(3)), [POINT], IMAGE, "gather", "it gathers something else"),
    "step": (after(lambda x: x[..., ::2]), [POINT], IMAGE, "slice", "it takes every 2th"),
    "function": (after(torch.erf), [POINT], IMAGE, "lut", "its table does not match any of QUANT"),
    "cumsum": (after(lambda x: x.cumsum(2)), [POINT], IMAGE, "cumsum", "none of the NPU's ops"),
    "both repeated": (
        lambda a, x: a(x).mean(2, keepdim=True) + a(x).mean(3, keepdim=True),
        [POINT],
        IMAGE,
        "add",
        "both operands are repeated",
    ),
    "strided": (
        one,
        [nn.Conv2d(1, 2, 1, stride=(1, 4097))],
        LINE,
        "conv2d",
        r"its stride is \[1, 4097\], of at most 4096",
    ),
    "dilated": (
        one,
        [nn.Conv2d(1, 2, (1, 2), dilation=(1, 4097))],
        LINE,
        "conv2d",
        r"its dilation is \[1, 4097\], of at most 4096",
    ),
    "wide kernel of channels": (
        one,
        [nn.Conv2d(2, 2, (1, 4097), groups=2)],
        (1, 2, 1, 4100),
        "depthwise_conv2d",
        r"its kernel is \[1, 4097\], of at most 4096",
    ),
    "wide transposed kernel": (
        one,
        [nn.ConvTranspose2d(1, 1, (1, 4097))],
        (1, 1, 1, 2),
        "transpose_conv2d",
        r"its kernel is \[1, 4097\], of at most 4096",
    ),
    "transposed padding": (
        one,
        [nn.ConvTranspose2d(3, 4, 2, stride=2, padding=2)],
        IMAGE,
        "transpose_conv2d",
        r"its padding is \[2, 2\], as large as its kernel, \[2, 2\]",
    ),
    "transposed groups": (
        one,
        [nn.ConvTranspose2d(4, 4, 2, groups=2)],
        (1, 4, 3, 3),
        "transpose_conv2d",
        "groups or dilation in a transposed convolution",
    ),
    "transposed dilation": (
        one,
        [nn.ConvTranspose2d(4, 4, 2, dilation=2)],
        (1, 4, 3, 3),
        "transpose_conv2d",
        "groups or dilation in a transposed convolution",
    ),
    "many inputs": (
        one,
        [nn.Linear(65529, 1)],
        (1, 65529),
        "linear",
        "it has 1 x 1 x 65536 weights for an output channel, of at most 65535",
    ),
    "wide average": (
        after(lambda x: F.avg_pool2d(x, (1, 4097))),
        [nn.Conv2d(1, 2, 1)],
        LINE,
        "avg_pool2d",
        r"its kernel is \[1, 4097\], of at most 4096",
    ),
    "strided average": (
        after(lambda x: F.avg_pool2d(x, 1, (1, 4097))),
        [nn.Conv2d(1, 2, 1)],
        LINE,
        "avg_pool2d",
        r"its stride is \[1, 4097\], of at most 4096",
    ),
    "wide maximum": (
        after(lambda x: F.max_pool2d(x, (1, 4097))),
        [nn.Conv2d(1, 2, 1)],
        LINE,
        "max_pool2d",
        r"its kernel is \[1, 4097\], of at most 4096",
    ),
    "padded maximum": (
        after(lambda x: F.max_pool2d(x, 3, 33, padding=1)),
        [POINT],
        (1, 3, 40, 40),
        "max_pool2d",
        r"its stride is \[33, 33\], of at most 32 with padding",
    ),
}

# Largest values within the limits.
ALLOWED: dict[str, tuple[Callable[..., Any], list[nn.Module], tuple[int, ...], str]] = {
    "kernel": (one, [nn.Conv2d(1, 2, (1, 4096))], LINE, "conv2d"),
    "weights": (one, [nn.Conv2d(504, 1, (13, 10))], (1, 504, 13, 10), "conv2d"),
    "groups": (one, [nn.Conv2d(20, 10, 1, groups=10)], (1, 20, 4, 4), "conv2d"),
    "inputs": (one, [nn.Linear(65528, 1)], (1, 65528), "linear"),
    "values of softmax": (
        lambda a, x: torch.softmax(a(x), -1),
        [nn.Linear(2, 2040)],
        (1, 2),
        "softmax",
    ),
    "rows of softmax": (
        lambda a, x: torch.softmax(a(x), 1),
        [POINT],
        (1, 3, 64, 64),
        "softmax",
    ),
    "factor": (
        after(lambda x: F.interpolate(x, scale_factor=8, mode="bilinear")),
        [POINT],
        IMAGE,
        "resize_bilinear",
    ),
    "padded maximum": (
        after(lambda x: F.max_pool2d(x, 3, 32, padding=1)),
        [POINT],
        (1, 3, 40, 40),
        "max_pool2d",
    ),
}

# Handled by the quantizer if it has the NPU's traits.
OTHER_VALUES: dict[str, tuple[Callable[..., Any], nn.Module, tuple[int, ...], str]] = {
    "bmm": (
        lambda a, x: a(x) @ a(x).transpose(1, 2),
        nn.Linear(6, 4),
        (1, 5, 6),
        "has zero_point .*, not 0",
    ),
    "mean": (after(lambda x: x.mean((2, 3))), POINT, IMAGE, "differ in scale or zero_point"),
}


def told(module: GraphModule, name: str) -> list[str]:
    """Why ops of a name are left to the core."""
    return [
        n.meta["not_on"].get("neutron", "")
        for n, inside in everything(module)
        if not inside and getattr(dialect_op(n), "name", "") == name
    ]


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_to_the_core(name: str) -> None:
    function, parts, shape, op, reason = LEFT[name]
    torch.manual_seed(0)
    (text,) = told(partitioned(function, *parts, shapes=[shape]), op)
    assert re.search(reason, text)


@pytest.mark.parametrize("name", ALLOWED)
def test_what_is_just_allowed(name: str) -> None:
    function, parts, shape, op = ALLOWED[name]
    torch.manual_seed(0)
    module = partitioned(function, *parts, shapes=[shape])
    assert told(module, op) == []
    taken = [o.name for n, inside in everything(module) if inside and (o := dialect_op(n))]
    assert op in taken


@pytest.mark.parametrize("name", OTHER_VALUES)
def test_values_that_did_not_come_out_as_asked(name: str) -> None:
    function, part, shape, reason = OTHER_VALUES[name]
    torch.manual_seed(0)
    module = rewritten(function, part, shapes=[shape])
    partition(module, TARGET)
    (text,) = told(module, name)
    assert re.search(reason, text)


def test_every_op_of_one_quantization_has_it_in_the_dialect() -> None:
    """The NPU's requirement always holds here: the dialect's ops have no other form."""
    shared = {"avg_pool2d", "cat", "max_pool2d", "amax", "amin"}
    assert all(OPS[name].shares_quantization for name in shared)
