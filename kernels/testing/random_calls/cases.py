# SPDX-License-Identifier: Apache-2.0
"""Random calls of the dialect's ops: all ranks, broadcasts, constants as operands, ends of ranges.

The test program adds fallbacks, aliases, rows and guards to each call (kernels/testing/program.py).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from kernels.common.kernel import AnyArray, Isa, KernelError
from kernels.registry import kernel_call
from kernels.testing.case import Case
from kernels.testing.convolutions import convolution, random_window
from kernels.testing.exponentials import exp_table, wide_exp_table
from kernels.testing.oracle import expected_outputs
from kernels.testing.program import op_call
from kernels.testing.random_calls.varied import MULTIPLIERS, SHIFTS, cases_by_op, varied
from kernels.testing.values import Values, spread

PART = 160
"""Calls per part, within the memory of small boards; 125 parts are 20,000 calls."""

_ATTEMPTS = 40

_MOST = 300
"""Elements of a tensor, because calls share 8 KiB of memory with their guards."""

_Arguments = dict[str, Any]
_Made = tuple[_Arguments, _Arguments, _Arguments]
"""Inputs, constants, attributes."""


def cases(part: int = 0) -> Iterator[Case]:
    """Yield the calls of a part: random calls of the ops below, and varied cases of all ops in
    turn.
    """
    drawn = sorted(_OPS)
    ops = sorted(cases_by_op(), key=lambda op: (op.startswith("aten::"), op))
    for index in range(PART):
        values = Values("random calls", part, index)
        at = part * PART + index
        op = f"pl::{drawn[at // 2 % len(drawn)]}" if at % 2 else ops[at // 2 % len(ops)]
        yield _taken_case(values, op, f"{op} {at}", bool(at % 2))


def _taken_case(v: Values, op: str, name: str, drawn: bool) -> Case:
    """Return a call accepted by the kernels; refused calls are drawn again."""
    for _ in range(_ATTEMPTS):
        made = _OPS[op.removeprefix("pl::")](v) if drawn else None
        case = varied(v, op) if made is None else Case(name, op, *made)
        case = replace(case, name=name, board=True)
        if _is_taken(case):
            return case
    raise ValueError(f"kernels refused {_ATTEMPTS} random calls of {op}")


def _is_taken(case: Case) -> bool:
    call = op_call(case, expected_outputs(case))
    try:
        for isa in get_args(Isa):
            kernel_call(call, isa)
    except KernelError:
        return False
    return True


def _shape(v: Values, least: int = 0, rank: int | None = None) -> tuple[int, ...]:
    """Return a shape. Many sizes are 1, some are long."""
    count = v.integer(least, 6) if rank is None else rank
    sizes: list[int] = []
    for _ in range(count):
        room = _MOST // math.prod(sizes)
        sizes.append(min(room, v.choice([1, 1, 2, 3, v.integer(1, 9), v.integer(1, 50)])))
    order = sorted(range(count), key=lambda _: v.integer(0, 99))
    return tuple(sizes[i] for i in order)


def _pair(v: Values) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return two shapes that broadcast."""
    full = _shape(v)
    a, b = (tuple(v.choice([1, size, size]) for size in full) for _ in "ab")
    return (a, b[v.integer(0, len(b)) :]) if v.integer(0, 1) else (a[v.integer(0, len(a)) :], b)


def _data(v: Values, dtype: str, shape: tuple[int, ...]) -> AnyArray:
    if dtype == "bool":
        return np.asarray(v.int8(*shape) > v.choice([-128, 0, 126]))
    if dtype in ("int32", "float32") or v.integer(0, 2):
        return v.of_type(dtype, *shape)
    return v.extreme_int8(*shape) if dtype == "int8" else v.extreme_int16(*shape)


def _dtype(v: Values) -> str:
    return v.choice(["int8", "int8", "int16"])


def _zero(v: Values, dtype: str) -> int:
    return v.zero_point() if dtype == "int8" else 0


def _factor(v: Values, expected: float, prefix: str = "", most: int = 30) -> _Arguments:
    multiplier, shift = v.factor(expected)
    if v.integer(0, 2) == 0:
        multiplier = v.choice(MULTIPLIERS)
    if v.integer(0, 4) == 0:
        shift = v.choice([*SHIFTS, most])
    return {f"{prefix}multiplier": multiplier, f"{prefix}shift": min(shift, most)}


def _stage(v: Values, dtype: str) -> _Arguments:
    low, high = v.activation() if dtype == "int8" else v.int16_activation()
    limits = {"activation_min": low, "activation_max": high}
    return {"output_zero_point": _zero(v, dtype), **limits}


def _operands(v: Values, a: AnyArray, b: AnyArray) -> tuple[_Arguments, _Arguments]:
    """Return inputs and constants: sometimes one operand is a constant."""
    given: _Arguments = {"a": a, "b": b}
    fixed = {name: given.pop(name) for name in v.choice(["", "", "a", "b"])}
    return given, fixed


def _binary(attributes: Callable[[Values, str], _Arguments]) -> Callable[[Values], _Made]:
    def make(v: Values) -> _Made:
        dtype, shapes = _dtype(v), _pair(v)
        a, b = (_data(v, dtype, shape) for shape in shapes)
        inputs, constants = _operands(v, a, b)
        return inputs, constants, attributes(v, dtype)

    return make


def _of_two(v: Values, dtype: str, expected: float, most: int = 30) -> _Arguments:
    points = {f"{name}_zero_point": _zero(v, dtype) for name in "ab"}
    return {**points, **_factor(v, expected, most=most), **_stage(v, dtype)}


def _add(v: Values, dtype: str) -> _Arguments:
    return {
        **{f"{name}_zero_point": _zero(v, dtype) for name in "ab"},
        **_factor(v, 1 / 8, "a_", 0),
        **_factor(v, 1 / 8, "b_", 0),
        "left_shift": v.choice([20, 20, v.integer(0, 22)]) if dtype == "int8" else 15,
        **_factor(v, 2.0**-16, "output_"),
        **_stage(v, dtype),
    }


def _mul(v: Values, dtype: str) -> _Arguments:
    return _of_two(v, dtype, 2.0**-7 if dtype == "int8" else 2.0**-15)


def _div(v: Values, dtype: str) -> _Arguments:
    wide = dtype == "int16"
    return _of_two(v, dtype, 2.0**-30 if wide else 2.0**-18, 14 if wide else 30)


def _compare(negated: bool) -> Callable[[Values], _Made]:
    def make(v: Values) -> _Made:
        inputs, constants, _ = _binary(lambda v, dtype: {})(v)
        narrow = next(iter((inputs or constants).values())).dtype == np.int8
        if narrow:
            table = v.int32(140, 256).clip(-128, 128).astype(np.int16)
        else:
            table = np.array([2**31 - 1, v.choice([2**31 - 1, 2**30, 1])], np.int32)
        more = {"negated": bool(v.integer(0, 1))} if negated else {}
        return inputs, {**constants, "table": table}, more

    return make


def _prelu(v: Values) -> _Made:
    dtype, (shape, slope) = _dtype(v), _pair(v)
    one, most = v.choice([1, 127, 2**20]), 30 if dtype == "int8" else 14
    points = {"input_zero_point": _zero(v, dtype), "output_zero_point": _zero(v, dtype)}
    inputs, constants = {"input": _data(v, dtype, shape)}, {"slope": _data(v, dtype, slope)}
    return inputs, constants, {**points, "one": one, **_factor(v, 1.0 / one, most=most)}


def _where(v: Values) -> _Made:
    dtype, (shape, other) = v.choice(["int8", "int16", "int32", "bool"]), _pair(v)
    inputs, constants = _operands(v, _data(v, dtype, shape), _data(v, dtype, other))
    mask = _data(v, "bool", v.choice([shape, other, (1,), ()]))
    return {"mask": mask, **inputs}, constants, {}


def _integers(v: Values) -> _Made:
    a, b = (v.int32(v.choice([3, 2**31 - 1]), *shape) for shape in _pair(v))
    return *_operands(v, a, b), {}


def _reduction(
    attributes: Callable[[Values, str, int], _Arguments], *dtypes: str
) -> Callable[[Values], _Made]:
    def make(v: Values) -> _Made:
        dtype, shape = v.choice(dtypes), _shape(v, least=1)
        dims = [d for d in range(len(shape)) if v.integer(0, 1)] or [v.integer(0, len(shape) - 1)]
        if v.integer(0, 2) == 0:  # sizes of 1 leave all dimensions next to each other
            dims = [d for d, size in enumerate(shape) if size == 1] or dims
        count = math.prod(shape[d] for d in dims)
        more = attributes(v, dtype, count)
        keepdim = bool(v.integer(0, 1))
        return {"input": _data(v, dtype, shape)}, {}, {"dim": dims, "keepdim": keepdim, **more}

    return make


def _mean(v: Values, dtype: str, count: int) -> _Arguments:
    points = {"input_zero_point": _zero(v, dtype), "output_zero_point": _zero(v, dtype)}
    return {**points, **_factor(v, 0.5 / count)}


def _moment(v: Values, dtype: str, count: int) -> _Arguments:
    root, most = bool(v.integer(0, 1)), 30 if dtype == "int8" else 14
    factor = _factor(v, 2.0**-24, most=most)
    points = {"input_zero_point": _zero(v, dtype), "output_zero_point": _zero(v, dtype)}
    return {"centered": bool(v.integer(0, 1)), "root": root, **points, **factor}


def _movable(v: Values, least: int = 1) -> AnyArray:
    return _data(v, v.choice(["int8", "int16", "int32", "float32", "bool"]), _shape(v, least))


def _transpose(v: Values) -> _Made:
    x = _movable(v)
    return {"input": x}, {}, {"perm": sorted(range(x.ndim), key=lambda _: v.integer(0, 99))}


def _slice(v: Values) -> _Made:
    x = _movable(v)
    dim = v.integer(0, x.ndim - 1)
    start = v.integer(0, x.shape[dim] - 1)
    end = v.integer(start + 1, x.shape[dim])
    return {"input": x}, {}, {"dim": dim, "start": start, "end": end, "step": v.integer(1, 3)}


def _cat(v: Values) -> _Made:
    x = _movable(v)
    dim = v.integer(0, x.ndim - 1)
    parts = [x.take(range(v.integer(1, x.shape[dim])), dim) for _ in range(v.integer(1, 4))]
    return {"inputs": parts}, {}, {"dim": dim}


def _gather(v: Values) -> _Made:
    x = _movable(v)
    dims = [d for d in range(x.ndim) if v.integer(0, 1)] or [0]
    most = v.integer(1, 6)
    indices = [
        np.array([v.integer(0, x.shape[d] - 1) for _ in range(min(most, 1 + x.shape[d]))], np.int32)
        for d in dims
    ]
    return {"input": x}, {"indices": indices}, {"dims": dims}


def _pad(v: Values) -> _Made:
    dtype = _dtype(v)
    x = _data(v, dtype, _shape(v, 1, v.integer(1, 4)))
    padding = [v.choice([0, 0, 1, 2]) for _ in range(2 * x.ndim)]
    return {"input": x}, {}, {"padding": padding, "value": _zero(v, dtype)}


def _lut(v: Values) -> _Made:
    dtype = _dtype(v)
    size = 256 if dtype == "int8" else v.choice([513, 513 + 1024])
    table = _data(v, v.choice(["int8", "bool"]) if dtype == "int8" else dtype, (size,))
    return {"input": _data(v, dtype, _shape(v))}, {"table": table}, {}


def _requantize(v: Values) -> _Made:
    dtype, bits = _dtype(v), v.choice([8, 16])
    points = {
        "input_zero_point": _zero(v, dtype),
        "output_zero_point": _zero(v, "int8" if bits == 8 else "int16"),
    }
    inputs = {"input": _data(v, dtype, _shape(v))}
    return inputs, {}, {"bits": bits, **points, **_factor(v, 1.0)}


def _softmax(v: Values) -> _Made:
    dtype, shape = _dtype(v), _shape(v, 1)
    dim, scale = v.integer(0, len(shape) - 1), v.choice([0.001, 0.1, 4.0])
    wide = dtype == "int16"
    table = wide_exp_table(scale) if wide else exp_table(scale, shape[dim])[0]
    attributes = {"dim": dim, "steps": 2**15 if wide else 256}
    return {"input": _data(v, dtype, shape)}, {"exp_table": table}, attributes


def _choice(topk: bool) -> Callable[[Values], _Made]:
    def make(v: Values) -> _Made:
        x = _data(v, v.choice(["int8", "int16", "float32"]), _shape(v, 1))
        dim = v.integer(0, x.ndim - 1)
        if not topk:
            return {"input": x}, {}, {"dim": dim, "keepdim": bool(v.integer(0, 1))}
        k, largest = v.integer(1, x.shape[dim]), bool(v.integer(0, 1))
        return {"input": x}, {}, {"k": k, "dim": dim, "largest": largest}

    return make


def _cumsum(v: Values) -> _Made:
    dtype, shape = _dtype(v), _shape(v, 1)
    points = {"input_zero_point": _zero(v, dtype), "output_zero_point": _zero(v, dtype)}
    left = v.integer(0, 12) if dtype == "int8" else 0
    factor = _factor(v, 2.0**-left, most=30 if dtype == "int8" else 14)
    more = {"dim": v.integer(0, len(shape) - 1), "left_shift": left}
    return {"input": _data(v, dtype, shape)}, {}, {**more, **points, **factor}


def _channels(v: Values, depth: int, channels: int, most: int) -> _Arguments:
    """Return the constants of a requantization for each channel."""
    factors = [_factor(v, spread(depth), most=most) for _ in range(channels)]
    arrays = {n: np.array([f[n] for f in factors], np.int32) for n in ("multiplier", "shift")}
    return {"bias": v.int32(64 * depth, channels), **arrays}


def _linear(v: Values) -> _Made:
    dtype, depth, channels = _dtype(v), v.integer(1, 40), v.choice([1, 2, 3, v.integer(1, 20)])
    front = _shape(v, rank=v.integer(0, 5))
    while math.prod(front) * max(depth, channels) > 2 * _MOST:
        front = tuple(-(-size // 2) for size in front)
    most = 30 if dtype == "int8" else 14
    weight = {"weight": _data(v, "int8", (channels, depth)), **_channels(v, depth, channels, most)}
    attributes = {"input_zero_point": _zero(v, dtype), **_stage(v, dtype)}
    return {"input": _data(v, dtype, (*front, depth))}, weight, attributes


def _bmm(v: Values) -> _Made:
    dtype, (rows, depth, columns) = _dtype(v), (v.integer(1, 7) for _ in range(3))
    batch = [v.integer(1, 2) for _ in range(v.integer(0, 4))]
    a, b = ([v.choice([1, size]) for size in batch] for _ in "ab")
    transposed = bool(v.integer(0, 1))
    sides = (*a, rows, depth), (*b, *((columns, depth) if transposed else (depth, columns)))
    attributes = _of_two(v, dtype, spread(depth) / 256, 30 if dtype == "int8" else 14)
    orders: _Arguments = {"a_order": [], "b_order": []}
    inputs = dict(zip("ab", (_data(v, dtype, side) for side in sides), strict=True))
    return inputs, {}, {"transpose_b": transposed, **orders, **attributes}


def _convolution(op: str) -> Callable[[Values], _Made]:
    def make(v: Values) -> _Made:
        (kh, kw), (h, w), options = random_window(v)
        c, groups = v.choice([1, 2, 3, 4, 8, 17]), 1
        times = v.choice([1, 1, 2]) if c < 8 else 1
        shape, channels = (1, h, w, c), c * times
        weight: tuple[int, ...] = (kh, kw, channels)
        if op == "conv2d":
            groups, channels = v.choice([1, 1, c]), v.choice([1, 2, 5]) * c
            weight = (channels, kh, kw, c // groups)
            options = {**options, "groups": groups}
        dtype = _dtype(v)
        case = convolution("", f"pl::{op}", shape, weight, channels, {**options, "dtype": dtype}, v)
        most, depth = 30 if dtype == "int8" else 14, math.prod(weight) // channels
        constants = {**case.constants, **_channels(v, depth, channels, most)}
        return dict(case.inputs), constants, dict(case.attributes)

    return make


_OPS: dict[str, Callable[[Values], _Made]] = {
    "add": _binary(_add),
    "amax": _reduction(lambda v, dtype, count: {}, "int8", "int16", "bool"),
    "amin": _reduction(lambda v, dtype, count: {}, "int8", "int16", "bool"),
    "bmm": _bmm,
    "cat": _cat,
    "conv2d": _convolution("conv2d"),
    "cumsum": _cumsum,
    "depthwise_conv2d": _convolution("depthwise_conv2d"),
    "div": _binary(_div),
    "equal": _compare(True),
    "gather": _gather,
    **{f"integer_{op}": _integers for op in ("add", "divide", "equal", "less", "modulo", "mul")},
    "integer_sum": _reduction(lambda v, dtype, count: {}, "int32", "bool"),
    "less": _compare(False),
    "linear": _linear,
    "lut": _lut,
    "max_with_indices": _choice(topk=False),
    "maximum": _binary(lambda v, dtype: {}),
    "mean": _reduction(_mean, "int8", "int8", "int16"),
    "minimum": _binary(lambda v, dtype: {}),
    "mul": _binary(_mul),
    "pad": _pad,
    "prelu": _prelu,
    "requantize": _requantize,
    "second_moment": _reduction(_moment, "int8", "int16"),
    "slice": _slice,
    "softmax": _softmax,
    "topk": _choice(topk=True),
    "transpose": _transpose,
    "where": _where,
}
