# SPDX-License-Identifier: Apache-2.0
"""Every op's declaration agrees with its reference: shape rule, fake and out overload, transposes.

The calls are the cases of the kernels; an op without a kernel has its calls here.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from itertools import islice, permutations
from typing import Any

import pytest
import torch

import kernels.ops  # noqa: F401 (registers the ops)
from aot.dialect.arithmetic import quantize_multiplier, quantize_wide_multiplier, sums_multiplier
from aot.dialect.library import OPS
from aot.dialect.quantization import ACTIVATION_TYPES, Quantization
from aot.dialect.transposes import Transposes, inverse
from aot.upstream.torch import TorchDispatchMode, tree_leaves, tree_map_only
from kernels.binary.op_compare import equal_table, less_table
from kernels.binary.op_div import FRACTION_BITS
from kernels.reduce.op_second_moment import fraction_bits
from kernels.testing.folders import folders
from kernels.testing.oracle import arguments_of

EVERY = 4  # share of the cases: an op has about a hundred
TRANSPOSED_CASES = 8  # an op, each by every permutation; cases of five dimensions share them


def int8(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randint(-128, 128, shape, generator=generator).to(torch.int8)


# Ops without a kernel: they move nothing, or only rename dimensions.
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


_ARITHMETIC = re.compile(
    r"(add|sub|mul|div|floor_divide|remainder|maximum|minimum|lt|le|gt|ge|eq|ne|bitwise_(and|or|xor))$"
)


class _OneType(TorchDispatchMode):
    """Raises if an operation has operands of several types; one in place cannot promote."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        kinds = {t.dtype for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)}
        name = func.overloadpacket.__name__
        assert len(kinds) < 2 or not _ARITHMETIC.match(name), f"{name} of {kinds}"
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("op", OPS)
def test_arithmetic_of_a_reference_is_of_one_type(op: str) -> None:
    """torch also promotes by rank: int8 with an int16 of rank 0 stays int8, and wraps."""
    for given in calls()[op][::EVERY]:
        with _OneType():  # type: ignore[no-untyped-call]
            OPS[op].reference(*given)


@pytest.mark.parametrize("op", ["less", "equal"])
def test_comparisons_are_the_same_for_a_number(op: str) -> None:
    """The kernel compares 128, above all int8 values, in 32 bits."""
    a, table = torch.tensor([-128, 5, 127], dtype=torch.int8), torch.full((256,), 128)
    more = (False,) if op == "equal" else ()
    for shape in ((), (1,), (1, 1)):
        b = torch.zeros(shape, dtype=torch.int8)
        found = OPS[op].reference(a, b, table.to(torch.int16), *more)
        assert found.flatten().tolist() == [op == "less"] * 3


def test_a_table_of_bools_is_not_for_int16() -> None:
    x, table = torch.zeros(3, dtype=torch.int16), torch.ones(1 << 16, dtype=torch.bool)
    with pytest.raises(ValueError, match="lines are between int16 entries"):
        OPS["lut"].infer(x, table)


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
            assert given is out
            torch.testing.assert_close(out, result, rtol=0.0, atol=0.0, equal_nan=True)
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
                assert old.numpy().tobytes() == new.numpy().tobytes()


def _passes_any(transposes: Transposes, values: Mapping[str, Any]) -> bool:
    """Return True if a call lets any transpose pass."""
    rank = max(t.dim() for t in tree_leaves([values[name] for name in transposes.tensors]))
    orders = (list(order) for order in permutations(range(rank)))
    return any(transposes.move(values, perm) is not None for perm in islice(orders, 1, None))


@pytest.mark.parametrize("name", sorted(op for op in OPS if OPS[op].transposes is not None))
def test_transposes_pass(name: str) -> None:
    """op(transpose(x)) equals transpose(op(x)), as the op declares it."""
    op = OPS[name]
    assert op.transposes is not None
    names = [a.name for a in op.overload._schema.arguments]
    passed = 0
    by_rank = sorted(calls()[name], key=lambda args: max(t.dim() for t in tree_leaves(args[0])))
    named = (dict(zip(names, args, strict=True)) for args in reversed(by_rank))
    passing = (values for values in named if _passes_any(op.transposes, values))
    for index, values in enumerate(islice(passing, TRANSPOSED_CASES)):
        args = [*values.values()]
        given = {tensor: values[tensor] for tensor in op.transposes.tensors}
        rank = max(t.dim() for t in tree_leaves(given))
        every = TRANSPOSED_CASES if rank > 4 else 1
        for order in islice(permutations(range(rank)), index % every, None, every):
            perm = list(order)
            moved = op.transposes.move(values, perm)
            if moved is None:
                continue

            def before(t: torch.Tensor, perm: list[int] = perm) -> torch.Tensor:
                """Return the source of t before the transpose."""
                return t.reshape([1] * (len(perm) - t.dim()) + list(t.shape)).permute(inverse(perm))

            sources = tree_map_only(torch.Tensor, before, given)
            results = tree_leaves(op.overload(**{**values, **sources, **moved.arguments}))
            for result, expected in zip(results, tree_leaves(op.overload(*args)), strict=True):
                turned = result
                if result.dim() == len(
                    moved.perm
                ):  # the states of recurrent layers are no sequences
                    turned = result.permute(moved.perm)
                assert torch.equal(turned, expected), (args, perm)
            passed += perm != sorted(perm)
    assert passed


SCALES = [(0.1, 0), (0.1, -128), (0.3, 5), (1 / 3, 127), (2.0**-24, 0), (7e4, -3)]


@pytest.mark.parametrize("of_a", SCALES)
@pytest.mark.parametrize("of_b", SCALES)
def test_comparisons_are_those_of_the_dequantized_values(
    of_a: tuple[float, int], of_b: tuple[float, int]
) -> None:
    """Every pair of integers, for scales with common values and for scales without."""
    a, b = Quantization(*of_a), Quantization(*of_b)
    qa, qb = a.every_value()[:, None], b.every_value()
    x, y = a.dequantize(qa), b.dequantize(qb)
    assert torch.equal(OPS["less"].reference(qa, qb, less_table(a, b)), x < y)
    assert torch.equal(OPS["less"].reference(qa, qb, less_table(a, b, or_equal=True)), x <= y)
    for negated in (False, True):
        equal = OPS["equal"].reference(qa, qb, equal_table(a, b), negated)
        assert torch.equal(equal, (x == y) != negated)


@pytest.mark.parametrize("factor", [0.004, 0.3, 1.0, 17.0, 90.0, 3000.0, 6e4])
def test_a_quotient_is_off_by_little_more_than_its_rounding(factor: float) -> None:
    """Every pair of integers; factor is the result's steps for a quotient of 1."""
    a, b = Quantization(0.5, 3).every_value()[:, None], Quantization(0.5, 3).every_value()
    split = quantize_multiplier(factor / 2 ** FRACTION_BITS[torch.int8])
    results = OPS["div"].reference(a, b, 3, 3, 0, *split, -128, 127).to(torch.float64)
    exact = (a.double() - 3) / (b.double() - 3) * factor
    exact = exact.nan_to_num(nan=0.0).clamp(-128, 127)  # a division by zero is infinite
    assert float((results - exact).abs().max()) <= 0.5 + 2**-7


@pytest.mark.parametrize("factor", [0.5, 17.0, 32000.0, 1e8])
def test_a_quotient_of_int16_is_rounded_once(factor: float) -> None:
    generator = torch.Generator().manual_seed(0)
    a, b = torch.randint(-(2**15), 2**15, (2, 20000), generator=generator).to(torch.int16)
    b[:100] = torch.arange(-50, 50)
    split = quantize_wide_multiplier(factor / 2 ** FRACTION_BITS[torch.int16])
    results = OPS["div"].reference(a, b, 0, 0, 0, *split, -(2**15), 2**15 - 1).to(torch.float64)
    exact = (a.double() / b.double() * factor).nan_to_num(nan=0.0).clamp(-(2**15), 2**15 - 1)
    assert float((results - exact).abs().max()) <= 0.5 + 2**-3


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16])
@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("root", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3, 100, 4096, 5000])
def test_a_moment_is_rounded_once(
    count: int, centered: bool, root: bool, dtype: torch.dtype
) -> None:
    """Wide, narrow, and extreme rows."""
    kind = ACTIVATION_TYPES[dtype]
    generator = torch.Generator().manual_seed(count)
    spreads = torch.tensor([60.0, 9, 2, 0.4, 1, 1])[:, None] * (kind.quant_max / 127)
    x = torch.randn(6, count, generator=generator) * spreads
    q = x.round().clamp(kind.quant_min, kind.quant_max).to(dtype)
    q[4], q[5, ::2], q[5, 1::2] = kind.quant_max, kind.quant_min, kind.quant_max
    zero_point = 0 if kind.symmetric else -128
    bits = fraction_bits(count, centered, root, dtype)
    d = q.double() - zero_point
    exact = count * (d**2).sum(1) - d.sum(1) ** 2 if centered else (d**2).sum(1)
    exact = exact.sqrt() if root else exact
    step = max(float(exact.max()), 1.0) / (kind.quant_max - 1)
    split = sums_multiplier(2.0 ** -(bits / 2 if root else bits) / step, dtype)
    arguments = (q, [1], False, centered, root, zero_point, 0, *split)
    actual = OPS["second_moment"].reference(*arguments).double()
    assert float((actual - exact / step).abs().max()) <= 0.5 + 2**-10


@pytest.mark.parametrize("count", [1, 7, 40000])
def test_sums_of_int16_values_are_rounded_once(count: int) -> None:
    q = torch.full((3, count), 2**15 - 1, dtype=torch.int16)
    q[1], q[2, ::2] = -(2**15), -(2**15)
    split = quantize_wide_multiplier(1 / count)
    actual = OPS["cumsum"].reference(q, 1, 0, 0, 0, *split).double()
    assert float((actual - q.double().cumsum(1) / count).abs().max()) <= 0.5 + 2**-10


def test_quantize_corners() -> None:
    values = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.25, 0.75, -0.25])
    quantized = OPS["quantize"].reference(values, 0.5, 3, 8)
    assert quantized.tolist() == [3, 127, -128, 3, 5, 3]  # ties go to even
