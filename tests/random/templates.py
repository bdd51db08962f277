# SPDX-License-Identifier: Apache-2.0
"""Line templates of a random model. A template draws its needs and returns a line. If no value
fits, it raises LookupError.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from tests.random import templates_of_layers as layers
from tests.random.graphs import Writer
from tests.random.templates_of_layers import is_image

Template = Callable[[Writer], str]

# Functions of one value, whatever its shape; {} is the value.
_FUNCTIONS = (
    "torch.relu({})", "F.relu6({})", "torch.sigmoid({})", "torch.tanh({})", "F.hardswish({})",
    "F.hardsigmoid({})", "F.gelu({})", "F.silu({})", "F.leaky_relu({}, 0.2)", "F.elu({})",
    "{}.abs()", "-{}", "{}.clamp(-0.5, 0.75)", "{}.clamp(min=-1.0)", "F.hardtanh({}, -0.25, 1.5)",
    "F.softplus({})", "{0} * torch.sigmoid({0})", "{0} + torch.relu({0})", "{} * 0.5 + 0.25",
    "1.0 - {}", "{} / 3.0", "{0} / (1.0 + {0}.abs())", "torch.sin({})", "{0} * {0}", "{} - 0.75",
    "{}.clone()", "{}.contiguous()", "{} * 1.0",
)  # fmt: skip

_IN_PLACE = (
    "{}.relu_()", "{}.mul_(0.5)", "{}.add_(0.25)", "{}.neg_()", "{}.clamp_(-1.0, 1.0)",
    "{}.sigmoid_()",
)  # fmt: skip


def _function(w: Writer) -> str:
    return w.new(w.of(_FUNCTIONS).format(w.any()))


def _in_place(w: Writer) -> str:
    return str(w.of(_IN_PLACE).format(w.any()))


def _in_place_with_another(w: Writer) -> str:
    a = w.any()
    shape = w.values[a].shape
    b = w.any(lambda v: _broadcast(v.shape, shape) == shape)
    return f"{a}.{w.of(['add_', 'mul_', 'sub_'])}({b})"


def _broadcast(a: torch.Size, b: torch.Size) -> torch.Size | None:
    try:
        shape: torch.Size = torch.broadcast_shapes(a, b)
    except RuntimeError:
        return None
    return shape


def _binary(w: Writer) -> str:
    a = w.any()
    b = w.any(lambda v: _broadcast(v.shape, w.values[a].shape) is not None)
    form = w.of(["{} + {}", "{} - {}", "{} * {}", "torch.add({}, {}, alpha=-0.5)"])
    return w.new(form.format(a, b))


def _with_constant(w: Writer) -> str:
    """Return a line with a parameter as operand; its shape broadcasts either way."""
    a = w.any(lambda v: v.dim() > 0)
    shape = [w.of([s, s, 1]) for s in w.values[a].shape]
    shape = shape[w.integer(0, len(shape) - 1) :] if w.of([True, False]) else [1, *shape]
    constant = w.layer(f"nn.Parameter(torch.zeros({tuple(shape)}))")
    form = w.of(["{} + {}", "{} - {}", "{} * {}", "{1} - {0}", "torch.cat(({1}, {0}))"])
    return w.new(form.format(a, constant))


def _dimensions(w: Writer) -> str:
    a = w.any(lambda v: v.dim() > 0)
    rank = w.values[a].dim()
    kind = w.integer(0, 6)
    if kind == 0:
        return w.new(f"{a}.permute({w.permutation(rank)})")
    if kind == 1:
        return w.new(f"{a}.transpose({w.dim(a)}, {w.dim(a)})")
    if kind == 2:
        return w.new(f"{a}.unsqueeze({w.integer(-rank - 1, rank)})")
    if kind == 3:
        return w.new(f"{a}.squeeze({w.of(['', w.dim(a)])})")
    if kind == 4:
        return w.new(f"{a}.flatten({w.integer(0, rank - 1)})")
    if kind == 5:
        return w.new(f"{a}.movedim({w.dim(a)}, {w.dim(a)})")
    return _reshape(w, a)


def _reshape(w: Writer, a: str) -> str:
    count = w.values[a].numel()
    first = w.of([d for d in range(1, count + 1) if count % d == 0])
    rest = count // first
    second = w.of([d for d in range(1, rest + 1) if rest % d == 0])
    sizes = [first, second, rest // second]
    sizes[w.integer(0, 2)] = -1
    return w.new(f"{a}.reshape({', '.join(map(str, sizes))})")


def _part(w: Writer) -> str:
    a = w.any(lambda v: v.dim() > 0)
    dim = w.dim(a)
    size = w.values[a].shape[dim]
    kind = w.integer(0, 5)
    if kind == 0:
        return w.new(f"{a}.select({dim}, {w.integer(-size, size - 1)})")
    if kind == 1:
        start = w.integer(0, size - 1)
        return w.new(f"{a}.narrow({dim}, {start}, {w.integer(1, size - start)})")
    if kind == 2:
        return w.new(f"{a}.chunk(2, {dim})[{w.of([0, -1])}]")
    if kind == 3:
        return w.new(f"{a}.split({w.integer(1, size)}, {dim})[{w.of([0, -1])}]")
    if kind == 4:
        return w.new(f"{a}.unbind({dim})[-1]")
    start, stop = w.of(["", w.integer(-size, size - 1)]), w.of(["", w.integer(-size, size)])
    return w.new(f"{a}[..., {start}:{stop}:{w.of(['', 1, 2, 3])}]")


def _together(w: Writer) -> str:
    a = w.any(lambda v: v.dim() > 0)
    dim = w.dim(a)
    shape = list(w.values[a].shape)

    def fits(v: torch.Tensor) -> bool:
        other = list(v.shape)
        return len(other) == len(shape) and [*other[:dim], *other[dim:][1:]] == [
            *shape[:dim],
            *shape[dim:][1:],
        ]

    parts = ", ".join([a, w.any(fits), *([w.any(fits)] if w.of([False, True]) else [])])
    if w.of([False, True]):
        return w.new(f"torch.cat(({parts}), {dim})")
    b = w.any(lambda v: list(v.shape) == shape)
    return w.new(f"torch.stack(({a}, {b}), {dim})")


def _pad(w: Writer) -> str:
    a = w.any(lambda v: v.dim() > 0)
    rank = w.values[a].dim()
    count = 2 * w.integer(1, min(rank, 3))
    pads = [w.integer(-1, 2) for _ in range(count)]
    return w.new(f"F.pad({a}, {pads}, value={w.of([0.0, 0.5, -1.0, 3.0])})")


def _mean(w: Writer) -> str:
    a = w.any(lambda v: v.dim() > 0)
    dims = w.of([(w.dim(a),), tuple({w.dim(a) % w.values[a].dim() for _ in range(2)})])
    return w.new(f"{a}.mean({dims}, keepdim={w.of([False, True])})")


def _softmax(w: Writer) -> str:
    a = w.any(lambda v: v.dim() > 0)
    return w.new(f"F.{w.of(['softmax', 'log_softmax'])}({a}, {w.dim(a)})")


def _largest(w: Writer) -> str:
    a = w.any(lambda v: v.dim() > 0)
    form = w.of(["{}.argmax({})", "{}.max({})[0]", "{}.max({})[1]"])
    return w.new(form.format(a, w.dim(a)))


def _places(w: Writer) -> str:
    """Return a line with reads from constant positions."""
    a = w.any(lambda v: v.dim() > 0)
    dim = w.dim(a)
    size = w.values[a].shape[dim]
    kind = w.integer(0, 8)
    if kind == 0:
        return w.new(f"{a}.flip({dim})")
    if kind == 1:
        return w.new(f"{a}.roll({w.integer(-3, 3)}, {dim})")
    if kind == 2:
        repeats = ", ".join(str(w.of([1, 1, 2])) for _ in w.values[a].shape)
        return w.new(f"{a}.repeat({repeats})")
    if kind == 3:
        return w.new(f"{a}.expand({w.integer(1, 3)}, *[-1] * {w.values[a].dim()})")
    if kind == 4:
        window = w.integer(1, size)
        return w.new(f"{a}.unfold({dim}, {window}, {w.integer(1, 3)})")
    if kind == 5:
        mode = w.of(["reflect", "replicate", "circular"])
        return w.new(f"F.pad({a}, ({w.integer(0, 2)}, {w.integer(0, 2)}), mode={mode!r})")
    if kind == 6:
        return w.new(f"F.{w.of(['pixel_shuffle', 'pixel_unshuffle'])}({w.any(is_image)}, 2)")
    places = [w.integer(0, size - 1) for _ in range(w.integer(1, 4))]
    if kind == 7:
        return w.new(f"{a}.index_select({dim}, torch.tensor({places}))")
    places = [w.integer(0, w.values[a].shape[0] - 1) for _ in places]
    return w.new(f"{a}[{places}]")


def _pair(w: Writer) -> str:
    a = w.any()
    b = w.any(lambda v: _broadcast(v.shape, w.values[a].shape) is not None)
    form = w.of(
        ["torch.maximum({}, {})", "torch.minimum({}, {})", "{} / ({}.abs() + 0.5)",
         "torch.lerp({}, {}, 0.25)", "torch.clamp({}, {1}, {1} + 0.5)", "torch.clamp({}, max={})"]
    )  # fmt: skip
    return w.new(form.replace("{}", "{0}", 1).replace("{}", "{1}").format(a, b))


_MASKS = ("{} > {}", "{} <= {}", "{0} > 0.25", "({0} > 0.0) & ({1} < 0.5)", "~({0} >= {1})")


def _masked(w: Writer) -> str:
    a = w.any()
    b = w.any(lambda v: v.shape == w.values[a].shape)
    mask = w.of(_MASKS).format(a, b)
    form = w.of(
        ["torch.where({mask}, {a}, {b})", "torch.where({mask}, {a}, 0.5)", "({mask})",
         "{a}.masked_fill({mask}, -1.0)", "{b} * ({mask}).float()", "({mask}).any(-1)"]
    )  # fmt: skip
    return w.new(form.format(mask=mask, a=a, b=b))


def _reduce(w: Writer) -> str:
    a = w.any(lambda v: v.dim() > 0)
    dim, keepdim = w.dim(a), f"keepdim={w.of([False, True])}"
    form = w.of(
        ["sum({d}, {k})", "amax({d}, {k})", "amin({d}, {k})", "var({d}, {k})", "std({d}, {k})",
         "norm(dim={d}, {k})", "norm(1, {d}, {k})", "logsumexp({d}, {k})", "cumsum({d})",
         "min({d}, {k})[0]", "topk(1, {d})[0]", "topk({n}, {d})[0]", "max()", "min()", "sum()",
         "argmin({d}, {k})"]
    )  # fmt: skip
    count = w.integer(1, w.values[a].shape[dim])
    return w.new(f"{a}.{form.format(d=dim, k=keepdim, n=count)}")


def _computed_places(w: Writer) -> str:
    """Return a line with reads from, or writes to, computed positions."""
    a = w.any(lambda v: v.dim() > 0)
    shape, dim = w.values[a].shape, w.dim(a)
    b = w.any(lambda v: v.shape == shape)
    count = w.integer(1, shape[dim])
    places = w.of(
        [
            f"{a}.argmax({dim}, keepdim=True)",
            f"{a}.argmin({dim}, True)",
            f"{a}.topk({count}, {dim})[1]",
        ]
    )
    form = w.of(
        ["torch.gather({b}, {d}, {p})", "torch.take_along_dim({b}, {p}, {d})",
         "{b}.scatter({d}, {p}, -0.5)", "{b}.scatter({d}, {p}, {a})",
         "{b}.scatter_add({d}, {p}, {a})", "{b}.index_select(0, {a}.argmax(0).flatten())",
         "{b}[{a}.argmax(0)]", "{b}.index_add(0, {a}.flatten(1).argmax(0)[:1], {a}[:1])"]
    )  # fmt: skip
    return w.new(form.format(a=a, b=b, d=dim, p=places))


def _of_two(w: Writer) -> str:
    """Return a line with a function of two values other than a sum or a product."""
    a = w.any()
    b = w.any(lambda v: v.shape == w.values[a].shape)
    forms = ["torch.hypot({}, {})", "torch.atan2({}, {})", "torch.remainder({}, 0.75)"]
    forms += ["torch.fmod({}, 0.5)", "({} * 0.5).cumprod(-1)"]
    return w.new(w.of(forms).format(a, b))


TEMPLATES: tuple[Template, ...] = (
    _function, _function, _in_place, _in_place_with_another, _binary, _binary, _with_constant,
    _dimensions, _dimensions, _part, _part, _together, _pad, layers.convolution,
    layers.convolution, layers.linear, layers.norm, layers.pool, _mean, _softmax, _largest,
    layers.upsample, layers.normalize, layers.product, layers.attention,
    layers.transposed_convolution, _places, _places, _pair, _masked, _reduce, _reduce,
    layers.recurrent, layers.embedding, _computed_places, _computed_places, layers.folded, _of_two,
)  # fmt: skip
