# SPDX-License-Identifier: Apache-2.0
"""Detection of pointwise functions: one or more elementwise ops whose only tensor input is one
value of the same shape.

`x * torch.sigmoid(x)` is one function of x. So are `torch.where(x > 0, x, 0.1 * x)` and `1 / (1 +
x.abs())`. Each becomes one table on the device, independent of the ops used.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from heapq import heappop, heappush
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import tensor_constant
from aot.dialect.results import taken_from
from aot.upstream.torch import OpOverload

_aten = torch.ops.aten

_COMPOSITE = (
    "hardswish hardsigmoid silu softplus mish log_sigmoid selu celu hardshrink softshrink "
    "threshold logit square prelu _prelu_kernel"
)


_UNMARKED = {
    _aten._prelu_kernel.default,
    _aten._to_copy.default,
    _aten.hardswish.default,
    _aten.log_sigmoid.default,
    _aten.prelu.default,
    _aten.rsub.Tensor,
}
"""Ops that are pointwise although torch does not mark them so."""

KEPT = tuple(getattr(_aten, name).default for name in _COMPOSITE.split())
"""Composite pointwise ops that export keeps whole. Decomposition would scatter them."""


@functools.cache
def is_elementwise(target: object) -> bool:
    """Return True if an op is marked as pointwise by torch and is not random.

    Each element of its one result is then a function of one element of each input tensor.
    """
    if not isinstance(target, OpOverload):
        return False
    returns = [str(result.type) for result in target._schema.returns]
    is_random = torch.Tag.nondeterministic_seeded in target.tags
    marked = torch.Tag.pointwise in target.tags and not is_random and returns == ["Tensor"]
    return marked or target in _UNMARKED


WHOLE = "whole"
"""Key of a node's meta: the dtype of the integer inputs it selects from, now float32."""

_OF_SAMPLES = "of samples"
_MATERIALIZED = "materialized"
_INTEGER_END = "integer_end"

# Known function_root of nodes. Only elementwise nodes have one.
Roots = dict[Node, Node | None]

_KNOWN: dict[Graph, Roots] = {}


def is_scalar(value: object) -> bool:
    """Return True for a Python number, or a constant with one element."""
    if isinstance(value, (bool, int, float)):
        return True
    if not isinstance(value, Node) or value.op != "get_attr":
        return False
    fake = value.meta.get("val")
    return isinstance(fake, torch.Tensor) and fake.numel() == 1


def is_mask(node: Node) -> bool:
    """Return True if a value is a tensor of bools."""
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype == torch.bool


def is_integers(node: Node) -> bool:
    """Return True if a value is a tensor of indices, or of other integers."""
    return is_unquantized(node) and not is_mask(node)


def is_unquantized(node: Node) -> bool:
    """Return True if a value is no tensor of floats: masks, indices and other integers."""
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and not value.is_floating_point()


def of_samples(node: Node) -> bool:
    """Return True if a node converts int16 integer inputs, now float32, back to integers."""
    return _OF_SAMPLES in node.meta


def masks_of(node: Node) -> list[Node]:
    """Return the masks an op, or a pointwise function, reads."""
    return [source for source in unquantized_of(node) if is_mask(source)]


def unquantized_of(node: Node) -> list[Node]:
    """Return the unquantized values an op, or a pointwise function, reads."""
    root = function_root(node)
    sources = taken_from(node)[0].all_input_nodes if root is None else [root]
    return [source for source in sources if is_unquantized(source)]


def function_root(node: Node) -> Node | None:
    """Return the one value a node is a function of; None if it is no such function.

    A clamp fused with its producer is not a function of the producer: the two are one op. The root
    is never itself a pointwise function.
    """
    if node.graph in _KNOWN:
        return _KNOWN[node.graph].get(node)
    roots: Roots = {}
    for n in _sources_first(node, lambda n: not is_elementwise(n.target)):
        roots[n] = _find_root(n, roots)
    return roots.get(node)


def function_roots(graph: Graph) -> Roots:
    """Return function_root of every node of a graph, in one walk."""
    roots: Roots = {}
    for node in graph.nodes:
        roots[node] = _find_root(node, roots)
    return roots


@contextmanager
def roots_known(graph: Graph) -> Iterator[Roots]:
    """Cache function_roots of a graph that stays unchanged inside the context; function_root uses
    it, too.

    Without the cache it would walk back through all elementwise ops, e.g. a whole network of
    residual sums.
    """
    _KNOWN[graph] = function_roots(graph)
    try:
        yield _KNOWN[graph]
    finally:
        del _KNOWN[graph]


def mark_materialized(module: GraphModule) -> None:
    """Mark the functions with readers other than functions of the same value.

    Such a function has to be computed. It cannot only be part of a larger function's table.

    Run this once on the float graph. Functions of such a value start there, as they must after
    quantization. Integers end such a function unless they are only intermediate values of it.
    """
    for node in module.graph.nodes:
        is_cast = node.target is _aten._to_copy.default and is_integers(node)
        if is_cast and any(n.meta.get(WHOLE) == torch.int16 for n in node.all_input_nodes):
            node.meta[_OF_SAMPLES] = True
    roots = function_roots(module.graph)
    for node, root in reversed(list(roots.items())):
        if root is None or not is_integers(node):
            continue
        # Values computed from a mask's integers are no functions of the mask.
        inside = [
            roots[user] is root and not (is_mask(root) and _INTEGER_END in user.meta)
            for user in node.users
        ]
        if not (inside and all(inside)):
            node.meta[_INTEGER_END] = True
    _mark_read_by_others(module.graph)


def split_functions(
    module: GraphModule, setting: Callable[[Node], str], stays_float: Callable[[Node], bool]
) -> int:
    """Mark the points at which a function crosses layers with different settings; return their
    number.

    Such a function is computed in two steps, each with its layer's setting. A function of floats
    read through a mask is also split: there are no tables of floats, and ops after the mask have a
    form for masks.
    """
    roots = function_roots(module.graph)

    def is_end(node: Node, root: Node) -> bool:
        if is_mask(node):
            of_floats = root.op == "placeholder" or stays_float(root)
            return of_floats and not is_mask(root) and stays_float(node)
        inside = [u for u in node.users if roots[u] is root]
        return not is_unquantized(node) and any(setting(u) != setting(node) for u in inside)

    ends = [node for node, root in roots.items() if root is not None and is_end(node, root)]
    for node in ends:
        node.meta[_MATERIALIZED] = True
    return len(ends)


def _mark_read_by_others(graph: Graph) -> None:
    """Mark functions with a reader inside and one outside of functions of the same value, first to
    last.

    Each mark may change the roots of later nodes, so the search repeats until none is left.
    """
    roots = function_roots(graph)
    nodes = list(graph.nodes)
    places = {node: place for place, node in enumerate(nodes)}
    waiting = list(range(len(nodes)))  # a heap
    while waiting:
        node = nodes[heappop(waiting)]
        if not _is_read_by_others(node, roots):
            continue
        node.meta[_MATERIALIZED] = True
        for changed in _found_anew(node, roots):
            for near in (changed, *changed.all_input_nodes):
                heappush(waiting, places[near])


def _is_read_by_others(node: Node, roots: Roots) -> bool:
    root = roots[node]
    if root is None or _MATERIALIZED in node.meta:
        return False
    inside = [roots[user] is root for user in node.users]
    return any(inside) and not all(inside)


def _found_anew(marked: Node, roots: Roots) -> Iterator[Node]:
    """Recompute the roots that change if a node is marked. Yield the nodes with a changed root."""
    reached = deque(marked.users)
    while reached:
        node = reached.popleft()
        root = _find_root(node, roots)
        if root is not roots[node]:
            roots[node] = root
            reached.extend(node.users)
            yield node


def _find_root(node: Node, roots: Roots) -> Node | None:
    """Return the root of a node. Its elementwise sources must have theirs already."""
    from aot.rules import fused_clamp  # the table of rules is built from this module

    if node.op != "call_function" or not is_elementwise(node.target):
        return None
    if fused_clamp(node, roots) is not None:
        return None
    tensors = [a for a in node.all_input_nodes if not is_scalar(a)]
    if _INTEGER_END in node.meta:
        is_of_mask = len(tensors) == 1 and is_mask(tensors[0])
        same = is_of_mask and tensors[0].meta["val"].shape == node.meta["val"].shape
        if same and tensors[0].op != "get_attr":
            return tensors[0]
    found = {a if _MATERIALIZED in a.meta else roots.get(a) or a for a in tensors}
    if len(found) != 1:
        return None
    root = found.pop()
    if is_integers(root) or (_INTEGER_END in node.meta and is_mask(root)):
        return None
    value, own = root.meta.get("val"), node.meta.get("val")
    if not isinstance(value, torch.Tensor) or not isinstance(own, torch.Tensor):
        return None
    if own.dtype == torch.float32 and node.meta.get(WHOLE) == torch.int16:
        return None  # an int16 table interpolates linearly, with rounding
    if of_samples(node):
        return None
    return root if value.shape == own.shape and root.op != "get_attr" else None


def _sources_first(node: Node, ends: Callable[[Node], bool]) -> list[Node]:
    """Return a node and its ancestors, each after its sources, up to nodes for which `ends` is
    true.

    End nodes are not included. The search is not recursive: a chain may be longer than Python's
    stack.
    """
    order: dict[Node, None] = {}
    stack = [node]
    while stack:
        n = stack[-1]
        waiting = [s for s in n.all_input_nodes if s not in order and not ends(s)]
        if n in order or ends(n):
            stack.pop()
        elif waiting:
            stack.extend(reversed(waiting))
        else:
            order[stack.pop()] = None
    return list(order)


def is_interior(node: Node, roots: Roots) -> bool:
    """Return True if a pointwise function is needed only by functions of the same value.

    `roots` must be those of the whole graph.
    """
    root = roots[node]
    return root is not None and bool(node.users) and all(roots[u] is root for u in node.users)


def parts_of(ends: Container[Node], roots: Roots) -> set[Node]:
    """Return nodes needed only by functions of the same value; `ends` holds the last of these."""
    parts: set[Node] = set()
    for node in reversed(roots):
        if is_interior(node, roots) and all(u in ends or u in parts for u in node.users):
            parts.add(node)
    return parts


def members(node: Node) -> list[Node]:
    """Return the ops that make up the function at `node`, the node itself last."""
    root = function_root(node)
    return _sources_first(node, lambda n: n is root or is_scalar(n))


def evaluate(module: GraphModule, node: Node, values: torch.Tensor) -> torch.Tensor:
    """Return the function at `node` of the given values, by torch."""
    results: dict[Node, Any] = {}
    root = function_root(node)
    assert root is not None
    results[root] = values

    def value(n: Node) -> Any:
        if n in results:
            return results[n]
        constant = tensor_constant(module, n)
        assert constant is not None, n
        # A one-element constant may have more dimensions than the values.
        return constant.reshape(())

    for member in members(node):
        args, kwargs = map_arg(member.args, value), map_arg(member.kwargs, value)
        results[member] = _call(member.target, args, kwargs)
    result = results[node]
    assert isinstance(result, torch.Tensor)
    return result


def _call(target: Any, args: Any, kwargs: Any) -> Any:
    if target in (_aten.prelu.default, _aten._prelu_kernel.default):
        x, weight = args  # prelu's own weight may not be 0-d
        return torch.where(x > 0, x, x * weight)
    return target(*args, **kwargs)
