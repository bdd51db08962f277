# SPDX-License-Identifier: Apache-2.0
"""Recomposes softmax, norms and pools from torch's decompositions to core ops.

Programs come in this form from `run_decompositions`, and softmax from `vmap`. Leaves norms whose
mean or deviation has a reader.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.rule import argument
from aot.passes.aten.build import call
from aot.passes.aten.decompositions.builders import Results, read_results, source_of

_aten = torch.ops.aten
_WHOLE: dict[Any, Any] = {
    _aten._softmax.default: _aten.softmax.int,
    _aten._log_softmax.default: _aten.log_softmax.int,
}


def _softmax(module: GraphModule, node: Node) -> Results:
    return {0: call(node, _WHOLE[node.target], source_of(node), argument(node, "dim"))}


def _layer_norm(module: GraphModule, node: Node) -> Results:
    names = ("normalized_shape", "weight", "bias", "eps")
    return _norm(node, _aten.layer_norm.default, *(argument(node, name) for name in names))


def _group_norm(module: GraphModule, node: Node) -> Results:
    names = ("group", "weight", "bias", "eps")
    return _norm(node, _aten.group_norm.default, *(argument(node, name) for name in names))


def _norm(node: Node, whole: Any, *arguments: Any) -> Results:
    if read_results(node) != [0]:
        return {}
    return {0: call(node, whole, source_of(node), *arguments)}


def _average(module: GraphModule, node: Node) -> Results:
    size = argument(node, "output_size")
    return {0: call(node, _aten.adaptive_avg_pool2d.default, source_of(node), size)}


COMPOSED: dict[Any, Callable[[GraphModule, Node], Results]] = {
    _aten._softmax.default: _softmax,
    _aten._log_softmax.default: _softmax,
    _aten.native_layer_norm.default: _layer_norm,
    _aten.native_group_norm.default: _group_norm,
    _aten._adaptive_avg_pool2d.default: _average,
}
