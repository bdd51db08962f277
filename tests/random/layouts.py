# SPDX-License-Identifier: Apache-2.0
"""Ops over tensors of rank 2 to 5, with one channel or position and with more, channels first and
last. There is one model for each, similar to the random ones.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.random.graphs import Graph

# {} is the value; a layer is the text before "(".
_ANY_RANK = (
    "torch.tanh({})", "{0} + {0}.amax(1, keepdim=True)", "{0} * {0}.mean(-1, keepdim=True)",
    "torch.cat(({0}, {0} * 0.5), 1)", "torch.stack(({0}, -{0}))", "{}.softmax(1)",
    "{}.log_softmax(-1)", "{}.sum(1)", "{}.mean((0, -1))", "{}.std(-1, False)", "{}.cumsum(1)",
    "{}.max(1)[0]", "{}.argmax(1)", "{}.transpose(0, 1)", "{}.flatten()", "{}[:, :1]",
    "{}.flip(1)", "{}.repeat_interleave(2, 1)", "F.pad({}, (1, 0))", "F.normalize({})",
    "torch.where({0} > 0.25, {0}, {0}.mean())", "{0} @ {0}.transpose(-1, -2)",
    "torch.maximum({0}, {0}.mean(0, keepdim=True))", "F.layer_norm({0}, {0}.shape[1:])",
)  # fmt: skip
# The same, of the rank; {c} is how many channels there are.
_OF_RANK = {
    2: ("nn.Linear({last}, 3)({})", "nn.BatchNorm1d({c})({})", "nn.GroupNorm(1, {c})({})"),
    3: (
        "nn.Conv1d({c}, 2, 3, padding=1)({})", "nn.Conv1d({c}, {c}, 1, groups={c})({})",
        "nn.ConvTranspose1d({c}, 2, 2, 2)({})", "nn.BatchNorm1d({c})({})",
        "nn.GroupNorm(1, {c})({})", "F.max_pool1d({}, 3, 1, 1)", "F.adaptive_avg_pool1d({}, 2)",
        "nn.LSTM({last}, 2)({})[0]", "nn.Linear({last}, 3)({})",
        "nn.MultiheadAttention({last}, 1)({0}, {0}, {0})[0]",
    ),
    4: (
        "nn.Conv2d({c}, 2, 3, padding=1)({})", "nn.Conv2d({c}, {c}, 1, groups={c})({})",
        "nn.Conv2d({c}, 1, 1)({})", "nn.ConvTranspose2d({c}, 2, 2, 2)({})",
        "nn.BatchNorm2d({c})({})", "nn.GroupNorm(1, {c})({})", "nn.InstanceNorm2d({c})({})",
        "F.max_pool2d({}, 3, 2, 1, ceil_mode=True)", "F.avg_pool2d({}, 3, 1, 1)",
        "F.adaptive_avg_pool2d({}, 1)", "F.adaptive_max_pool2d({}, 2)", "{}.mean((2, 3))",
        "F.interpolate({}, scale_factor=2)", "F.interpolate({}, size=(3, 4), mode='bilinear')",
        "F.pixel_shuffle(torch.cat([{}] * 4, 1), 2)", "{}.permute(0, 2, 3, 1)",
        "nn.Linear({last}, 3)({})",
    ),
    5: ("nn.Conv3d({c}, 2, (1, 1, 1))({})", "nn.BatchNorm3d({c})({})", "{}.mean((2, 3, 4))"),
}  # fmt: skip
_SHAPES = {
    2: ((3, 5), (1, 5), (3, 1), (1, 1)),
    3: ((1, 3, 4), (2, 1, 4), (1, 3, 1), (1, 1, 1)),
    4: ((1, 3, 4, 5), (1, 1, 4, 5), (1, 3, 1, 1), (1, 3, 1, 5), (2, 3, 4, 1), (1, 1, 1, 1)),
    5: ((1, 2, 3, 2, 2), (1, 1, 3, 2, 2), (1, 2, 1, 1, 1)),
}
RANKS = tuple(_SHAPES)


def models(rank: int) -> Iterator[Graph]:
    """Yield each op for each shape: of the input, and of a convolution's output if there is one."""
    for shape in _SHAPES[rank]:
        for channels_last in (False, True) if rank == 4 else (False,):
            for op in (*_ANY_RANK, *_OF_RANK[rank]):
                yield _model(op, shape, channels_last)


def _model(op: str, shape: tuple[int, ...], channels_last: bool) -> Graph:
    layers = []
    if op.startswith("nn."):
        layer, _, rest = op.partition(")(")
        layers, op = [layer.format(c=shape[1], last=shape[-1]) + ")"], f"self.a0({rest}"
    lines = [f"v0 = {op.format('x0')}"]
    if len(shape) == 4:
        layers.append(f"nn.Conv2d({shape[1]}, {shape[1]}, 1)")
        lines += [f"v1 = self.a{len(layers) - 1}(x0)", f"v2 = {op.format('v1')}"]
    results = "v0, v2" if len(lines) > 1 else "v0"
    return Graph((shape,), (channels_last,), tuple(layers), tuple(lines), results)
