# SPDX-License-Identifier: Apache-2.0
"""Every op's registration: shape rule, fake and out overload agree with the reference."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_leaves, tree_map_only

import aot.dialect.ops  # noqa: F401 (registers the ops)
from aot.dialect.library import OPS

HALF = (2**30, 0)


def int8(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randint(-128, 128, shape, generator=generator).to(torch.int8)


def channels(count: int) -> list[torch.Tensor]:
    """bias, multiplier, shift."""
    return [
        torch.arange(count, dtype=torch.int32),
        torch.full((count,), 2**30, dtype=torch.int32),
        torch.full((count,), -6, dtype=torch.int32),
    ]


TABLE = torch.arange(256, 0, -1, dtype=torch.int32)
CALLS: dict[str, tuple[Any, ...]] = {
    "conv2d": (
        int8(1, 5, 6, 4),
        int8(6, 3, 3, 2),
        *channels(6),
        [2, 1],
        [1, 0, 1, 1],
        [1, 2],
        2,
        3,
        -4,
        -100,
        90,
    ),
    "depthwise_conv2d": (
        int8(1, 5, 6, 2),
        int8(3, 2, 4),
        *channels(4),
        [1, 2],
        [1, 0, 1, 1],
        [2, 1],
        3,
        -4,
        -128,
        127,
    ),
    "linear": (int8(2, 3, 5), int8(4, 5), *channels(4), 1, 2, -128, 127),
    "add": (int8(2, 1, 5), int8(4, 5), 1, *HALF, 2, *HALF, 20, 3, 2**30, -18, -128, 127),
    "mul": (int8(2, 1, 5), int8(4, 5), 1, 2, 3, 2**30, -6, -128, 127),
    "lut": (int8(2, 3), int8(256)),
    "max_pool2d": (int8(1, 5, 6, 3), [3, 2], [2, 2], [1, 1, 0, 0], [1, 1], [3, 3]),
    "avg_pool2d": (int8(1, 5, 6, 3), [3, 2], [2, 2], [1, 1, 0, 0], [3, 3], True, 0, 5),
    "adaptive_avg_pool2d": (int8(1, 5, 6, 3), [2, 4]),
    "adaptive_max_pool2d": (int8(1, 5, 6, 3), [2, 4]),
    "max_with_indices": (int8(2, 5, 3), 1, False),
    "mean": (int8(2, 3, 4), [0, 2], True, 1, 2, 2**30, -2),
    "softmax": (int8(2, 5), TABLE, 1),
    "log_softmax": (int8(2, 5), TABLE, 1, 8, 2**30, -11, 2**30, -7, 127),
    "transpose": (int8(2, 3, 4), [2, 0, 1]),
    "reshape": (int8(2, 3, 4), [6, 4]),
    "cat": ([int8(2, 3), int8(2, 4)], 1),
    "slice": (int8(2, 9), 1, 1, 8, 3),
    "pad": (int8(2, 3), [0, 1, 2, 0], -7),
    "quantize": (torch.tensor([0.3, float("nan"), 1e30, -1e30]), 0.1, 5),
    "dequantize": (int8(2, 3), 0.1, 5),
    "channels_last_to_nhwc": (int8(1, 3, 4, 5).contiguous(memory_format=torch.channels_last),),
    "nhwc_to_channels_last": (int8(1, 4, 5, 3),),
}


def test_every_op_is_here() -> None:
    assert CALLS.keys() == OPS.keys()


@pytest.mark.parametrize("name", sorted(CALLS))
def test_shape_fake_and_out(name: str) -> None:
    op, args = OPS[name], CALLS[name]
    results = tree_leaves(op.overload(*args))
    outs = [torch.zeros_like(result) for result in results]
    names = ["out"] if len(outs) == 1 else [f"out{i}" for i in range(len(outs))]
    written = getattr(torch.ops.pl, name).out(*args, **dict(zip(names, outs, strict=True)))
    on_meta = tree_map_only(torch.Tensor, lambda t: t.to("meta"), args)
    for result, inferred, out, given, fake in zip(
        results,
        op.values(*args),
        outs,
        tree_leaves(written),
        tree_leaves(op.overload(*on_meta)),
        strict=True,
    ):
        assert given is out and torch.equal(out, result)
        for other in (inferred, fake):
            assert (other.shape, other.dtype, other.stride()) == (
                result.shape,
                result.dtype,
                result.stride(),
            )


@pytest.mark.parametrize("name", sorted(CALLS))
def test_references_leave_their_inputs_alone(name: str) -> None:
    before = tree_map_only(torch.Tensor, torch.clone, CALLS[name])
    for result in tree_leaves(OPS[name].overload(*CALLS[name])):
        result.zero_()
    for old, new in zip(*(tree_leaves(a) for a in (before, CALLS[name])), strict=True):
        if isinstance(old, torch.Tensor):
            assert torch.equal(old, new) or bool(torch.isnan(old).any())


def test_quantize_corners() -> None:
    values = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.25, 0.75, -0.25])
    quantized = OPS["quantize"].reference(values, 0.5, 3)
    assert quantized.tolist() == [3, 127, -128, 3, 5, 3]  # ties go to even
