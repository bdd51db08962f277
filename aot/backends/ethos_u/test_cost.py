# SPDX-License-Identifier: Apache-2.0
"""Estimate of a region's worth of an NPU call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.fx import GraphModule

from aot.backends.ethos_u.cost import CYCLES, MACS
from aot.dialect.delegate import delegate_of
from aot.dialect.graph import dialect_op, value_of
from aot.partition.partition import partition
from aot.partition.testing import calls, everything, rewritten
from aot.targets import target_named

MEASURED: dict[str, float] = json.loads(Path("measure/bench/baseline.json").read_text())[
    "cortex-m55 cost"
]
OFF_BY = 1.7
"""Largest error factor: shapes differ by more."""

# op: (row of the bench, values that it reads or writes, the larger number)
ROWS: dict[str, tuple[str, int]] = {
    "adaptive_avg_pool2d": ("adaptive_avg_pool 16x16x16 to 7x7", 4096),
    "add": ("add 4096", 4096),
    "amax": ("amax 8x8x64", 4096),
    "avg_pool2d": ("avg_pool 2x2, 16x16x16", 4096),
    "cat": ("cat channels, 8 and 8", 4096),
    "gather": ("gather nearest 16x16x16 to 32x32", 16384),
    "less": ("less 4096", 4096),
    "log_softmax": ("softmax 1000", 1000),
    "lut": ("lut 4096", 4096),
    "masked_softmax": ("masked_softmax, 2 heads of 32x32", 2048),
    "maximum": ("maximum 4096", 4096),
    "mean": ("mean 25x5x64", 8000),
    "mean_pool2d": ("mean_pool 2x2, 16x16x16", 4096),
    "mul": ("mul 4096", 4096),
    "normalize": ("layer norm 16x64", 1024),
    "pad": ("pad 16x16x8 by 1", 2592),
    "resize_bilinear": ("bilinear 16x16x16 to 32x32", 16384),
    "second_moment": ("std 8x8x64", 4096),
    "softmax": ("softmax 1000", 1000),
    "transpose": ("transpose to NHWC, 16x16x16", 4096),
    "where": ("where 4096", 4096),
}


@pytest.mark.parametrize("op", ROWS)
def test_the_cores_cycles_are_those_of_its_kernels(op: str) -> None:
    row, values = ROWS[op]
    known = values * CYCLES.get(op, 1.0)
    assert known / OFF_BY <= MEASURED[row] <= known * OFF_BY, MEASURED[row] / values


# op: (row of the bench, multiply-accumulates)
ROWS_OF_MACS: dict[str, tuple[str, int]] = {
    "bmm": ("bmm queries times keys", 2 * 32 * 32 * 16),
    "depthwise_conv2d": ("depthwise 3x3, 25x5x64", 25 * 5 * 64 * 9),
    "conv2d": ("conv 1x1, 24x24x32 to 32", 24 * 24 * 32 * 32),
    "linear": ("linear 128 to 640", 128 * 640),
}


@pytest.mark.parametrize("op", ROWS_OF_MACS)
def test_the_cores_cycles_of_products_are_those_of_its_kernels(op: str) -> None:
    row, macs = ROWS_OF_MACS[op]
    known = macs / MACS.get(op, 2.0)
    assert known / OFF_BY <= MEASURED[row] <= known * OFF_BY, macs / MEASURED[row]


@pytest.mark.parametrize(
    ("conv", "shape"),
    [
        (nn.Conv2d(8, 24, 3, dilation=(1, 4), padding=(1, 4)), (1, 8, 15, 17)),
        (nn.Conv2d(4, 8, 3, dilation=4), (3, 4, 20, 20)),
        (nn.Conv2d(24, 24, 3, dilation=3, groups=24), (1, 24, 31, 35)),
        (nn.Conv2d(4, 8, 3), (3, 4, 20, 20)),
    ],
)
@pytest.mark.parametrize("target", ["ethos-u55-128", "ethos-u65-256"])
def test_a_convolution_that_vela_takes_apart_is_counted_once(
    target: str, conv: nn.Conv2d, shape: tuple[int, ...]
) -> None:
    """Some of these were counted four times or more, and therefore stayed on the core."""
    module = rewritten(lambda conv, x: conv(x), conv, shapes=[shape])
    partition(module, target_named(target, "off"))
    (delegate,) = (d for n in module.graph.nodes if (d := delegate_of(module, n)))
    layers: Any = delegate.payload.report["layers"]
    parts = [layer["macs"] for layer in layers if layer["kind"].endswith("Conv2D")]
    (node,) = (n for n in delegate.region.graph.nodes if "conv" in n.name and dialect_op(n))
    op = dialect_op(node)
    assert op is not None and op.macs is not None
    whole = op.macs(*map(value_of, node.args))
    assert len(parts) > 1 and abs(sum(parts) - whole) <= len(parts)


def _alternating(pairs: int, size: int) -> GraphModule:
    """Return additions, alternating with sorts of rows; no NPU has sorts."""

    def forward(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        for _ in range(pairs):
            x = torch.sort(x + y, -1).values
        return x

    return rewritten(forward, shapes=[(1, size), (1, size)])


def _partitioned(module: GraphModule) -> tuple[int, set[str]]:
    """The number of delegates, and why ops are not in one."""
    partition(module, target_named("ethos-u55-128"))
    told = {r for n, _ in everything(module) for r in n.meta["not_on"].values()}
    return len(calls(module).delegates), told


def test_many_small_delegates_are_none() -> None:
    delegates, told = _partitioned(_alternating(8, 100))
    assert delegates == 0
    assert "the core takes some 900 cycles for it, and 1037 for a call of the NPU" in told


def test_each_that_saves_is_one() -> None:
    delegates, _ = _partitioned(_alternating(3, 4000))
    assert delegates == 3


def test_what_the_npu_takes_longer_for_stays() -> None:
    """A maximum over adjacent values: the NPU's pools process them one by one."""

    def forward(x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x, x.amax(-1, True)], -1)

    delegates, told = _partitioned(rewritten(forward, shapes=[(1, 60, 40)]))
    assert delegates == 0
    (reason,) = told
    assert "for a call of the NPU, " in reason and reason.endswith("of them its own")


@pytest.mark.parametrize(("channels", "size", "expected"), [(1, 6, 0), (16, 16, 3)])
def test_convolutions_between_others(channels: int, size: int, expected: int) -> None:
    def forward(*args: Any) -> torch.Tensor:
        x: torch.Tensor = args[-1]
        for conv in args[:-1]:
            x = torch.sort(conv(x), -1).values
        return x

    convs = (nn.Conv2d(channels, channels, 3, padding=1) for _ in range(3))
    net = rewritten(forward, *convs, shapes=[(1, channels, size, size)])
    delegates, _ = _partitioned(net)
    assert delegates == expected
