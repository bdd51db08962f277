# SPDX-License-Identifier: Apache-2.0
"""root(sum(power(x))) -> m * root(sum(power(x / m))), with m the largest magnitude of the summed
values.

For norms of an order above 2, over dimensions or windows. Powers have the range of the values,
times their order in bits; 8 bits cannot hold it: x^4 of a tenth of the range is a ten thousandth.
Quotients by m are in [-1, 1], and the sum is 1 or more.

Leaves sums with readers other than the root, and large windows.
"""

from __future__ import annotations

import itertools
import math

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import drop_dead_code, tensor_constant
from aot.dialect.rule import argument, as_clamp, reduction
from aot.passes.aten.build import call
from aot.rules.function import function_root, function_roots, members
from aot.rules.movement import RESHAPE_TARGETS

_aten = torch.ops.aten
_REDUCTIONS = {
    _aten.sum.dim_IntList,
    _aten.sum.default,
    _aten.mean.dim,
    _aten.mean.default,
}
_POOLS = {_aten.avg_pool1d.default, _aten.avg_pool2d.default}
_LARGEST_WINDOW = 16
_LEAST = 1e-12  # divisor of all-zero values
_SAMPLES = torch.tensor([1.0, 0.5, 2.0, 3.0])


def scaled_powers(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many norms changed."""
    count = 0
    for root, total in function_roots(module.graph).items():
        if total is None or (reduced := _unmoved(total)).target not in _REDUCTIONS | _POOLS:
            continue
        if not root.users or function_root(root) is not total:  # changed with another root
            continue
        powers = _unmoved(reduced.all_input_nodes[0])
        value, order = _base_of(module, powers)
        if value is None or abs(order * (degree(module, root, total) or 0.0) - 1.0) > 1e-4:
            continue
        with module.graph.inserting_before(root):
            scaled = _scaled(root, total, reduced, powers, value)
        if scaled is not None:
            root.replace_all_uses_with(scaled)
            drop_dead_code(module.graph)
            count += 1
    return count


def _unmoved(node: Node) -> Node:
    """Return the source of a value before reshapes."""
    while node.target in RESHAPE_TARGETS:
        node = node.all_input_nodes[0]
    return node


def _base_of(module: GraphModule, powers: Node) -> tuple[Node | None, float]:
    """Return the base of powers, and their order; None as the base if the order is not above 2."""
    found: tuple[Node | None, float] = (None, 2.0)
    root = function_root(powers)
    if root is None:
        return found
    for node in (*reversed(members(powers)[:-1]), root):
        order = degree(module, powers, node)
        if order is not None and order > found[1] + 1e-3:
            found = node, order
    return found


def degree(module: GraphModule, node: Node, value: Node) -> float | None:
    """Return n if a function of a value is |v|^n times a constant for each sign, else None."""
    results = []
    for sign in (1.0, -1.0):
        result = evaluated(module, node, {value: sign * _SAMPLES})
        if result is None:
            return None
        results.append(result)
    positive, negative = results
    if not bool(positive.isfinite().all()) or not float(positive[0]):
        return None
    order = math.log2(abs(float(positive[2] / positive[0])) or 1.0)
    for result in (positive, negative):
        wanted = result[0] * _SAMPLES**order
        if not torch.allclose(result, wanted, rtol=1e-4, atol=0.0, equal_nan=True):
            return None
    return order


def evaluated(
    module: GraphModule, node: Node, known: dict[Node, torch.Tensor]
) -> torch.Tensor | None:
    """Return the function of known values; None if it reads another one."""
    for member in members(node):
        sources: dict[Node, torch.Tensor | None] = {}
        for source in member.all_input_nodes:
            constant = tensor_constant(module, source)
            if constant is not None and constant.numel() == 1:
                constant = constant.reshape(())
            sources[source] = known.get(source) if constant is None else constant
        if member not in known and all(value is not None for value in sources.values()):
            args, kwargs = map_arg((member.args, member.kwargs), sources.__getitem__)
            known[member] = member.target(*args, **kwargs)  # type: ignore[operator]
    return known.get(node)


def _scaled(root: Node, total: Node, reduced: Node, powers: Node, value: Node) -> Node | None:
    """Return the norm of a root, over values divided by their largest magnitude."""
    given: Node | None = _shaped(root, value, reduced.all_input_nodes[0])
    assert given is not None
    dims, keepdim = [-1], False
    if reduced.target not in _POOLS:
        dims, keepdim = reduction(reduced, given.meta["val"].dim())
    else:
        given = _windows(root, reduced, given)
        if given is None:
            return None
    limits = as_clamp(value)
    is_positive = limits is not None and limits.minimum is not None and limits.minimum >= 0.0
    magnitude = given if is_positive else call(root, _aten.abs.default, given)
    largest = call(root, _aten.amax.default, magnitude, dims, True)
    largest = call(root, _aten.clamp.default, largest, _LEAST)
    quotients = call(root, _aten.div.Tensor, given, largest)
    is_sum = reduced.target in (_aten.sum.dim_IntList, _aten.sum.default)
    reduce = _aten.sum.dim_IntList if is_sum else _aten.mean.dim
    of_quotients = call(root, reduce, _again(powers, value, quotients), dims, keepdim)
    norm = _again(root, total, _shaped(root, of_quotients, total))
    return call(root, _aten.mul.Tensor, norm, _shaped(root, largest, root))


def _shaped(root: Node, value: Node, like: Node) -> Node:
    shape = list(like.meta["val"].shape)
    if list(value.meta["val"].shape) == shape:
        return value
    return call(root, _aten.reshape.default, value, shape)


def _again(node: Node, value: Node, instead: Node) -> Node:
    """Return the same function of another value."""
    made = {value: instead}
    for member in members(node):
        if member is not value and not made.keys().isdisjoint(member.all_input_nodes):
            args, kwargs = map_arg((member.args, member.kwargs), lambda n: made.get(n, n))
            assert not kwargs
            made[member] = call(member, member.target, *args)
    return made[node]


def _windows(root: Node, pool: Node, value: Node) -> Node | None:
    """Return the elements of each pooling window in a last dimension; None if there are many, or
    the pool pads.
    """
    rank = 1 if pool.target is _aten.avg_pool1d.default else 2
    names = ("kernel_size", "stride", "padding")
    kernel, stride, padding = ([*argument(pool, name)] for name in names)
    kernel, stride = (part * (rank // len(part)) for part in (kernel, stride or kernel))
    has_divisor = rank == 2 and argument(pool, "divisor_override") is not None
    if any(padding) or has_divisor or argument(pool, "ceil_mode"):
        return None
    if math.prod(kernel) > _LARGEST_WINDOW:
        return None
    shape = pool.meta["val"].shape[-rank:]
    parts = []
    for places in itertools.product(*map(range, kernel)):
        part = value
        for dim, (place, step, count) in enumerate(zip(places, stride, shape, strict=True)):
            end = place + (count - 1) * step + 1
            part = call(root, _aten.slice.Tensor, part, dim - rank, place, end, step)
        parts.append(call(root, _aten.unsqueeze.default, part, -1))
    return call(root, _aten.cat.default, parts, -1)
