# SPDX-License-Identifier: Apache-2.0
"""x.permute(0, 3, 1, 2).float() / 255 -> x.float().permute(0, 3, 1, 2) / 255

Integer inputs of uint8, int8 and int16 (a camera's bytes, a microphone's samples) become float32 at
the input. Moves and choices of such numbers are then float32, and the device keeps them exactly.
Casts read these floats, all integers. Counts and sums are int64. Arithmetic with results in the
same narrow type is int64, too, and wraps around afterwards. Masks as operands of bitwise ops become
numbers. Leaves unknown ops.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.quantization import WHOLE_NUMBERS
from aot.dialect.results import taken_from
from aot.dialect.rule import Shares, argument, as_clamp
from aot.errors import keep_names
from aot.passes.aten.build import call, constant
from aot.passes.aten.decompositions.builders import as_type
from aot.passes.aten.decompositions.integer_ops import MATRIX_PRODUCTS, SHIFTS
from aot.rules import rule_for
from aot.rules.function import WHOLE, is_integers, is_mask
from aot.rules.integers import held
from aot.rules.movement import Unquantized

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
    *(_aten.cumsum.default, _aten.sum.default, _aten.sum.dim_IntList),
    *(_aten.scatter_add.default, _aten.scatter_reduce.two, _aten.index_reduce.default),
    *(_aten.scatter.reduce, _aten.scatter.value_reduce),
    _aten.sign.default,
    _aten.square.default,
    *MATRIX_PRODUCTS,
    *(_aten.prod.default, _aten.prod.dim_int),
}
_CLAMPS = (_aten.clamp.default, _aten.relu.default)
_BY_NUMBERS = {*SHIFTS, _aten.pow.Scalar, _aten.pow.Tensor_Scalar}
"""Ops whose number has a type of its own."""

_CHOOSES = {
    *(getattr(_aten, name).default for name in ("amax", "amin", "max", "min", "median")),
    *_CLAMPS,
    _aten.maximum.default,
    _aten.minimum.default,
    _aten.scatter.value,
    _aten.where.self,
}


def integer_inputs_to_float(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many inputs it made float32."""
    nodes = list(module.graph.nodes)
    floats: dict[Node, Node] = {}  # by their integer inputs
    for node in nodes:
        if node.op == "placeholder" and _is_whole(node):
            with module.graph.inserting_after(node):
                floats[node] = _as_float(node, node)
        elif node.target in _COMPARED:
            node.update_arg(1, held(node, node.args[1]))
        elif node.target is _aten.clamp.default and _is_whole(node):
            node.args = (node.args[0], *(held(node, limit) for limit in node.args[1:]))
    count = len(floats)
    samples = {node for node in floats if node.meta["val"].dtype == torch.int16}
    for node in nodes:
        if node.op != "call_function":
            continue
        sources = node.all_input_nodes
        if node.target in _OF_BITS and is_integers(node):
            count += _count_masks(node)
        if _calculates(node) and _is_whole(node):
            keep_names(node)
            _widen(node, floats)
            count += 1
        elif node.target in _CLAMPS and any(n in samples for n in sources):
            samples.add(_clamped(module, node, floats))
        elif any(n in floats for n in node.all_input_nodes):
            _take_floats(node, floats)
            if node in floats and any(n in samples for n in sources):
                samples.add(node)
    return count


def _calculates(node: Node) -> bool:
    """Return True if a node's result may have to wrap around."""
    if node.target is _aten.index_put.default:
        return bool(argument(node, "accumulate")) and not any(map(is_mask, node.all_input_nodes))
    return node.target in _WRAPS | _BY_NUMBERS


def _count_masks(node: Node) -> int:
    """Convert a node's masks to integers of its own type; return their count."""
    sources = [source for source in node.all_input_nodes if is_mask(source)]
    with node.graph.inserting_before(node):
        for source in sources:
            node.replace_input_with(source, as_type(node, source, node.meta["val"].dtype))
    return len(sources)


def _widen(node: Node, floats: dict[Node, Node]) -> None:
    """Make a node calculate in int64; its readers get the wrapped result."""
    value = node.meta["val"]
    if "dtype" in node.kwargs:
        node.update_kwarg("dtype", torch.int64)
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
    """Make a node read the floats of its integer inputs.

    If it gives such numbers, `floats` gets its entry, too.
    """
    value = node.meta["val"]
    is_cast = node.target is _aten._to_copy.default
    if isinstance(value, tuple) and [v.dtype for v in value[1:]] == [torch.int64]:
        # The chosen numbers, and their indices.
        node.meta["val"] = (value[0].to(torch.float32), *value[1:])
        for user in node.users:
            if taken_from(user)[1] == 0:
                user.meta["val"] = node.meta["val"][0]
                user.meta[WHOLE] = node.meta[WHOLE] = value[0].dtype
                floats[user] = user
        takes = floats
    elif not isinstance(value, torch.Tensor):
        takes = _as_before(node, floats)
    elif is_cast and value.dtype == torch.float32:
        node.replace_all_uses_with(floats[node.all_input_nodes[0]])
        return
    elif _is_whole(node) and not is_cast:
        if _moves(node):
            others = [n for n in node.all_input_nodes if _is_whole(n) and n not in floats]
            with node.graph.inserting_before(node):
                takes = {**floats, **{n: _as_float(node, n) for n in others}}
            node.meta["val"] = value.to(torch.float32)
            node.meta[WHOLE] = value.dtype
            floats[node] = node
        else:
            takes = _as_before(node, floats)
    elif node.target in _PLACES or not (value.dtype in _INTEGERS or _counts(node, floats)):
        takes = floats  # the same of floats
    else:
        takes = _as(torch.int64, node, floats)
    _replace_inputs(node, takes)


def _replace_inputs(node: Node, takes: dict[Node, Node]) -> None:
    for source in [source for source in node.all_input_nodes if source in takes]:
        node.replace_input_with(source, takes[source])


def _clamped(module: GraphModule, node: Node, floats: dict[Node, Node]) -> Node:
    """Clamp samples: the straight lines of an int16 table would round."""
    clamp, x = as_clamp(node), floats[node.all_input_nodes[0]]
    assert clamp is not None
    limits = ((clamp.minimum, _aten.maximum.default), (clamp.maximum, _aten.minimum.default))
    dtype = node.meta[WHOLE] = node.meta["val"].dtype
    kind = torch.iinfo(dtype)
    with node.graph.inserting_before(node):
        for limit, target in limits:
            if limit is not None:
                held = torch.tensor([min(max(limit, kind.min), kind.max)])
                x = call(node, target, x, constant(module, node, "limit", held))
    node.replace_all_uses_with(x)
    floats[x] = x
    return x


def _counts(node: Node, floats: dict[Node, Node]) -> bool:
    """Return True if a node reads integers, and integer inputs that are float32 now."""
    return any(is_integers(n) and n not in floats for n in node.all_input_nodes)


def _as_before(node: Node, floats: dict[Node, Node]) -> dict[Node, Node]:
    """Return a node's integer inputs in their own type: no float form replaces them."""
    moved = [n for n in node.all_input_nodes if floats.get(n) is n]
    takes: dict[Node, Node] = {}
    for dtype in {n.meta[WHOLE] for n in moved}:
        takes |= _as(dtype, node, {n: n for n in moved if n.meta[WHOLE] == dtype})
    return takes


def _as(dtype: torch.dtype, node: Node, floats: dict[Node, Node]) -> dict[Node, Node]:
    """Return the floats that a node reads as integers, by their integer inputs."""
    with node.graph.inserting_before(node):
        sources = [source for source in node.all_input_nodes if source in floats]
        return {source: as_type(node, floats[source], dtype) for source in sources}


def _as_float(node: Node, numbers: Node) -> Node:
    """Return integers as float32; the device keeps them exactly."""
    made = as_type(node, numbers, torch.float32)
    made.meta[WHOLE] = numbers.meta["val"].dtype
    return made


def _moves(node: Node) -> bool:
    """Return True if a node's result is a selection of its input numbers."""
    rule = rule_for(node)
    if node.target in _CHOOSES:
        return True
    if rule is None or rule.reject(node) is not None:
        return False
    shares = isinstance(rule.output, Shares) and not rule.op(node).averages
    return shares or isinstance(rule, Unquantized)
