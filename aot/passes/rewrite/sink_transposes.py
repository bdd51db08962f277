# SPDX-License-Identifier: Apache-2.0
"""Moves transposes towards the outputs, through ops that do not care, until they meet their inverse
and vanish.

Rules emit spatial ops as transpose, NHWC op, transpose back. In one walk in graph order every op
whose input is a transpose is rewritten to read the transpose's source, with its dimensions renamed,
and the transpose follows it. Two transposes in a row become one, or none. What stays is at the
model's border, or in front of an op that needs the order (reshape that mixes dimensions). Reshapes
that only add or drop dimensions of size 1 let transposes pass; unary ops pass through reshapes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch.fx import GraphModule, Node

from aot.dialect.graph import (
    NHWC,
    Builder,
    Edge,
    arguments,
    calls,
    dialect_op,
    edge_of,
    shape_of,
    tensor_constant,
    with_layout,
)
from aot.dialect.ops.reshape import reshape
from aot.dialect.ops.transpose import transpose

Perm = list[int]


def inverse(perm: Sequence[int]) -> Perm:
    """The permutation that undoes perm."""
    result = [0] * len(perm)
    for position, dim in enumerate(perm):
        result[dim] = position
    return result


def moves_nothing(shape: Sequence[int], perm: Sequence[int]) -> bool:
    """Whether a transpose of a tensor of this shape leaves every byte where it was: dimensions of
    size 1 do not count.
    """
    kept = [d for d in perm if shape[d] != 1]
    return kept == sorted(kept)


def _permutation(node: object) -> Perm | None:
    """The permutation of a transpose node, else None."""
    return (
        list(arguments(node)["perm"])
        if isinstance(node, Node) and calls(node, "transpose")
        else None
    )


class _Sinker:
    def __init__(self, module: GraphModule) -> None:
        self.module = module
        self.builder = Builder(module, module.graph)
        self.changes = 0
        self.moves: dict[str, Callable[[Node], Node | None]] = {
            "transpose": self._transpose,
            "reshape": self._reshape,
            "lut": self._unary,
            "quantize": self._unary,
            "add": self._binary,
            "mul": self._binary,
            "softmax": self._along_dim,
            "log_softmax": self._along_dim,
            "slice": self._along_dim,
            "mean": self._mean,
            "pad": self._pad,
            "cat": self._cat,
            "linear": self._linear,
        }

    def run(self) -> int:
        for node in list(self.module.graph.nodes):
            op = dialect_op(node)
            move = self.moves.get(op.name) if op is not None else None
            if move is None:
                continue
            with self.module.graph.inserting_before(node):
                replacement = move(node)
            if replacement is not None:
                node.replace_all_uses_with(replacement)
                self.module.graph.erase_node(node)
                self.changes += 1
        return self.changes

    def _rebuild(self, node: Node, **changed: object) -> Node:
        """The same op with some arguments changed."""
        op = dialect_op(node)
        assert op is not None
        values = {**arguments(node), **changed}
        names = [a.name for a in node.target._schema.arguments]  # type: ignore[union-attr]
        edge = edge_of(node)
        return self.builder.call(
            op, *(values[n] for n in names), edge=edge, origin=node.meta["origin"]
        )

    def _follow(self, op: Node, perm: Perm, original: Node) -> Node:
        """The transpose behind a rewritten op."""
        edge = edge_of(original)
        return self.builder.call(transpose, op, perm, edge=edge, origin=original.meta["origin"])

    def _through(self, node: Node, source: Node, perm: Perm, **changed: object) -> Node:
        """op(transpose(x)) -> transpose(op(x)); the op's value now has the layout of x."""
        op = self._rebuild(node, **changed)
        op.meta["edge"] = with_layout(edge_of(node), edge_of(source).layout)
        return self._follow(op, perm, node)

    def _transpose(self, node: Node) -> Node | None:
        source = node.args[0]
        inner = _permutation(source)
        if inner is None:
            return None
        assert isinstance(source, Node)
        origin_of = source.args[0]
        assert isinstance(origin_of, Node)
        outer = _permutation(node)
        assert outer is not None
        combined = [inner[d] for d in outer]
        if combined == sorted(combined):
            if edge_of(node).layout == NHWC:  # what a rule knew of the result holds for the source
                origin_of.meta["edge"] = with_layout(edge_of(origin_of), NHWC)
            return origin_of
        return self._follow(origin_of, combined, node)

    def _unary(self, node: Node) -> Node | None:
        x = node.args[0]
        assert isinstance(x, Node)
        source = x.args[0] if x.args else None
        perm = _permutation(x)
        if perm is not None:
            assert isinstance(source, Node)
            return self._through(node, source, perm, input=source)
        if calls(x, "reshape") and len(x.users) == 1 and "input" in arguments(node):
            op = self._rebuild(node, input=source)
            assert isinstance(source, Node)
            edge = edge_of(node)
            op.meta["edge"] = with_layout(edge, edge_of(source).layout)
            op = self._unary(op) or op
            moved = self.builder.call(
                reshape, op, list(shape_of(x)), edge=edge, origin=node.meta["origin"]
            )
            return self._reshape(moved) or moved
        return None

    def _binary(self, node: Node) -> Node | None:
        names = ("a", "b")
        operands = [arguments(node)[n] for n in names]
        perms = [_permutation(x) for x in operands]
        perm = next((p for p in perms if p is not None), None)
        if perm is None or len(perm) != len(shape_of(node)):
            return None
        moved: dict[str, object] = {}
        for name, x, own in zip(names, operands, perms, strict=True):
            value = x.args[0] if own == perm else self._untransposed(x, perm)
            if value is None:
                return None
            moved[name] = value
        leader = next(x.args[0] for x, own in zip(operands, perms, strict=True) if own == perm)
        return self._through(node, leader, perm, **moved)

    def _untransposed(self, x: Node, perm: Perm) -> Node | None:
        """A value y with transpose(y, perm) equal to x (after broadcasting), if that costs nothing;
        None otherwise.
        """
        shape = [1] * (len(perm) - len(shape_of(x))) + list(shape_of(x))
        back = inverse(perm)
        constant = tensor_constant(self.module, x)
        if constant is not None:
            value = constant.reshape(shape).permute(back)
            return self.builder.constant(str(x.target), value, edge_of(x))
        if not moves_nothing(shape, back):
            return None
        return self.builder.call(
            reshape, x, [shape[d] for d in back], edge=edge_of(x), origin=x.meta["origin"]
        )

    def _along_dim(self, node: Node) -> Node | None:
        x = arguments(node)["input"]
        perm = _permutation(x)
        if perm is None:
            return None
        dim = perm[arguments(node)["dim"]]
        return self._through(node, x.args[0], perm, input=x.args[0], dim=dim)

    def _mean(self, node: Node) -> Node | None:
        values = arguments(node)
        perm = _permutation(values["input"])
        if perm is None:
            return None
        source = values["input"].args[0]
        dims = sorted(perm[d] for d in values["dim"])
        op = self._rebuild(node, input=source, dim=dims)
        if values["keepdim"]:
            op.meta["edge"] = with_layout(edge_of(node), edge_of(source).layout)
            return self._follow(op, perm, node)
        kept = [perm[d] for d in range(len(perm)) if d not in values["dim"]]
        order = sorted(kept)
        compact = [order.index(d) for d in kept]
        return op if compact == sorted(compact) else self._follow(op, compact, node)

    def _pad(self, node: Node) -> Node | None:
        values = arguments(node)
        perm = _permutation(values["input"])
        if perm is None:
            return None
        source = values["input"].args[0]
        padding = [values["padding"][2 * d + k] for d in inverse(perm) for k in (0, 1)]
        return self._through(node, source, perm, input=source, padding=padding)

    def _cat(self, node: Node) -> Node | None:
        values = arguments(node)
        perms = [_permutation(x) for x in values["inputs"]]
        perm = next((p for p in perms if p is not None), None)
        if perm is None:
            return None
        sources = []
        for x, own in zip(values["inputs"], perms, strict=True):
            value = x.args[0] if own == perm else self._untransposed(x, perm)
            if value is None:
                return None
            sources.append(value)
        leader = next(
            x.args[0] for x, own in zip(values["inputs"], perms, strict=True) if own == perm
        )
        return self._through(node, leader, perm, inputs=sources, dim=perm[values["dim"]])

    def _linear(self, node: Node) -> Node | None:
        x = arguments(node)["input"]
        perm = _permutation(x)
        if perm is None or perm[-1] != len(perm) - 1:
            return None
        return self._through(node, x.args[0], perm, input=x.args[0])

    def _reshape(self, node: Node) -> Node | None:
        x = node.args[0]
        assert isinstance(x, Node)
        perm, shape = _permutation(x), shape_of(node)
        if calls(x, "reshape"):
            edge = edge_of(node)
            return self.builder.call(
                reshape, x.args[0], list(shape), edge=edge, origin=node.meta["origin"]
            )
        if perm is None:
            return None
        source = x.args[0]
        assert isinstance(source, Node)
        matched = _match_unit_dims(shape_of(x), shape)
        if matched is None:
            return None
        # Dimensions of the result, by the source dimension they come from; an added one stands
        # right before the next that is kept.
        places: list[tuple[float, int]] = []
        following = float(len(perm))
        for d in reversed(range(len(shape))):
            old = matched[d]
            if old is not None:
                following = float(perm[old])
                places.append((following, d))
            else:
                following -= 0.5 ** (d + 2)
                places.append((following, d))
        order = [d for _, d in sorted(places)]
        new_shape = [shape[d] for d in order]
        edge = Edge(edge_of(node).quantization)
        moved = self.builder.call(reshape, source, new_shape, edge=edge, origin=node.meta["origin"])
        new_perm = inverse(order)
        if new_perm == sorted(new_perm):
            return moved
        return self._follow(moved, new_perm, node)


def _match_unit_dims(before: Sequence[int], after: Sequence[int]) -> list[int | None] | None:
    """For each dimension of `after` the one of `before` that it is, None where it was added; None
    if more than 1s change.
    """
    if [s for s in before if s != 1] != [s for s in after if s != 1]:
        return None
    matched: list[int | None] = []
    i = 0
    for d, size in enumerate(after):
        remaining_units = sum(1 for s in after[d:] if s == 1)
        if size != 1:
            while before[i] == 1:
                i += 1
            matched.append(i)
            i += 1
            continue
        available = 0
        while i + available < len(before) and before[i + available] == 1:
            available += 1
        if available and available <= remaining_units:
            matched.append(i)
            i += 1
        else:
            matched.append(None)
    return matched


def sink_transposes(module: GraphModule) -> int:
    """Rewrites the graph in place; returns how many nodes were rewritten."""
    changes = _Sinker(module).run()
    module.graph.eliminate_dead_code()
    module.graph.lint()
    module.recompile()
    return changes
