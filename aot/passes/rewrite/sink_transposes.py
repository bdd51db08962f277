# SPDX-License-Identifier: Apache-2.0
"""Moves transposes towards the outputs, through ops allowing it, until they meet their inverse and
vanish.

Rules emit spatial ops as transpose, NHWC op, transpose back. One walk in graph order rewrites every
op whose input is a transpose: it reads the transpose's source, with its dimensions renamed, and the
transpose follows it. Two transposes in a row become one, or none. The remaining ones are at the
model's inputs and outputs, or before an op needing the order (a reshape that mixes dimensions).

Reshapes let transposes pass if they do the following only: add or drop dimensions of size 1, split
dimensions, or join dimensions that are also neighbours before the transpose. A transpose after a
reshape joining others is merged into the one before it. Pointwise ops pass through reshapes. Any
other op declares its rule for transposes (aot/dialect/transposes.py).

If only some inputs of an op are transposed, there are two choices: the transposes stay before the
op, or the other inputs are transposed as well. choose_layouts.py selects one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from itertools import accumulate

from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import (
    NHWC,
    Builder,
    Edge,
    argument_names,
    arguments,
    calls,
    dialect_op,
    drop_dead_code,
    edge_of,
    shape_of,
    tensor_constant,
    value_of,
    with_layout,
)
from aot.dialect.results import gives_one, results_of, taken_from
from aot.dialect.transposes import Perm, Transposes, inverse
from kernels.strided_copy.op_reshape import reshape
from kernels.strided_copy.op_transpose import transpose


def moves_nothing(shape: Sequence[int], perm: Sequence[int]) -> bool:
    """Return True if a transpose of a tensor of this shape leaves every byte in place.

    Dimensions of size 1 do not count.
    """
    kept = [d for d in perm if shape[d] != 1]
    return kept == sorted(kept)


def _permutation(node: object) -> Perm | None:
    """Return the permutation of a transpose node, else None."""
    return (
        list(arguments(node)["perm"])
        if isinstance(node, Node) and calls(node, "transpose")
        else None
    )


class _Sinker:
    def __init__(self, module: GraphModule, meets: Callable[[str], bool]) -> None:
        self.module = module
        self.meets = meets
        self.builder = Builder(module, module.graph)
        self.changes = 0

    def run(self) -> int:
        for node in list(self.module.graph.nodes):
            with self.module.graph.inserting_before(node):
                replacement = self._move(node)
            if replacement is not None:
                node.replace_all_uses_with(replacement)
                self.module.graph.erase_node(node)
                self.changes += 1
        return self.changes

    def _move(self, node: Node) -> Node | None:
        """Return an equal node with the transposes before it moved; None if none moves."""
        op = dialect_op(node)
        if op is transpose:
            return self._transpose(node)
        if op is reshape:
            return self._reshape(node)
        if op is None or op.transposes is None:
            return None
        moved = self._through(node, op.transposes)
        if moved is None and op.transposes.elementwise and len(op.transposes.tensors) == 1:
            return self._before_reshape(node, op.transposes.tensors[0])
        return moved

    def _rebuild(self, node: Node, **changed: object) -> Node:
        """Return the same op with some arguments changed."""
        op = dialect_op(node)
        assert op is not None
        values = {**arguments(node), **changed}
        args = (values[name] for name in argument_names(node.target))
        return self.builder.call(op, *args, edge=edge_of(node), origin=node.meta["origin"])

    def _follow(self, op: Node, perm: Perm, original: Node) -> Node:
        """Return the transpose after a rewritten op."""
        edge = edge_of(original)
        return self.builder.call(transpose, op, perm, edge=edge, origin=original.meta["origin"])

    def _through(self, node: Node, transposes: Transposes) -> Node | None:
        """Rewrite op(transpose(x)) -> transpose(op(x)). The op's value now has the layout of x."""
        values = arguments(node)
        given = {name: values[name] for name in transposes.tensors}
        tensors: list[Node] = []
        map_arg(given, tensors.append)
        leader = next((x for x in tensors if _permutation(x) is not None), None)
        perm = _permutation(leader)
        if leader is None or perm is None or any(len(shape_of(x)) > len(perm) for x in tensors):
            return None
        moved = transposes.move({name: value_of(x) for name, x in values.items()}, perm)
        if moved is None:
            return None
        sources = []
        for x in tensors:
            source = self._untransposed(x, perm)
            if source is None and not self.meets(node.name):
                return None
            sources.append(source or self._transposed_back(x, perm))
        source = leader.all_input_nodes[0]
        if (of_images := dialect_op(node)) is not None and of_images.spatial:
            source = self._image(source)
            sources = [source]
        following = iter(sources)
        changed = map_arg(given, lambda _: next(following))
        op = self._rebuild(node, **changed, **moved.arguments)
        if gives_one(op):
            return self._behind(op, node, moved.perm, source)
        for original in results_of(node):
            _, index = taken_from(original)
            edge, origin = edge_of(original), original.meta["origin"]
            result = self.builder.result(op, index, edge=edge, origin=origin)
            if len(shape_of(original)) == len(moved.perm):
                result = self._behind(result, original, moved.perm, source)
            original.replace_all_uses_with(result)
        return op

    def _image(self, x: Node) -> Node:
        """Return a value marked as NHWC: its pixels are in another order."""
        if edge_of(x).layout == NHWC:
            return x
        edge = with_layout(edge_of(x), NHWC)
        return self.builder.call(reshape, x, list(shape_of(x)), edge=edge, origin=x.meta["origin"])

    def _behind(self, moved: Node, original: Node, perm: Perm, source: Node) -> Node:
        """Return the replacement of a value, from the same op on a transpose's source."""
        if len(perm) == len(shape_of(source)):
            moved.meta["edge"] = with_layout(edge_of(original), edge_of(source).layout)
        return moved if perm == sorted(perm) else self._follow(moved, perm, original)

    def _before_reshape(self, node: Node, name: str) -> Node | None:
        """Rewrite op(reshape(x)) -> reshape(op(x)), if the op is the reshape's only reader."""
        x = arguments(node)[name]
        if not calls(x, "reshape") or len(x.users) != 1:
            return None
        source = x.args[0]
        op = self._rebuild(node, **{name: source})
        edge = edge_of(node)
        op.meta["edge"] = with_layout(edge, edge_of(source).layout)
        op = self._move(op) or op
        moved = self.builder.call(
            reshape, op, list(shape_of(x)), edge=edge, origin=node.meta["origin"]
        )
        return self._reshape(moved) or moved

    def _transpose(self, node: Node) -> Node | None:
        source = node.args[0]
        inner = _permutation(source)
        if inner is None:
            return self._before_joining(node)
        assert isinstance(source, Node)
        origin_of = source.args[0]
        assert isinstance(origin_of, Node)
        outer = _permutation(node)
        assert outer is not None
        combined = [inner[d] for d in outer]
        if combined == sorted(combined):
            if edge_of(node).layout == NHWC:  # the known layout of the result holds for the source
                origin_of.meta["edge"] = with_layout(edge_of(origin_of), NHWC)
            return origin_of
        return self._follow(origin_of, combined, node)

    def _before_joining(self, node: Node) -> Node | None:
        """Rewrite transpose(reshape(transpose(x))) -> reshape(transpose(x)), if the reshape joins
        dimensions.

        All readers of the values between must be such transposes.
        """
        joined = arguments(node)["input"]
        if not calls(joined, "reshape"):
            return None
        if any(_permutation(user) != _permutation(node) for user in joined.users):
            return None
        moved = arguments(joined)["input"]
        inner, outer = _permutation(moved), _permutation(node)
        parts = _parts(shape_of(moved), shape_of(joined))
        if inner is None or outer is None or parts is None or len(moved.users) != 1:
            return None
        combined = [inner[part] for d in outer for part in parts[d]]
        origin, edge = node.meta["origin"], edge_of(node)
        apart = Edge(edge.quantization)
        new = self.builder.call(transpose, moved.args[0], combined, edge=apart, origin=origin)
        return self.builder.call(reshape, new, list(shape_of(node)), edge=edge, origin=origin)

    def _untransposed(self, x: Node, perm: Perm) -> Node | None:
        """Return a value y with transpose(y, perm) equal to x (after broadcasting), if that costs
        nothing.

        Return None otherwise.
        """
        if _permutation(x) == perm:
            return x.all_input_nodes[0]
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

    def _transposed_back(self, x: Node, perm: Perm) -> Node:
        """Return a value y with transpose(y, perm) equal to x (after broadcasting)."""
        shape = [1] * (len(perm) - len(shape_of(x))) + list(shape_of(x))
        edge, origin = Edge(edge_of(x).quantization), x.meta["origin"]
        if list(shape_of(x)) != shape:
            x = self.builder.call(reshape, x, shape, edge=edge, origin=origin)
        back = self.builder.call(transpose, x, inverse(perm), edge=edge, origin=origin)
        return self._transpose(back) or back

    def _reshape(self, node: Node) -> Node | None:
        x = node.args[0]
        assert isinstance(x, Node)
        perm, shape = _permutation(x), shape_of(node)
        if calls(x, "reshape"):
            edge = edge_of(node)
            once = self.builder.call(
                reshape, x.args[0], list(shape), edge=edge, origin=node.meta["origin"]
            )
            return self._reshape(once) or once
        if perm is None:
            return None
        source = x.args[0]
        assert isinstance(source, Node)
        order = _order_before(shape_of(x), shape, perm)
        if order is None:
            return None
        new_shape = [shape[d] for d in order]
        edge = Edge(edge_of(node).quantization)
        moved = self.builder.call(reshape, source, new_shape, edge=edge, origin=node.meta["origin"])
        new_perm = inverse(order)
        if new_perm == sorted(new_perm):
            return moved
        return self._follow(moved, new_perm, node)


def _order_before(before: Sequence[int], after: Sequence[int], perm: Perm) -> list[int] | None:
    """Return the dimensions of a transpose's reshape in the order of the transpose's source.

    Return None if the reshape does more than these: add and drop dimensions of size 1, split
    dimensions, and join adjacent dimensions of the source.
    """
    matched = match_unit_dims(before, after)
    if matched is None:
        parts = _parts(after, before)
        if parts is None:
            return _order_of_joined(before, after, perm)
        return [part for d in inverse(perm) for part in parts[d]]
    # Sort by the source dimension. An added one comes directly before the next kept one.
    places: list[tuple[float, int]] = []
    following = float(len(perm))
    for d in reversed(range(len(after))):
        old = matched[d]
        following = following - 0.5 ** (d + 2) if old is None else float(perm[old])
        places.append((following, d))
    return [d for _, d in sorted(places)]


def _order_of_joined(before: Sequence[int], after: Sequence[int], perm: Perm) -> list[int] | None:
    """Return the same for a reshape joining dimensions, possibly after splitting some."""
    apart = _split_as_both(before, after)
    if apart is None:
        return None
    split, joined = _parts(apart, before), _parts(apart, after)
    if split is None or joined is None:
        return None
    # Positions of each one's parts in the source.
    lying = [part for d in inverse(perm) for part in split[d]]
    places = [[lying.index(part) for part in dims] for dims in joined]
    order = sorted(range(len(after)), key=lambda d: places[d][:1])
    found = [place for d in order for place in places[d]]
    return order if found == sorted(found) else None


def _split_as_both(a: Sequence[int], b: Sequence[int]) -> list[int] | None:
    """Return the fewest dimensions that can be joined to either of two shapes of equal size.

    Return None if there are none.
    """
    ends = sorted({*accumulate(a, operator.mul), *accumulate(b, operator.mul)} - {1})
    starts = [1, *ends[:-1]]
    if any(end % start for start, end in zip(starts, ends, strict=True)):
        return None
    return [end // start for start, end in zip(starts, ends, strict=True)]


def _parts(parts: Sequence[int], whole: Sequence[int]) -> list[list[int]] | None:
    """Return, for each dimension of a shape, the adjacent dimensions of another forming it.

    Return None if there are none.
    """
    found: list[list[int]] = []
    i = 0
    for size in whole:
        product = 1
        group: list[int] = []
        while i < len(parts) and product * parts[i] <= size and (product < size or not group):
            product *= parts[i]
            group.append(i)
            i += 1
        if product != size:
            return None
        found.append(group)
    rest = list(range(i, len(parts)))
    if not found or any(parts[d] != 1 for d in rest):
        return None
    found[-1] += rest
    return found


def match_unit_dims(before: Sequence[int], after: Sequence[int]) -> list[int | None] | None:
    """Return, for each dimension of `after`, its dimension of `before`, or None if it was added.

    Return None if more than dimensions of size 1 change.
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


def sink_transposes(module: GraphModule, meets: Callable[[str], bool] = lambda _: False) -> int:
    """Rewrite the graph in place; return the number of rewritten nodes.

    Args:
      module: a dialect graph.
      meets: returns True if the other inputs of a node are transposed as well, because
        some are. It is called with the node's name, and only if that matters.
    """
    changes = _Sinker(module, meets).run()
    if drop_dead_code(module.graph) or changes:
        module.recompile()
    return changes
