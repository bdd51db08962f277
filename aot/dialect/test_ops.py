# SPDX-License-Identifier: Apache-2.0
"""Every op's declaration agrees with its reference: shape rule, fake and out overload, transposes.

The calls are the cases of the kernels; an op without a kernel has its calls here.
"""

from __future__ import annotations

import functools
from itertools import permutations
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_leaves, tree_map_only

import aot.dialect.ops  # noqa: F401 (registers the ops)
from aot.dialect.library import OPS
from aot.dialect.transposes import inverse
from kernels.testing.folders import folders
from kernels.testing.oracle import arguments_of

EVERY = 4  # of the cases: there are a hundred or so of an op
TRANSPOSED_CASES = 8  # an op, each by every permutation


def int8(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randint(-128, 128, shape, generator=generator).to(torch.int8)


# Ops that move nothing, or only names of dimensions, have no kernel.
WITHOUT_KERNEL: dict[str, tuple[Any, ...]] = {
    "reshape": (int8(2, 3, 4), [6, 4]),
    "channels_last_to_nhwc": (int8(1, 3, 4, 5).contiguous(memory_format=torch.channels_last),),
    "nhwc_to_channels_last": (int8(1, 4, 5, 3),),
}


@functools.cache
def calls() -> dict[str, list[tuple[Any, ...]]]:
    """The arguments of every case, by op."""
    found: dict[str, list[tuple[Any, ...]]] = {op: [args] for op, args in WITHOUT_KERNEL.items()}
    for case in (case for folder in folders() for case in folder.cases()):
        namespace, _, name = case.op.partition("::")
        if namespace == "pl":
            given = arguments_of(case)
            schema = OPS[name].overload._schema
            found.setdefault(name, []).append(tuple(given[a.name] for a in schema.arguments))
    return found


def test_every_op_is_called() -> None:
    without = [
        f"pl::{op} has no case: write kernels/{op}/cases.py" for op in OPS if op not in calls()
    ]
    assert without == []


@pytest.mark.parametrize("name", sorted(OPS))
def test_shape_fake_and_out(name: str) -> None:
    op = OPS[name]
    for args in calls()[name][::EVERY]:
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


@pytest.mark.parametrize("name", sorted(OPS))
def test_references_leave_their_inputs_alone(name: str) -> None:
    for args in calls()[name][::EVERY]:
        before = tree_map_only(torch.Tensor, torch.clone, args)
        for result in tree_leaves(OPS[name].overload(*args)):
            result.zero_()
        for old, new in zip(tree_leaves(before), tree_leaves(args), strict=True):
            if isinstance(old, torch.Tensor):
                assert torch.equal(old.view(torch.uint8), new.view(torch.uint8))


@pytest.mark.parametrize("name", sorted(op for op in OPS if OPS[op].transposes is not None))
def test_transposes_pass(name: str) -> None:
    """op(transpose(x)) is transpose(op(x)), as the op declares it: for every permutation."""
    op = OPS[name]
    assert op.transposes is not None
    passed = 0
    by_rank = sorted(calls()[name], key=lambda args: max(t.dim() for t in tree_leaves(args[0])))
    for args in by_rank[-TRANSPOSED_CASES:]:
        schema = op.overload._schema
        values = {a.name: value for a, value in zip(schema.arguments, args, strict=True)}
        given = {tensor: values[tensor] for tensor in op.transposes.tensors}
        rank = max(t.dim() for t in tree_leaves(given))
        for order in permutations(range(rank)):
            perm = list(order)
            moved = op.transposes.move(values, perm)
            if moved is None:
                continue

            def before(t: torch.Tensor, perm: list[int] = perm) -> torch.Tensor:
                """What the transpose makes t of."""
                return t.reshape([1] * (len(perm) - t.dim()) + list(t.shape)).permute(inverse(perm))

            sources = tree_map_only(torch.Tensor, before, given)
            results = tree_leaves(op.overload(**{**values, **sources, **moved.arguments}))
            for result, expected in zip(results, tree_leaves(op.overload(*args)), strict=True):
                assert torch.equal(result.permute(moved.perm), expected), (args, perm)
            passed += perm != sorted(perm)
    assert passed


def test_quantize_corners() -> None:
    values = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.25, 0.75, -0.25])
    quantized = OPS["quantize"].reference(values, 0.5, 3)
    assert quantized.tolist() == [3, 127, -128, 3, 5, 3]  # ties go to even
