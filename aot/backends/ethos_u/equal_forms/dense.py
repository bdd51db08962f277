# SPDX-License-Identifier: Apache-2.0
"""Convolutions with fewer or no groups, and weights of 0 in between.

- Thin groups merge until they have the eight channels that the NPU reads at once.
- All groups merge: on U85, a depthwise convolution of few channels, and groups of 1x1.
"""

from __future__ import annotations

from typing import Any

import torch

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters import conv2d
from aot.backends.ethos_u.emitters.conv2d import THIN, dense
from aot.backends.ethos_u.emitters.depthwise_conv2d import dense as dense_of_depthwise
from aot.backends.ethos_u.emitters.windows import LARGEST_STRIDE
from aot.backends.ethos_u.equal_forms.row import U85, EqualForm
from aot.backends.ethos_u.tosa import TosaGraph
from aot.backends.npus import Npu

_MOST_DEPTHWISE = 8  # channels


def _groups(groups: int, width: int) -> int:
    """Return the number of merged groups: the most with at least `THIN` channels each."""
    fitting = (n for n in range(2, groups) if groups % n == 0 and n * width >= THIN)
    return groups // next(fitting, groups)


def _is_thin(npu: Npu, weight: torch.Tensor, groups: int, stride: Any, **_: object) -> bool:
    width = weight.shape[3]
    return width < THIN and _groups(groups, width) > 1 and max(stride) <= LARGEST_STRIDE


def _merged(graph: TosaGraph, weight: torch.Tensor, groups: int, **given: Any) -> TosaValue:
    count = _groups(groups, weight.shape[3])
    parts = [dense(part, groups // count) for part in weight.chunk(count)]
    return conv2d.emit(graph, weight=torch.cat(parts), groups=count, **given)


def _is_grouped(npu: Npu, weight: torch.Tensor, groups: int, stride: Any, **_: object) -> bool:
    return groups > 1 and weight.shape[3] >= THIN and max(stride) <= LARGEST_STRIDE


def _dense(graph: TosaGraph, weight: torch.Tensor, groups: int, **given: Any) -> TosaValue:
    return conv2d.emit(graph, weight=dense(weight, groups), groups=1, **given)


def _is_small(
    npu: Npu, input: torch.Tensor, weight: torch.Tensor, stride: Any, **_: object
) -> bool:
    channels = input.shape[3]
    return weight.shape[2] == channels <= _MOST_DEPTHWISE and max(stride) <= LARGEST_STRIDE


def _depthwise(graph: TosaGraph, input: TosaValue, weight: torch.Tensor, **given: Any) -> TosaValue:
    whole = dense_of_depthwise(weight, input.shape[3])
    return conv2d.emit(graph, input=input, weight=whole, groups=1, **given)


FORMS = (
    EqualForm("merged_groups", ("conv2d",), _is_thin, _merged),
    EqualForm("dense_groups", ("conv2d",), _is_grouped, _dense, (U85,)),
    EqualForm("dense_depthwise", ("depthwise_conv2d",), _is_small, _depthwise, (U85,)),
)
