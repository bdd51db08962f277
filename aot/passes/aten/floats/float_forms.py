# SPDX-License-Identifier: Apache-2.0
"""Writes ops that stay in float32 in ops with a float kernel.

An op without one is replaced by torch's decompositions, if they end in ops with one: a softmax is
amax, sub, exp, sum and div. Some ops have a shorter form here: means and deviations; pools and
resampling (products with a matrix for each axis); max pools (maxima of slices). Leaves ops with a
kernel, data movement, and ops without a known form.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.node import map_arg

from aot.backends.cortex_m import FLOAT_OPS, has_float_kernel, of_floats
from aot.dialect.graph import drop_dead_code
from aot.dialect.results import taken_from
from aot.dialect.rule import argument, pair, reduction
from aot.errors import keep_names
from aot.passes.aten.build import call, constant
from aot.passes.aten.decompositions.builders import along, source_of, times_matrix
from aot.passes.aten.floats.float_pointwise import POINTWISE, Form
from aot.rules import floats
from aot.rules.masked_softmax import MASKED_SOFTMAX
from aot.upstream.torch import FakeTensorMode, decomposition_table

_aten = torch.ops.aten


def float_forms(module: GraphModule, stays_float: Callable[[Node], bool]) -> int:
    """Rewrite the graph in place; return how many ops were replaced."""
    count = 0
    for node in list(module.graph.nodes):
        if node.op == "call_function" and of_floats(node) and stays_float(node):
            count += in_kernels(module, node)
    drop_dead_code(module.graph)
    return count


def in_kernels(module: GraphModule, node: Node) -> bool:
    """Replace an op without a float kernel by ops with one; return True if it did."""
    tags = getattr(taken_from(node)[0].target, "tags", ())
    if has_float_kernel(node) or torch.Tag.nondeterministic_seeded in tags:
        return False
    keep_names(node)
    with module.graph.inserting_before(node):
        result = _replacement(module, node)
    if result is None:
        return False
    node.replace_all_uses_with(result)
    module.graph.erase_node(node)
    return True


def _replacement(module: GraphModule, node: Node) -> Node | None:
    several, index = taken_from(node)
    if several is not node:
        forms = _FORMS_OF_RESULTS.get(several.target, ())
        return forms[index](module, node) if index < len(forms) else None
    form = _FORMS.get(node.target)
    made = form(module, node) if form is not None else None
    return made if made is not None else _decomposed(module, node)


def _decomposed(module: GraphModule, node: Node) -> Node | None:
    """Return torch's decomposition of a node; None if it has no float kernels."""
    traced = _traced(node)
    if traced is None:
        return None
    values: dict[Node, Any] = {}
    made: list[Node] = []
    inputs = iter(node.all_input_nodes)
    for part in traced.graph.nodes:
        if part.op == "placeholder":
            values[part] = next(inputs)
        elif part.op == "output":
            result: Node = map_arg(part.args[0], lambda n: values[n])
        elif not part.all_input_nodes:
            values[part] = constant(module, node, "number", part.target(*part.args, **part.kwargs))
        else:
            args, kwargs = (map_arg(a, lambda n: values[n]) for a in (part.args, part.kwargs))
            if part.target in _CLONES:
                values[part] = args[0]
                continue
            # Traced values and computed values may differ in memory layout.
            target = _aten.reshape.default if part.target in _VIEWS else part.target
            new = module.graph.call_function(target, args, kwargs)
            value = part.meta["val"]
            value = source_of(node).meta["val"].new_empty(value.shape, dtype=value.dtype)
            new.meta = {**node.meta, "val": value}
            if not has_float_kernel(new):
                shorter = _FORMS[new.target](module, new) if new.target in _FORMS else None
                if shorter is None:
                    return None  # the nodes made so far have no readers
                new = shorter
            values[part] = new
            made.append(new)
    return result if result in made else None


@functools.cache
def _table() -> dict[Any, Any]:
    """Return torch's decompositions of ops without a kernel and without a form here."""
    known = {*FLOAT_OPS, *floats.FORMS, *_FORMS, *_MOVES}
    return {op: rule for op, rule in decomposition_table.items() if op not in known}


def _traced(node: Node) -> GraphModule | None:
    sources = node.all_input_nodes
    if not all(isinstance(n.meta["val"], torch.Tensor) for n in sources):
        return None  # a generator of random numbers
    with FakeTensorMode():
        given = [torch.empty(n.meta["val"].shape, dtype=n.meta["val"].dtype) for n in sources]

        def run(*tensors: torch.Tensor) -> Any:
            of = dict(zip(sources, tensors, strict=True))
            args: Any = map_arg(node.args, of.__getitem__)
            kwargs: Any = map_arg(node.kwargs, of.__getitem__)
            return node.target(*args, **kwargs)  # type: ignore[operator]

        try:
            traced: GraphModule = make_fx(run, decomposition_table=_table())(*given)
        except (RuntimeError, NotImplementedError):
            return None  # torch has none for these arguments
    return traced


_VIEWS = _aten.view.default, _aten._unsafe_view.default
_CLONES = _aten.clone.default, torch.ops.prims.clone.default
_MOVES = {
    *(_aten.view.default, _aten.reshape.default, _aten.unsqueeze.default, _aten.squeeze.dims),
    *(_aten.squeeze.dim, _aten.permute.default, _aten.transpose.int, _aten.expand.default),
    *(_aten.slice.Tensor, _aten.select.int, _aten.cat.default, _aten.where.self),
    *(_aten.index_select.default, _aten.embedding.default, _aten.index.Tensor),
}


def _mean(module: GraphModule, node: Node) -> Node | None:
    of, _ = taken_from(node)
    x = source_of(of)
    dims, keepdim = reduction(of, x.meta["val"].dim())
    return _mean_of(node, x, dims, keepdim)


def _mean_of(node: Node, x: Node, dims: list[int], keepdim: bool) -> Node:
    count = math.prod(x.meta["val"].shape[d] for d in dims)
    total = call(node, _aten.sum.dim_IntList, x, dims, keepdim)
    return call(node, _aten.mul.Tensor, total, 1.0 / count)


def _variance(module: GraphModule, node: Node) -> Node | None:
    of, _ = taken_from(node)
    x = source_of(of)
    dims, keepdim = reduction(of, x.meta["val"].dim())
    count = math.prod(x.meta["val"].shape[d] for d in dims)
    correction = argument(of, "correction")
    less = 1.0 if correction is None else float(correction)
    if count <= less:
        return None
    centered = call(node, _aten.sub.Tensor, x, _mean_of(node, x, dims, True))
    squares = call(node, _aten.mul.Tensor, centered, centered)
    total = call(node, _aten.sum.dim_IntList, squares, dims, keepdim)
    variance = call(node, _aten.mul.Tensor, total, 1.0 / (count - less))
    root = of.target in (_aten.std.correction, _aten.std_mean.correction)
    return call(node, _aten.sqrt.default, variance) if root else variance


def _log_sum_exp(module: GraphModule, node: Node) -> Node | None:
    x = source_of(node)
    dims, keepdim = reduction(node, x.meta["val"].dim())
    largest = call(node, _aten.amax.default, x, dims, True)
    terms = call(node, _aten.exp.default, call(node, _aten.sub.Tensor, x, largest))
    total = call(node, _aten.sum.dim_IntList, terms, dims, keepdim)
    if not keepdim:
        largest = call(node, _aten.squeeze.dims, largest, dims)
    return call(node, _aten.add.Tensor, call(node, _aten.log.default, total), largest)


def _rms_norm(module: GraphModule, node: Node) -> Node | None:
    x, weight, eps = source_of(node), argument(node, "weight"), argument(node, "eps")
    rank = x.meta["val"].dim()
    dims = [*range(rank - len(argument(node, "normalized_shape")), rank)]
    mean = _mean_of(node, call(node, _aten.mul.Tensor, x, x), dims, True)
    eps = torch.finfo(torch.float32).eps if eps is None else eps
    root = call(node, _aten.rsqrt.default, call(node, _aten.add.Tensor, mean, eps))
    y = call(node, _aten.mul.Tensor, x, root)
    return y if weight is None else call(node, _aten.mul.Tensor, y, weight)


def _linear_by_axis(module: GraphModule, node: Node) -> Node | None:
    """Write average pools and resampling as a matrix for the rows of an image and one for the
    columns.
    """
    x = source_of(node)
    if x.meta["val"].dim() != 4:
        return None
    batch, channels, height, width = x.meta["val"].shape
    out_height, out_width = node.meta["val"].shape[2:]

    def run(image: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = node.target(image, *node.args[1:], **node.kwargs)  # type: ignore[operator]
        return result

    of_rows = run(torch.eye(height).reshape(1, height, height, 1).expand(-1, -1, -1, width))[0]
    of_columns = run(torch.eye(width).reshape(1, width, 1, width).expand(-1, -1, height, -1))[0]
    whole = float(run(torch.ones(1, 1, height, width)).amax())
    if whole == 0.0:
        return None
    rows = of_rows.amax(2).T  # [out_height, height], where columns are whole
    columns = of_columns.amax(1).T / whole  # [out_width, width]
    probe = torch.randn(1, 1, height, width, generator=torch.Generator().manual_seed(0))
    if not torch.allclose(rows @ probe[0, 0] @ columns.T, run(probe)[0, 0], 1e-5, 1e-5):
        return None
    flat = call(node, _aten.reshape.default, x, [1, batch * channels * height, width])
    wide = call(node, _aten.bmm.default, flat, constant(module, node, "columns", columns.T[None]))
    lines = call(node, _aten.view.default, wide, [batch * channels, height, out_width])
    lines = call(node, _aten.permute.default, lines, [0, 2, 1])
    lines = call(node, _aten.reshape.default, lines, [1, batch * channels * out_width, height])
    tall = call(node, _aten.bmm.default, lines, constant(module, node, "rows", rows.T[None]))
    tall = call(node, _aten.view.default, tall, [batch * channels, out_width, out_height])
    turned = call(node, _aten.permute.default, tall, [0, 2, 1])
    return call(node, _aten.reshape.default, turned, [batch, channels, out_height, out_width])


def _max_pool(module: GraphModule, node: Node) -> Node | None:
    """Return the maximum of slices, one for each place in a window."""
    of, _ = taken_from(node)
    x = source_of(of)
    if x.meta["val"].dim() != 4:
        return None
    kernel = pair(argument(of, "kernel_size"))
    stride = pair(argument(of, "stride") or kernel)
    padding, dilation = pair(argument(of, "padding")), pair(argument(of, "dilation"))
    sizes = node.meta["val"].shape[2:]
    ends = [
        (size - 1) * step + (window - 1) * gap + 1
        for size, step, window, gap in zip(sizes, stride, kernel, dilation, strict=True)
    ]
    flat = []
    for k in (1, 0):
        behind = ends[k] - x.meta["val"].shape[2 + k] - padding[k]
        flat += [padding[k], max(behind, 0)]
    if any(flat):
        lowest = float(torch.finfo(torch.float32).min)
        x = call(node, _aten.constant_pad_nd.default, x, flat, lowest)
    best: Node | None = None
    for place in itertools.product(*map(range, kernel)):
        part = x
        for k, (at, gap, step, size) in enumerate(zip(place, dilation, stride, sizes, strict=True)):
            end = at * gap + (size - 1) * step + 1
            part = call(node, _aten.slice.Tensor, part, 2 + k, at * gap, end, step)
        best = part if best is None else call(node, _aten.maximum.default, best, part)
    return best


def _adaptive_max_pool(module: GraphModule, node: Node) -> Node | None:
    """Write an adaptive max pool if all its windows have one size."""
    x = source_of(taken_from(node)[0])
    before, after = x.meta["val"].shape[-2:], node.meta["val"].shape[-2:]
    if any(size % count for size, count in zip(before, after, strict=True)):
        return None
    window = [size // count for size, count in zip(before, after, strict=True)]
    return _max_pool(module, call(node, _aten.max_pool2d.default, x, window))


def _mm(module: GraphModule, node: Node) -> Node | None:
    a, b = (call(node, _aten.unsqueeze.default, n, 0) for n in node.args)
    return call(node, _aten.squeeze.dims, call(node, _aten.bmm.default, a, b), [0])


def _running_sum(module: GraphModule, node: Node) -> Node | None:
    """Return a product with a triangle of ones."""
    x, dim = along(node)
    count = x.meta["val"].shape[dim]
    return times_matrix(module, node, x, dim, torch.ones(count, count).triu())


def _resized_line(module: GraphModule, node: Node) -> Node | None:
    x = source_of(node)
    lines: torch.Tensor = node.target(  # type: ignore[operator]
        torch.eye(x.meta["val"].shape[-1])[None], *node.args[1:], **node.kwargs
    )
    return times_matrix(module, node, x, -1, lines[0])


def _by_channel(module: GraphModule, node: Node) -> Node | None:
    """Write an instance norm, in torch a batch norm of one batch, with one group per channel."""
    of, _ = taken_from(node)
    x = source_of(of)
    if x.meta["val"].shape[0] != 1:
        return None
    weight, bias = argument(of, "weight"), argument(of, "bias")
    channels = x.meta["val"].shape[1]
    return call(node, _aten.group_norm.default, x, channels, weight, bias, argument(of, "eps"))


def _masked_softmax(module: GraphModule, node: Node) -> Node | None:
    """Write a masked softmax; a fully masked row gives 0."""
    x, mask = source_of(node), argument(node, "mask")
    lowest = constant(module, node, "lowest", torch.tensor(torch.finfo(torch.float32).min))
    zero = constant(module, node, "zero", torch.tensor(0.0))
    scores = call(node, _aten.where.self, mask, x, lowest)
    shares = _decomposed(module, call(node, _aten.softmax.int, scores, -1))
    return None if shares is None else call(node, _aten.where.self, mask, shares, zero)


_FORMS: dict[Any, Form] = {
    **POINTWISE,
    MASKED_SOFTMAX: _masked_softmax,
    _aten.mean.dim: _mean,
    _aten.mean.default: _mean,
    _aten.var.correction: _variance,
    _aten.std.correction: _variance,
    _aten.rms_norm.default: _rms_norm,
    _aten.logsumexp.default: _log_sum_exp,
    _aten.avg_pool2d.default: _linear_by_axis,
    _aten.adaptive_avg_pool2d.default: _linear_by_axis,
    _aten.upsample_bilinear2d.vec: _linear_by_axis,
    _aten.max_pool2d.default: _max_pool,
    _aten.mm.default: _mm,
    _aten.cumsum.default: _running_sum,
    _aten.upsample_linear1d.vec: _resized_line,
}
_FORMS_OF_RESULTS: dict[Any, tuple[Form, ...]] = {
    _aten.adaptive_max_pool2d.default: (_adaptive_max_pool,),
    _aten.max_pool2d_with_indices.default: (_max_pool,),
    _aten._native_batch_norm_legit.no_stats: (_by_channel,),
    _aten.var_mean.correction: (_variance, _mean),
    _aten.std_mean.correction: (_variance, _mean),
}
