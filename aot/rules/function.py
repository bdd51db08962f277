# SPDX-License-Identifier: Apache-2.0
"""Which nodes are functions of one value: an elementwise op, or several, whose only tensor input is
one value of the same shape.

`x * torch.sigmoid(x)`, `torch.where(x > 0, x, 0.1 * x)` and `1 / (1 + x.abs())` are each one
function of x, whatever ops they are written with, so each is one table on the device.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import tensor_constant

_aten = torch.ops.aten

_UNARY = (
    "abs acos acosh asin asinh atan atanh ceil celu clamp clamp_max clamp_min cos cosh elu erf "
    "erfc exp exp2 expm1 floor frac "
    "gelu hardshrink hardsigmoid hardswish hardtanh isinf isnan leaky_relu log log10 log1p log2 "
    "log_sigmoid_forward logical_not "
    "log_sigmoid logit mish neg reciprocal relu relu6 round rsqrt selu sigmoid sign silu sin sinh "
    "softplus softshrink sqrt square "
    "tan tanh threshold trunc"
)
_BINARY = (
    "add atan2 div eq fmod ge gt le logical_and logical_or lt maximum minimum mul ne pow "
    "remainder rsub sub where"
)


def _overloads(names: str) -> frozenset[Any]:
    """Every overload of the named ops that gives one tensor and writes into none."""
    found = set()
    for name in names.split():
        packet = getattr(_aten, name)
        for overload in packet.overloads():
            op = getattr(packet, overload)
            returns = op._schema.returns
            if len(returns) == 1 and not op._schema.is_mutable:
                found.add(op)
    return frozenset(found)


ELEMENTWISE = _overloads(_UNARY + " " + _BINARY) | {
    _aten._to_copy.default,
    _aten.prelu.default,
    _aten._prelu_kernel.default,
}


_OWN = "value_of_its_own"


def is_scalar(value: object) -> bool:
    """A Python number, or a constant of one element."""
    if isinstance(value, (bool, int, float)):
        return True
    if not isinstance(value, Node) or value.op != "get_attr":
        return False
    fake = value.meta.get("val")
    return isinstance(fake, torch.Tensor) and fake.numel() == 1


def function_root(node: Node) -> Node | None:
    """The one value that a node is a function of; None if it is no such function.

    A clamp that its producer takes in is not a function of the producer: the two are one op. The
    root is never itself a function of one value.
    """
    return _root(node, {})


def mark_values(module: GraphModule) -> None:
    """Finds the functions that something else than a function of the same value reads: they are
    values of their own.

    Run once on the float graph. Functions of such a value start there, as they must once it is
    quantized.
    """
    marked = True
    while marked:
        marked = False
        roots: dict[Node, Node | None] = {}
        for node in module.graph.nodes:
            root = _root(node, roots)
            if root is None or _OWN in node.meta:
                continue
            inside = [_root(u, roots) is root for u in node.users]
            if any(inside) and not all(inside):
                node.meta[_OWN] = True
                marked = True
                break


def _root(node: Node, known: dict[Node, Node | None]) -> Node | None:
    if node not in known:
        known[node] = _find_root(node, known)
    return known[node]


def _find_root(node: Node, known: dict[Node, Node | None]) -> Node | None:
    from aot.rules import fused_clamp  # the table of rules is built from this module

    if node.op != "call_function" or node.target not in ELEMENTWISE:
        return None
    if fused_clamp(node) is not None:
        return None
    tensors = [a for a in node.all_input_nodes if not is_scalar(a)]
    roots = {a if _OWN in a.meta else _root(a, known) or a for a in tensors}
    if len(roots) != 1:
        return None
    root = roots.pop()
    value, own = root.meta.get("val"), node.meta.get("val")
    if not isinstance(value, torch.Tensor) or not isinstance(own, torch.Tensor):
        return None
    return root if value.shape == own.shape and root.op != "get_attr" else None


def is_interior(node: Node) -> bool:
    """Whether a function of one value is needed only by functions of the same value."""
    root = function_root(node)
    return (
        root is not None and bool(node.users) and all(function_root(u) is root for u in node.users)
    )


def members(node: Node) -> list[Node]:
    """The ops that make up the function at `node`, the node itself last."""
    root = function_root(node)
    found: list[Node] = []

    def visit(n: Node) -> None:
        if n is root or n in found or is_scalar(n):
            return
        for source in n.all_input_nodes:
            visit(source)
        found.append(n)

    visit(node)
    return found


def evaluate(module: GraphModule, node: Node, values: torch.Tensor) -> torch.Tensor:
    """The function at `node` of the given values, by torch."""
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
    assert target is not operator.getitem
    return target(*args, **kwargs)
