# SPDX-License-Identifier: Apache-2.0
"""Conversion of a region of the dialect to TOSA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.backends.ethos_u.block import TosaValue
from aot.backends.ethos_u.emitters import EMITTERS, WHY_NOT
from aot.backends.ethos_u.equal_forms import FORMS
from aot.backends.ethos_u.tosa import TosaGraph
from aot.backends.npus import Npu
from aot.dialect.graph import (
    Builder,
    arguments,
    border_nodes,
    calls,
    dialect_op,
    inputs_of,
    shape_of,
    tensor_constant,
    value_of,
)

ADOPTED = "ethos_u_"
"""Prefix of op names with the NPU's own arithmetic."""

_CONSTANTS = {"weight", "bias", "multiplier", "shift", "table", "exp_table", "group_scale"}


def reject(node: Node, npu: Npu) -> str:
    """Return why an NPU cannot run an op of the dialect; "" if it can."""
    op = dialect_op(node)
    assert op is not None  # partition asks of nothing else
    if op.name not in EMITTERS:
        return WHY_NOT.get(op.name, f"{op.name} has no form for it")
    module = node.graph.owning_module
    assert module is not None
    given = {name: _seen(module, value) for name, value in arguments(node).items()}
    for name in _CONSTANTS & given.keys():
        if isinstance(given[name], torch.Tensor) and given[name].is_meta:
            return f"its {name} is computed, not a constant"
    if npu.is_smallest and op.name == "lut" and calls(_moved(node), "transpose"):
        return "Vela loses tables behind a transpose on this NPU"
    emitter = EMITTERS[op.name]
    values = [value_of(n) for n in (node, *inputs_of(node))]
    is_wide = any(isinstance(v, torch.Tensor) and v.dtype is torch.int16 for v in values)
    if is_wide and emitter.not_int16 and not (npu.is_u85 and emitter.int16_on_u85):
        return f"its values are int16: {emitter.not_int16}"
    return emitter.reject(**{**given, **emitter.adapt(**given)})


def only_moves(node: Node) -> bool:
    op = dialect_op(node)
    assert op is not None
    return EMITTERS[op.name.removeprefix(ADOPTED)].moves


def adopt(region: GraphModule) -> None:
    """Replace ops, and constants, that the NPU cannot compute like the CPU.

    The replacements use the NPU's own arithmetic.
    """
    builder = Builder(region, region.graph)
    for node in list(region.graph.nodes):
        if (op := dialect_op(node)) is None:
            continue
        emitter, given = EMITTERS[op.name], arguments(node)
        seen = {name: _seen(region, value) for name, value in given.items()}
        adapted = emitter.adapt(**seen)
        with region.graph.inserting_before(node):
            for name, value in adapted.items():
                is_tensor = isinstance(value, torch.Tensor)
                given[name] = builder.constant(f"{node.name}_{name}", value) if is_tensor else value
        node.args, node.kwargs = tuple(given.values()), {}
        if emitter.adopts is not None:
            node.target = emitter.adopts.overload
    region.graph.eliminate_dead_code()
    region.recompile()


@dataclass(frozen=True)
class Emitted:
    """A region in TOSA.

    Attributes:
      tosa: the flatbuffer.
      writers: the op of a tensor, by the tensor's name.
    """

    tosa: bytes
    writers: Mapping[str, str]


@dataclass(frozen=True)
class Choice:
    """A choice of a region's forms.

    Attributes:
      near: True if inputs are copied first, for NPUs with far inputs.
      limits: True if results of convolutions without an activation get a CLAMP over all values.
      forms: names of the equal forms of ops, by the op's name; other ops have their emitter's.
    """

    near: bool = False
    limits: bool = False
    forms: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[object, ...]:
        """Return a hashable form."""
        return self.near, self.limits, *sorted(self.forms.items())


PLAIN = Choice()


def matching(region: GraphModule, npu: Npu) -> Mapping[str, list[str]]:
    """Return the ops, in graph order, that have each of the table's forms."""
    found: dict[str, list[str]] = {}
    for form in FORMS.values():
        for node in region.graph.nodes:
            op = dialect_op(node)
            if op is None or op.name not in form.ops or not form.holds(npu):
                continue
            given = {name: _seen(region, value) for name, value in arguments(node).items()}
            if form.matches(npu, **given):
                found.setdefault(form.name, []).append(node.name)
    return found


def emitted(region: GraphModule, npu: Npu, choice: Choice = PLAIN) -> Emitted:
    """Return the TOSA graph of an adopted region; `reject` must accept each of its ops."""
    graph = TosaGraph(npu)
    values: dict[Node, TosaValue] = {}
    inputs, outputs = border_nodes(region)
    for node in inputs:
        value = graph.input(node.meta["val"])
        values[node] = graph.near(value) if choice.near else value
    for node in region.graph.nodes:
        if op := dialect_op(node):
            given = {
                name: _emitted(region, values, value) for name, value in arguments(node).items()
            }
            graph.writer = node.name
            graph.ends = all(user.op == "output" for user in node.users)
            # A table becomes part of the convolution: a CLAMP would be between them.
            graph.limits = choice.limits and not any(calls(user, "lut") for user in node.users)
            form = choice.forms.get(node.name)
            emitter = EMITTERS[op.name.removeprefix(ADOPTED)] if form is None else FORMS[form]
            values[node] = emitter.emit(graph, **given)
            assert values[node].shape == shape_of(node), node
            if len(node.users) > 1:
                graph.share(values[node])
    for node in outputs:
        graph.output(values[node])
    return Emitted(graph.serialize(), graph.writers)


def _moved(node: Node) -> Node:
    """Return the source of an op's input, before reshapes."""
    (source,) = inputs_of(node)
    return _moved(source) if calls(source, "reshape") else source


def _seen(module: GraphModule, value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_seen(module, v) for v in value]
    if not isinstance(value, Node):
        return value
    constant = tensor_constant(module, value)
    return value.meta["val"] if constant is None else constant


def _emitted(module: GraphModule, values: dict[Node, TosaValue], value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_emitted(module, values, v) for v in value]
    return values[value] if value in values else _seen(module, value)
