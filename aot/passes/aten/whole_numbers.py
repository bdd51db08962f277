# SPDX-License-Identifier: Apache-2.0
"""Makes float32 of inputs of uint8, int8 and int16, a camera's bytes or a microphone's samples,
where they come in: x.permute(0, 3, 1, 2).float() / 255 -> x.float().permute(0, 3, 1, 2) / 255.

So what only moves such numbers, or chooses among them, is of float32, and the device has all of it
as it was given. What casts them is of these floats, which are whole; what counts them and adds them
up is of int64. So is arithmetic that gives as few bits again, in which it wraps around then. Masks
among the operands of bits become numbers. Leaves ops that it does not know to be of numbers, and
arithmetic of an input's int16, which has no table of integers.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.quantization import WHOLE_NUMBERS
from aot.dialect.results import taken_from
from aot.errors import keep_names
from aot.passes.aten.composing import as_type
from aot.rules import rule_for
from aot.rules.function import is_integers, is_mask
from aot.rules.integers import WHOLE, held
from aot.rules.movement import Unquantized
from aot.rules.rule import Shares

_aten = torch.ops.aten
_INTEGERS = (*WHOLE_NUMBERS, torch.int32, torch.int64)
_PLACES = (_aten.argmax.default, _aten.argmin.default)
_COMPARED = [getattr(_aten, name).Scalar for name in ("eq", "ne", "lt", "le", "gt", "ge")]
_OF_BITS = {getattr(_aten, f"bitwise_{name}").Tensor for name in ("and", "or", "xor")}
_WRAPS = {
    *_OF_BITS,
    *(getattr(_aten, f"bitwise_{name}").Scalar for name in ("and", "or", "xor")),
    *(getattr(_aten, name).default for name in ("abs", "bitwise_not", "floor_divide", "neg")),
    *(getattr(_aten, name).Tensor for name in ("add", "sub", "mul", "remainder")),
    *(getattr(_aten, name).Scalar for name in ("add", "sub", "mul", "remainder")),
    _aten.div.Tensor_mode,
    _aten.sign.default,
    _aten.square.default,
}
_BY_NUMBERS = {
    _aten.__lshift__.Scalar,
    _aten.__rshift__.Scalar,
    _aten.pow.Tensor_Scalar,
}
"""The number has a type of its own."""

_CHOOSES = {
    *(getattr(_aten, name).default for name in ("amax", "amin", "max", "min", "median", "clamp")),
    _aten.relu.default,
    _aten.maximum.default,
    _aten.minimum.default,
    _aten.where.self,
}


def whole_numbers(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many inputs it made float32."""
    nodes = list(module.graph.nodes)
    floats: dict[Node, Node] = {}  # by the whole numbers that they are of
    for node in nodes:
        if node.op == "placeholder" and _is_whole(node):
            with module.graph.inserting_after(node):
                floats[node] = as_type(node, node, torch.float32)
        elif node.target in _COMPARED:
            node.update_arg(1, held(node, node.args[1]))
    count = len(floats)
    samples = {node for node in floats if node.meta["val"].dtype == torch.int16}
    for node in nodes:
        if node.op != "call_function":
            continue
        sources = node.all_input_nodes
        if node.target in _OF_BITS and is_integers(node):
            count += _count_masks(node)
        if node.target in _WRAPS | _BY_NUMBERS and _is_whole(node):
            keep_names(node)
            if not any(n in samples for n in sources):
                _widen(node, floats)
                count += 1
        elif any(n in floats for n in node.all_input_nodes):
            _take_floats(node, floats)
            if node in floats and any(n in samples for n in sources):
                samples.add(node)
    return count


def _count_masks(node: Node) -> int:
    """Has a node take masks as integers of its own type."""
    sources = [source for source in node.all_input_nodes if is_mask(source)]
    with node.graph.inserting_before(node):
        for source in sources:
            node.replace_input_with(source, as_type(node, source, node.meta["val"].dtype))
    return len(sources)


def _widen(node: Node, floats: dict[Node, Node]) -> None:
    """Has a node calculate in int64, and its readers what wraps around of that."""
    value = node.meta["val"]
    if len(node.args) > 1 and node.target not in _BY_NUMBERS and len(node.all_input_nodes) == 1:
        number: Any = held(node, node.args[1])
        node.update_arg(1, number)
    with node.graph.inserting_before(node):
        for source in node.all_input_nodes:
            wide = as_type(node, floats.get(source, source), torch.int64)
            node.replace_input_with(source, wide)
    node.meta["val"] = value.to(torch.int64)
    with node.graph.inserting_after(node):
        narrow = as_type(node, node, value.dtype)
    node.replace_all_uses_with(narrow, delete_user_cb=lambda user: user is not narrow)


def _is_whole(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype in WHOLE_NUMBERS


def _take_floats(node: Node, floats: dict[Node, Node]) -> None:
    """Has a node take the floats of the whole numbers that it takes; `floats` has it, too, where it
    gives such numbers.
    """
    value, takes = node.meta["val"], floats
    is_cast = node.target is _aten._to_copy.default
    if isinstance(value, tuple):  # of those that are chosen, and where they are
        node.meta["val"] = (value[0].to(torch.float32), *value[1:])
        for user in node.users:
            if taken_from(user)[1] == 0:
                user.meta["val"] = node.meta["val"][0]
                floats[user] = user
    elif is_cast and value.dtype == torch.float32:
        node.replace_all_uses_with(floats[node.all_input_nodes[0]])
    elif is_cast or node.target in _PLACES or value.dtype not in _INTEGERS:
        pass  # the same of floats
    elif _is_whole(node):
        others = [n for n in node.all_input_nodes if _is_whole(n) and n not in floats]
        if not _moves(node) or not all(map(_is_constant, others)):
            return
        with node.graph.inserting_before(node):
            takes = {**floats, **{n: as_type(node, n, torch.float32) for n in others}}
        node.meta["val"] = value.to(torch.float32)
        node.meta[WHOLE] = value.dtype
        floats[node] = node
    else:
        with node.graph.inserting_before(node):
            sources = [source for source in node.all_input_nodes if source in floats]
            takes = {source: as_type(node, floats[source], torch.int64) for source in sources}
    for source in [source for source in node.all_input_nodes if source in takes]:
        node.replace_input_with(source, takes[source])


def _is_constant(node: Node) -> bool:
    """Whether a value is the same whatever the model is given."""
    return (
        node.op != "placeholder"
        and not node.all_input_nodes
        or node.target is _aten.full_like.default
    )


def _moves(node: Node) -> bool:
    """Whether a node gives some of the numbers that it takes."""
    rule = rule_for(node)
    by_rule = isinstance(rule, Unquantized) or (
        rule is not None and isinstance(rule.output, Shares)
    )
    return by_rule or node.target in _CHOOSES
