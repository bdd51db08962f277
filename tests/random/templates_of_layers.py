# SPDX-License-Identifier: Apache-2.0
"""Line templates of layers, and of functions used as such; same form as templates.py."""

from __future__ import annotations

import torch

from tests.random.graphs import Writer


def is_image(v: torch.Tensor) -> bool:
    return v.dim() == 4


def convolution(w: Writer) -> str:
    dimensions = w.of([1, 2, 2])
    a = w.any(lambda v: v.dim() == dimensions + 2)
    channels = w.values[a].shape[1]
    groups = w.of([1, 1, channels])
    out = groups * w.integer(1, 3)
    kernel = w.integer(1, 3)
    stride, padding, dilation = w.integer(1, 2), w.integer(0, 2), w.of([1, 1, 2])
    layer = w.layer(
        f"nn.Conv{dimensions}d({channels}, {out}, {kernel}, {stride}, {padding}, {dilation}, "
        f"{groups}, bias={w.of([True, False])})"
    )
    if w.of([False, True]):
        norm = w.layer(f"nn.BatchNorm{dimensions}d({out})")
        return w.new(f"{norm}({layer}({a}))")
    return w.new(w.of(["{}", "torch.relu({})", "F.relu6({})"]).format(f"{layer}({a})"))


def linear(w: Writer) -> str:
    a = w.any(lambda v: v.dim() > 0)
    size = w.values[a].shape[-1]
    layer = w.layer(f"nn.Linear({size}, {w.integer(1, 7)}, bias={w.of([True, False])})")
    return w.new(w.of(["{}({})", "torch.relu({}({}))"]).format(layer, a))


def norm(w: Writer) -> str:
    a = w.any(lambda v: v.dim() in (2, 3, 4))
    shape = w.values[a].shape
    kind = "2d" if len(shape) == 4 else "1d"
    layer = w.layer(f"nn.BatchNorm{kind}({shape[1]})")
    return w.new(f"{layer}({a})")


def pool(w: Writer) -> str:
    kind = w.of(["max", "avg", "adaptive_avg", "adaptive_max", "max1d", "avg1d"])
    if kind.endswith("1d"):
        a = w.any(lambda v: v.dim() == 3)
        return w.new(f"F.{kind[:3]}_pool1d({a}, {w.integer(1, 3)}, {w.integer(1, 2)})")
    a = w.any(is_image)
    if kind.startswith("adaptive"):
        return w.new(f"F.{kind}_pool2d({a}, ({w.integer(1, 3)}, {w.integer(1, 3)}))")
    kernel = w.integer(1, 3)
    options = f"ceil_mode={w.of([False, True])}"
    if kind == "avg":
        options += f", count_include_pad={w.of([False, True])}"
    padding = w.integer(0, kernel // 2)
    return w.new(f"F.{kind}_pool2d({a}, {kernel}, {w.integer(1, 3)}, {padding}, {options})")


def upsample(w: Writer) -> str:
    mode = w.of(["nearest", "bilinear"])
    size = w.of(["scale_factor=2", "scale_factor=(1, 2)", "scale_factor=1.5", "size=(3, 5)"])
    options = f"{size}, mode={mode!r}"
    if mode == "bilinear":
        options += f", align_corners={w.of([False, True])}"
    return w.new(f"F.interpolate({w.any(is_image)}, {options})")


def normalize(w: Writer) -> str:
    a = w.any(lambda v: v.dim() > 0)
    shape = list(w.values[a].shape)
    kind = w.of(["layer", "rms", "group", "instance", "l2", "by hand"])
    if kind == "l2":
        return w.new(f"F.normalize({a}, dim={w.dim(a)})")
    if kind == "by hand":
        mean = f"({a} - {a}.mean(-1, keepdim=True))"
        return w.new(f"{mean} / torch.sqrt({a}.var(-1, False, keepdim=True) + 1e-3)")
    if kind in ("layer", "rms"):
        last = shape[w.integer(0, len(shape) - 1) :]
        name = "LayerNorm" if kind == "layer" else "RMSNorm"
        layer = w.layer(f"nn.{name}({last}, elementwise_affine={w.of([True, False])})")
        return w.new(f"{layer}({a})")
    a = w.any(lambda v: v.dim() in (3, 4))
    channels = w.values[a].shape[1]
    if kind == "group":
        groups = w.of([g for g in range(1, channels + 1) if channels % g == 0])
        return w.new(f"{w.layer(f'nn.GroupNorm({groups}, {channels})')}({a})")
    kind = f"InstanceNorm{w.values[a].dim() - 2}d"
    layer = w.layer(f"nn.{kind}({channels}, affine={w.of([True, False])})")
    return w.new(f"{layer}({a})")


def product(w: Writer) -> str:
    a = w.any(lambda v: v.dim() > 0)
    shape = w.values[a].shape
    form = w.of(["{} @ {}", "torch.matmul({}, {}.transpose(-1, -2))"])
    side = -1 if form.endswith("1, -2))") else -2
    b = w.any(lambda v: v.dim() > 1 and v.shape[side] == shape[-1])
    return w.new(form.format(a, b))


def attention(w: Writer) -> str:
    a = w.any(lambda v: v.dim() in (3, 4))
    b = w.any(lambda v: v.shape == w.values[a].shape)
    if w.of([True, False]) and w.values[a].dim() == 3:
        size = w.values[a].shape[-1]
        heads = w.of([h for h in range(1, size + 1) if size % h == 0])
        layer = w.layer(f"nn.MultiheadAttention({size}, {heads}, batch_first=True)")
        return w.new(f"{layer}({a}, {b}, {b})[0]")
    causal = w.of([True, False])
    return w.new(f"F.scaled_dot_product_attention({a}, {b}, {b}, is_causal={causal})")


def transposed_convolution(w: Writer) -> str:
    dimensions = w.of([1, 2])
    a = w.any(lambda v: v.dim() == dimensions + 2)
    channels = w.values[a].shape[1]
    groups = w.of([1, 1, channels])
    kernel, stride, padding = w.integer(1, 4), w.integer(1, 3), w.integer(0, 1)
    layer = w.layer(
        f"nn.ConvTranspose{dimensions}d({channels}, {groups * w.integer(1, 3)}, {kernel}, "
        f"{stride}, {padding}, {w.integer(0, stride - 1)}, {groups}, {w.of([True, False])}, "
        f"{w.of([1, 1, 2])})"
    )
    return w.new(w.of(["{}", "torch.relu({})"]).format(f"{layer}({a})"))


def recurrent(w: Writer) -> str:
    a = w.any(lambda v: v.dim() == 3)
    kind = w.of(["LSTM", "GRU", "RNN"])
    layer = w.layer(
        f"nn.{kind}({w.values[a].shape[2]}, {w.integer(1, 4)}, bias={w.of([True, False])}, "
        f"batch_first={w.of([False, True])}, bidirectional={w.of([False, True])})"
    )
    return w.new(f"{layer}({a})[0]")


def embedding(w: Writer) -> str:
    a = w.any(lambda v: v.dim() > 0)
    dim = w.dim(a)
    layer = w.layer(f"nn.Embedding({w.values[a].shape[dim]}, {w.integer(1, 4)})")
    return w.new(f"{layer}({a}.argmax({dim}))")


def folded(w: Writer) -> str:
    """Return folded windows, and maxima of windows put back in place."""
    a = w.any(is_image)
    height, width = w.values[a].shape[2:]
    if w.of([False, True]):
        pooled = f"F.max_pool2d({a}, 2, return_indices=True)"
        return w.new(f"F.max_unpool2d(*{pooled}, 2, output_size=({height}, {width}))")
    window, stride = w.integer(1, 3), w.integer(1, 2)
    unfolded = f"F.unfold({a}, {window}, stride={stride}, padding=1)"
    return w.new(f"F.fold({unfolded}, ({height}, {width}), {window}, stride={stride}, padding=1)")
