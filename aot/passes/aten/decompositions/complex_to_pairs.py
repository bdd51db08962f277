# SPDX-License-Identifier: Apache-2.0
"""Writes complex numbers as pairs of real ones: rotary embeddings by view_as_complex and a product,
Fourier transforms (fourier.py), complex layers, magnitudes and angles.

Matches values made by complex, polar, view_as_complex, transforms or complex constants. They may be
moved, summed, added, multiplied, divided and conjugated. They become real by view_as_real, abs,
angle or irfft. Leaves other complex ops, and ops depending on them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import drop_dead_code, tensor_constant
from aot.dialect.rule import argument
from aot.passes.aten.build import call, constant
from aot.passes.aten.decompositions import fourier
from aot.passes.aten.decompositions.fourier import Pair, Part

_aten = torch.ops.aten
Pairs = dict[Node, Pair]

# Ops applied to the real and to the imaginary part; a missing part stays missing.
_OF_EACH = {
    *(_aten.view.default, _aten.reshape.default, _aten.unsqueeze.default, _aten.squeeze.dims),
    *(_aten.squeeze.dim, _aten.permute.default, _aten.transpose.int, _aten.expand.default),
    *(_aten.slice.Tensor, _aten.select.int, _aten.clone.default, _aten.neg.default),
    *(_aten.repeat.default, _aten.flip.default, _aten.roll.default),
    *(_aten.sum.dim_IntList, _aten.mean.dim, _aten._to_copy.default, _aten.alias.default),
}
_PRODUCTS = {_aten.mul.Tensor, _aten.mm.default, _aten.bmm.default, _aten.matmul.default}


def complex_to_pairs(module: GraphModule) -> int:
    """Rewrite the graph in place; return how many values became real."""
    pairs: Pairs = {}
    count = 0
    for node in list(module.graph.nodes):
        value = node.meta.get("val")
        if node.op not in ("get_attr", "call_function") or not isinstance(value, torch.Tensor):
            continue
        behind = node.next if node.op == "get_attr" else node
        with module.graph.inserting_before(behind):
            if value.is_complex():
                pair = _pair(module, node, pairs)
                if pair is not None:
                    pairs[node] = pair
            elif (form := _TO_REAL.get(node.target)) and node.args[0] in pairs:
                result = form(module, node, pairs[node.args[0]])
                if result is not None:
                    node.replace_all_uses_with(result)
                    count += 1
    drop_dead_code(module.graph)
    return count


def _pair(module: GraphModule, node: Node, pairs: Pairs) -> Pair | None:
    if node.op == "get_attr":
        known = tensor_constant(module, node)
        return None if known is None else _known(module, node, known.resolve_conj())
    if (made := _MADE.get(node.target)) is not None:
        return made(module, node)
    operands: Any = node.args
    if node.target in (_aten.cat.default, _aten.stack.default):
        operands = operands[0]
    sides = [_side(operand, pairs) for operand in operands]
    # A complex value without a pair is not a real number either.
    if None in sides:
        return None
    if node.target in _PRODUCTS:
        return _product(node, node.target, *sides[:2])
    form = _OF_PAIRS.get(node.target)
    if form is not None:
        return form(module, node, sides)
    if node.target not in _OF_EACH or node.kwargs.keys() - {"memory_format", "dtype"}:
        return None
    rest = node.args[1:]
    return tuple(  # type: ignore[return-value]
        part if part is None else _each(node, part, rest) for part in sides[0] or ()
    )


def _each(node: Node, part: Node, rest: Any) -> Node:
    if node.target is _aten._to_copy.default:
        return part
    return call(node, node.target, part, *rest)


def _known(module: GraphModule, node: Node, known: torch.Tensor) -> Pair:
    return tuple(  # type: ignore[return-value]
        constant(module, node, name, part) if bool(part.any()) else None
        for name in ("real", "imag")
        for part in [getattr(known, name)]
    )


def _side(operand: Any, pairs: Pairs) -> Any:
    """Return the parts of an operand, which may be numbers; None if they are unknown."""
    if isinstance(operand, Node):
        value = operand.meta["val"]
        if not isinstance(value, torch.Tensor):  # several results, such as of eig
            return None
        return pairs.get(operand) if value.is_complex() else (operand, None)
    if isinstance(operand, (int, float, complex)):
        number = complex(operand)
        return number.real or None, number.imag or None
    return (None, None)


def _times(node: Node, op: Any, a: Part, b: Part) -> Part:
    return None if a is None or b is None else call(node, op, a, b)


def _plus(node: Node, op: Any, a: Part, b: Part) -> Part:
    """Return a sum or difference; a missing part is not an operand."""
    if b is None:
        return a
    if a is None:
        return _negated(node, b) if op is _aten.sub.Tensor else b
    return call(node, op, a, b)


def _product(node: Node, op: Any, first: Pair, second: Pair) -> Pair:
    (p, q), (r, s) = first, second
    real = _plus(node, _aten.sub.Tensor, _times(node, op, p, r), _times(node, op, q, s))
    return real, _plus(node, _aten.add.Tensor, _times(node, op, p, s), _times(node, op, q, r))


def _sum(module: GraphModule, node: Node, sides: list[Any]) -> Pair | None:
    if argument(node, "alpha") != 1:
        return None
    parts = [_plus(node, node.target, *of) for of in zip(*sides[:2], strict=True)]
    return tuple(_shaped(module, node, part) for part in parts)  # type: ignore[return-value]


def _quotient(module: GraphModule, node: Node, sides: list[Any]) -> Pair:
    pair, (r, s) = sides
    if s is not None:
        conjugate = (r, _negated(node, s))
        pair = _product(node, _aten.mul.Tensor, pair, conjugate)
        squares = [_times(node, _aten.mul.Tensor, n, n) for n in (r, s)]
        r = _plus(node, _aten.add.Tensor, squares[0], squares[1])
    return tuple(_times(node, _aten.div.Tensor, part, r) for part in pair)  # type: ignore[return-value]


def _negated(node: Node, part: Any) -> Any:
    return call(node, _aten.neg.default, part) if isinstance(part, Node) else -part


def _layer(module: GraphModule, node: Node, sides: list[Any]) -> Pair:
    result = _product(node, _aten.linear.default, *sides[:2])
    bias = sides[2] if len(sides) > 2 else (None, None)
    parts = [_plus(node, _aten.add.Tensor, *of) for of in zip(result, bias, strict=True)]
    return tuple(_shaped(module, node, part) for part in parts)  # type: ignore[return-value]


def _joined(module: GraphModule, node: Node, sides: list[Any]) -> Pair:
    operands: Any = node.args[0]
    return tuple(  # type: ignore[return-value]
        call(
            node,
            node.target,
            [fourier.whole(module, n, s[k]) for n, s in zip(operands, sides, strict=True)],
            *node.args[1:],
        )
        if any(s[k] is not None for s in sides)
        else None
        for k in range(2)
    )


def _placed(module: GraphModule, node: Node, sides: list[Any]) -> Pair:
    """Return the same element of a value's parts."""
    operands: Any = node.args
    return tuple(  # type: ignore[return-value]
        call(
            node,
            node.target,
            *(fourier.whole(module, operands[i], sides[i][k]) for i in range(2)),
            *operands[2:],
        )
        if any(s[k] is not None for s in sides[:2])
        else None
        for k in range(2)
    )


def _copied(module: GraphModule, node: Node, sides: list[Any]) -> Pair:
    return tuple(_shaped(module, node, part) for part in sides[1])  # type: ignore[return-value]


def _shaped(module: GraphModule, node: Node, part: Any) -> Part:
    """Return a part of the result's shape."""
    shape = list(node.meta["val"].shape)
    if isinstance(part, float):
        return constant(module, node, "part", torch.full(shape, part))
    if part is None or list(part.meta["val"].shape) == shape:
        return part  # type: ignore[no-any-return]
    return call(node, _aten.expand.default, part, shape)


def _exponential(module: GraphModule, node: Node, sides: list[Any]) -> Pair:
    size, angle = sides[0]
    if size is not None:
        size = call(node, _aten.exp.default, size)
    return (size, None) if angle is None else _turned(node, size, angle)


def _turned(node: Node, size: Part, angle: Node) -> Pair:
    waves = call(node, _aten.cos.default, angle), call(node, _aten.sin.default, angle)
    if size is None:
        return waves
    return tuple(call(node, _aten.mul.Tensor, size, wave) for wave in waves)  # type: ignore[return-value]


def _pairs_of(module: GraphModule, node: Node) -> Pair:
    (x,) = node.args
    return call(node, _aten.select.int, x, -1, 0), call(node, _aten.select.int, x, -1, 1)


def _complex(module: GraphModule, node: Node) -> Pair:
    return tuple(_shaped(module, node, part) for part in node.args)  # type: ignore[return-value]


def _polar(module: GraphModule, node: Node) -> Pair:
    size, angle = node.args
    return _turned(node, size, angle)  # type: ignore[arg-type]


def _as_real(module: GraphModule, node: Node, pair: Pair) -> Node:
    of = node.args[0]
    parts = [
        call(node, _aten.unsqueeze.default, fourier.whole(module, of, part), -1) for part in pair
    ]
    return call(node, _aten.cat.default, parts, -1)


def _size(module: GraphModule, node: Node, pair: Pair) -> Node:
    if pair[0] is None or pair[1] is None:
        return call(
            node, _aten.abs.default, fourier.whole(module, node.args[0], pair[0] or pair[1])
        )
    return call(node, _aten.hypot.default, *pair)


def _angle(module: GraphModule, node: Node, pair: Pair) -> Node:
    real, imaginary = (fourier.whole(module, node.args[0], part) for part in pair)
    return call(node, _aten.atan2.default, imaginary, real)


_MADE: dict[Any, Callable[[GraphModule, Node], Pair | None]] = {
    _aten.view_as_complex.default: _pairs_of,
    _aten.complex.default: _complex,
    _aten.polar.default: _polar,
    _aten._fft_r2c.default: fourier.of_real,
}
_OF_PAIRS: dict[Any, Callable[[GraphModule, Node, list[Any]], Pair | None]] = {
    _aten.add.Tensor: _sum,
    _aten.sub.Tensor: _sum,
    _aten.div.Tensor: _quotient,
    _aten.linear.default: _layer,
    _aten.cat.default: _joined,
    _aten.stack.default: _joined,
    _aten.copy.default: _copied,
    _aten.slice_scatter.default: _placed,
    _aten.select_scatter.default: _placed,
    _aten.exp.default: _exponential,
    _aten._conj.default: lambda _, node, sides: (
        sides[0][0],
        None if sides[0][1] is None else _negated(node, sides[0][1]),
    ),
    _aten._fft_c2c.default: lambda module, node, sides: fourier.of_pair(module, node, sides[0]),
}
_TO_REAL: dict[Any, Callable[[GraphModule, Node, Pair], Node | None]] = {
    _aten.view_as_real.default: _as_real,
    _aten.abs.default: _size,
    _aten.angle.default: _angle,
    _aten._fft_c2r.default: fourier.to_real,
}
