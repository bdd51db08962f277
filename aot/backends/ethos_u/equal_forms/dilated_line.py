# SPDX-License-Identifier: Apache-2.0
"""Convolutions of lines with a dilation: the steps of the dilation become columns of an image.

The kernel then has rows, and no dilation. Vela splits a convolution with a dilation above 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters import EMITTERS
from aot.backends.ethos_u.emitters.conv2d import windows_of
from aot.backends.ethos_u.equal_forms.row import U55, U65, EqualForm
from aot.backends.ethos_u.tosa import TosaGraph
from aot.backends.npus import Npu


def _is_dilated(
    input: torch.Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> bool:
    n, height, width, _channels = input.shape
    step = dilation[1]
    if not (n == height == kernel[0] == stride[1] == 1 and step > 1 and not any(padding[:2])):
        return False
    windows = windows_of(input, kernel, stride, padding, dilation)
    return not any(size % step for size in (width, *padding[2:], windows[1]))


def _matches(
    npu: Npu,
    input: torch.Tensor,
    weight: torch.Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    **_: object,
) -> bool:
    window = weight.shape[1:3], stride, padding, dilation
    return groups == 1 and _is_dilated(input, *window)


def _matches_depthwise(
    npu: Npu,
    input: torch.Tensor,
    weight: torch.Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    **_: object,
) -> bool:
    return _is_dilated(input, weight.shape[:2], stride, padding, dilation)


def _emit(
    op: str, graph: TosaGraph, input: TosaValue, weight: torch.Tensor, **given: Any
) -> TosaValue:
    rows = 1 if op == "conv2d" else 0  # their place in the weights' shape
    padding, (_, step) = given["padding"], given["dilation"]
    columns = {"padding": [p // step for p in padding[2:]] + [0, 0], "dilation": [1, 1]}
    _, _, width, channels = input.shape
    x = graph.reshape(input, (1, width // step, step, channels))
    tall = weight.transpose(rows, rows + 1)
    y = EMITTERS[op].emit(graph, input=x, weight=tall, **{**given, **columns})
    return graph.reshape(y, (1, 1, y.shape[1] * step, y.shape[3]))


FORMS = (
    EqualForm(
        "dilated_line",
        ("conv2d",),
        _matches,
        lambda graph, **given: _emit("conv2d", graph, **given),
        (U55, U65),
    ),
    EqualForm(
        "dilated_depthwise_line",
        ("depthwise_conv2d",),
        _matches_depthwise,
        lambda graph, **given: _emit("depthwise_conv2d", graph, **given),
        (U55, U65),
    ),
)
