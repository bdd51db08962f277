# SPDX-License-Identifier: Apache-2.0
"""Removes channels of one constant integer, and channels without readers; constants go into the
biases of their readers.

Such channels have weights of zero, or a ReLU cuts their whole range. The outputs stay equal to the
bit. channel_ranges.py proves the constants, live_channels.py finds the dead channels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import (
    Builder,
    arguments,
    calls,
    dialect_op,
    drop_dead_code,
    edge_of,
    shape_of,
    tensor_constant,
    value_of,
)
from aot.passes.rewrite.channel_maps import passed_on
from aot.passes.rewrite.drop_dead_constants import drop_dead_constants
from aot.passes.rewrite.live_channels import Live, live_channels
from aot.passes.rewrite.simplify_movement import simplify_movement

_BY_CHANNEL = ("bias", "multiplier", "shift")


@dataclass(frozen=True)
class ChannelCost:
    """Size of a layer.

    Attributes:
      inputs: channels.
      outputs: channels.
      macs: multiply-accumulates.
      constant_bytes: of its constants.
    """

    inputs: int
    outputs: int
    macs: int
    constant_bytes: int


@dataclass(frozen=True)
class Shrunk:
    """A layer with fewer channels.

    Attributes:
      name: of its node.
      module: of the model.
      before: its cost before the removal.
      after: its cost after it; of zeros if the layer went away.
    """

    name: str
    module: str
    before: ChannelCost
    after: ChannelCost


def remove_dead_channels(module: GraphModule) -> list[Shrunk]:
    """Rewrite the graph in place; return the layers with fewer channels."""
    drop_dead_code(module.graph)
    live = live_channels(module)
    if all(bool(channels.all()) for channels in live.channels.values()):
        return []
    layers = {node: _cost(node) for node in module.graph.nodes if _is_layer(node)}
    remover = _Remover(module, live)
    for node in list(module.graph.nodes):
        if node.op == "call_function":
            remover.remove(node)
    drop_dead_code(module.graph)
    simplify_movement(module)
    drop_dead_constants(module)
    module.recompile()
    left = set(module.graph.nodes)
    return [
        Shrunk(node.name, node.meta["origin"].module, before, after)
        for node, before in layers.items()
        if (after := _cost(node) if node in left else ChannelCost(0, 0, 0, 0)) != before
    ]


def _is_layer(node: Node) -> bool:
    op = dialect_op(node)
    return op is not None and op.macs is not None


def _cost(node: Node) -> ChannelCost:
    op = dialect_op(node)
    assert op is not None
    assert op.macs is not None
    read = next(n for n in node.all_input_nodes if n.op != "get_attr")
    values = [n.meta["val"] for n in node.all_input_nodes if n.op == "get_attr"]
    return ChannelCost(
        shape_of(read)[-1],
        shape_of(node)[-1],
        op.macs(*map(value_of, node.args)),
        sum(v.numel() * v.element_size() for v in values),
    )


class _Remover:
    def __init__(self, module: GraphModule, live: Live) -> None:
        self._module = module
        self._live = live
        self._builder = Builder(module, module.graph)
        self._made: dict[tuple[str, bytes], Node] = {}
        # Before any shape changes.
        self._sources = {n: passed_on(module, n) for n in module.graph.nodes if calls(n, "cat")}

    def remove(self, node: Node) -> None:
        """Leave the dead channels of a node and of its inputs out, if any is left."""
        rows = self._live.channels.get(node)
        read = [self._live.channels[n] for n in node.all_input_nodes if n in self._live.channels]
        if rows is None or not rows.any() or all(bool(c.all()) for c in (rows, *read)):
            return
        values = arguments(node)
        if node in self._live.readers:
            self._layer(node, values, rows)
        elif calls(node, "depthwise_conv2d"):
            self._constants(node, values, rows, -1)
        elif calls(node, "cat"):
            values["inputs"] = self._parts(node, rows)
        else:
            self._moved(node, values, rows)
        op = dialect_op(node)
        assert op is not None
        node.args, node.kwargs = tuple(values.values()), {}
        node.meta["val"] = op.returned(op.values(*map(value_of, node.args)))

    def _layer(self, node: Node, values: dict[str, Any], rows: torch.Tensor) -> None:
        reader = self._live.readers[node]
        columns = self._live.channels[reader.input]
        if not columns.all():
            bias = reader.bias(columns).to(torch.int32)
            values["bias"] = self._constant(node, values["bias"], bias)
        self._constants(node, values, rows, 0, columns)

    def _constants(
        self,
        node: Node,
        values: dict[str, Any],
        rows: torch.Tensor,
        dim: int,
        columns: torch.Tensor | None = None,
    ) -> None:
        """Take the live outputs of a layer's constants."""
        outputs = rows.nonzero().flatten()
        for name in ("weight", *_BY_CHANNEL):
            own = self._builder.constant_value(values[name])
            assert own is not None
            own = own.index_select(dim if name == "weight" else 0, outputs)
            if name == "weight" and columns is not None:
                own = own[..., columns]
            values[name] = self._constant(node, values[name], own)

    def _constant(self, node: Node, old: Node, value: torch.Tensor) -> Node:
        """Return a constant in place of another one; equal ones of several layers stay one."""
        key = str(old.target), value.numpy(force=True).tobytes()
        if key not in self._made:
            first = next(iter(self._module.graph.nodes))
            with self._module.graph.inserting_before(first):
                self._made[key] = self._builder.constant(str(old.target), value, edge_of(old))
        return self._made[key]

    def _parts(self, node: Node, rows: torch.Tensor) -> list[Node]:
        """Return the parts of a concatenation with live channels."""
        parts = []
        for part, index in self._sources[node] or ():
            known = tensor_constant(self._module, part)
            taken = index[rows & (index >= 0)]
            if known is not None and len(taken) > 0:
                part = self._constant(node, part, known[..., taken])
            if len(taken) > 0:
                parts.append(part)
        return parts

    def _moved(self, node: Node, values: dict[str, Any], rows: torch.Tensor) -> None:
        last = len(rows.shape) and len(node.meta["val"].shape) - 1
        if calls(node, "reshape"):
            values["shape"] = [*values["shape"][:-1], int(rows.sum())]
        elif calls(node, "slice") and values["dim"] == last:
            start = int(self._live.channels[values["input"]][: values["start"]].sum())
            values.update(start=start, end=start + int(rows.sum()))
        elif calls(node, "gather") and last in values["dims"]:
            at = values["dims"].index(last)
            known = self._builder.constant_value(values["indices"][at])
            assert known is not None
            places = self._live.channels[values["input"]].cumsum(0)[known.long()] - 1
            new = self._constant(node, values["indices"][at], places[rows].to(torch.int32))
            values["indices"] = [new if d == at else n for d, n in enumerate(values["indices"])]
        else:
            for name, value in values.items():
                known = tensor_constant(self._module, value)
                op = dialect_op(node)
                assert op is not None
                elementwise = op.transposes is not None and name in op.transposes.tensors
                if elementwise and known is not None and known.shape[-1:] == rows.shape:
                    values[name] = self._constant(node, value, known[..., rows])
