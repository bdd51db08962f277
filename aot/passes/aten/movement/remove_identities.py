# SPDX-License-Identifier: Apache-2.0
"""Removes ATen ops returning their input:

- clone, alias, detach, dropout in eval mode, expand to the same shape;
- casts to the same dtype, or between dtypes of indices; padding by nothing;
- cat of one tensor; a cat's tensors without elements;
- arguments without effect; export's checks of a tensor's dtype and device (static
  here).

Leaves everything else: a broadcasting expand stays, and so does a pad with equal cropping and
padding. A view relying on a removed clone's strides becomes a reshape. Values are contiguous
afterwards, for any memory format of the model.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

_aten = torch.ops.aten
_ALWAYS = {
    _aten.clone.default,
    _aten.alias.default,
    _aten.detach.default,
    _aten.lift_fresh_copy.default,
    _aten.contiguous.default,
}
_IF_SAME_SHAPE = {
    _aten.expand.default,
    _aten.view.default,
    _aten.reshape.default,
    _aten._to_copy.default,
    _aten.slice.Tensor,  # its steps are forward: as many elements are the same elements
    _aten.adaptive_avg_pool2d.default,  # windows of one element
}


def _is_identity(node: Node) -> bool:
    if node.op != "call_function":
        return False
    if node.target in _ALWAYS:
        return True
    if node.target is _aten.cat.default:
        return len(node.args[0]) == 1  # type: ignore[arg-type]
    if node.target is _aten.dropout.default:
        return not node.args[2]
    if node.target is _aten.constant_pad_nd.default:
        amounts = node.args[1]
        assert isinstance(amounts, (list, tuple))
        return not any(amounts)
    if node.target not in _IF_SAME_SHAPE:
        return False
    source = node.args[0]
    assert isinstance(source, Node)
    before, after = source.meta["val"], node.meta["val"]
    dtypes = {before.dtype, after.dtype}
    same = len(dtypes) == 1 or dtypes == {torch.int32, torch.int64}
    return bool(before.shape == after.shape and same)


def _drop_empty(cat: Node) -> None:
    parts = cat.args[0]
    assert isinstance(parts, (list, tuple))
    given = [part for part in parts if part.meta["val"].numel()]  # type: ignore[union-attr]
    if given:
        cat.args = (given, *cat.args[1:])


def _drop_arguments(node: Node) -> None:
    """Drop memory formats, and a dtype equal to the result's."""
    source = node.args[0] if node.args else None
    kept = dict(node.kwargs)
    kept.pop("memory_format", None)
    is_cast = node.target is _aten._to_copy.default
    if "dtype" in kept and isinstance(source, Node) and not is_cast:
        dtypes = {n.meta["val"].dtype for n in (source, node)}
        if dtypes == {kept["dtype"]}:
            del kept["dtype"]
    node.kwargs = kept


def remove_identities(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many nodes were removed."""
    count = 0
    for node in list(module.graph.nodes):
        if node.target is _aten._assert_tensor_metadata.default:
            module.graph.erase_node(node)
            count += 1
            continue
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor):
            node.meta["val"] = value.contiguous()
            _drop_arguments(node)
        if node.target in (_aten.view.default, _aten._unsafe_view.default):
            node.target = _aten.reshape.default
        if node.target is _aten.cat.default:
            _drop_empty(node)
        if _is_identity(node):
            (source,) = node.args[0] if isinstance(node.args[0], list) else node.args[:1]
            node.replace_all_uses_with(source)
            module.graph.erase_node(node)
            count += 1
    return count
