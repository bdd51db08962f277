# SPDX-License-Identifier: Apache-2.0
"""Float ops whose kernel has another name and more results. The first result is the op's."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import Node
from torch.fx.node import map_arg

from aot.dialect.results import values_of

_aten = torch.ops.aten

_Call = tuple[Any, tuple[Any, ...]]


def _layer_norm(x: Node, shape: Any, weight: Any, bias: Any, eps: float, *_: Any) -> _Call:
    return _aten.native_layer_norm.default, (x, shape, weight, bias, eps)


def _group_norm(x: Node, groups: int, weight: Any, bias: Any, eps: float, *_: Any) -> _Call:
    n, c, *rest = x.meta["val"].shape
    return _aten.native_group_norm.default, (
        x,
        weight,
        bias,
        n,
        c,
        math.prod(rest),
        groups,
        eps,
    )


_FORMS: dict[Any, Callable[..., _Call]] = {
    _aten.layer_norm.default: _layer_norm,
    _aten.group_norm.default: _group_norm,
}


def kernel_form(node: Node) -> tuple[Any, Sequence[Any], Sequence[torch.Tensor]]:
    """Return the op that has a kernel, its arguments and its results (on the meta device)."""
    form = _FORMS.get(node.target)
    if form is None:
        return node.target, node.args, values_of(node)
    target, args = form(*node.args)
    return target, args, target(*map_arg(args, lambda n: n.meta["val"].to("meta")))
