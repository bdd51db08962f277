# SPDX-License-Identifier: Apache-2.0
"""Kernel calls for pl::mean, declared in kernels/mean/mean.h."""

from collections.abc import Mapping
from dataclasses import replace

from kernels.common.kernel import INT32_MAX, Field, Isa, KernelCall, OpCall, Value, kernel
from kernels.common.quantization import SUFFIXES, activation_dtype, factor, zero_point
from kernels.common.rows import ByRows, Taps, first_axis, row_count
from kernels.common.shapes import reduction_dims, reduction_loops

_REACH = {"int8": 256, "int16": 2**15}
"""Largest difference from the zero point."""

_COLUMNS = 32
"""Outputs computed together by columns_mve.h."""

_VECTOR = 8
"""Outputs in one vector. mean_s8_mve.c computes these as well."""

_MOST_VALUES = 255
"""Most values per output with a sum in 16 bits."""

_MOST_IN_VECTORS = 48
"""Largest number of outputs with mean_vectors_s8_mve.c as the fastest form, except 32."""


@kernel("pl::mean")
def mean(call: OpCall, isa: Isa) -> KernelCall:
    dtype = activation_dtype(call, "input")
    source, output = call.tensor("input"), call.output(dtype)
    count = source.size // output.size
    call.require(
        count * _REACH[dtype] <= INT32_MAX,
        f"a sum of {count} {dtype} values and its offset overflow int32",
    )
    multiplier, shift = factor(call, "multiplier", "shift", normalised=False)
    dims = reduction_dims(call, source, call.integers("dim"), call.flag("keepdim"))
    is_fast = dtype == "int8" and isa == "mve" and not call.small and shift < 0
    columns = _columns(dims) if is_fast else ""
    whole = KernelCall(
        function=f"pl_mean_{columns}{SUFFIXES[dtype]}",
        header="kernels/mean/mean.h" if dtype == "int8" else "kernels/mean/mean_s16.h",
        params={
            "offset": -zero_point(call, "input_zero_point", dtype) * count,
            "multiplier": multiplier,
            "shift": shift,
            "output_zero_point": zero_point(call, "output_zero_point", dtype),
        },
        dims=dims,
        data={"input": source, "output": output},
    )
    kept = _within_rows(call, source, output)
    if dtype == "int16" or kept is not None:
        return replace(whole, rows=kept)
    return replace(whole, rows=_by_rows(whole, source, output))


def _within_rows(call: OpCall, source: Value, output: Value) -> ByRows | None:
    """Return the row streaming of a mean with separate reductions per row."""
    count, axis, rank = row_count(source.shape), first_axis(source.shape), len(source.shape)
    reduced = {d % rank for d in call.integers("dim")} or set(range(rank))
    if count == 1 or row_count(output.shape) != count or axis in reduced:
        return None
    shape = (*(1,) * (axis + 1), *source.shape[axis + 1 :])
    return ByRows(count, {"input": Taps(count)}, reduction_loops(shape, reduced))


def _columns(dims: Mapping[str, Field]) -> str:
    """Return the suffix in the function's name for neighbours in one loop; "" for the general
    function.

    A mean of one value merges all dimensions into this loop, including the rows. It has no such
    function, because each row would need another one.
    """
    match dims:
        case {
            "kept": (_, _, int(channels)),
            "kept_stride": (_, _, 1),
            "reduced": (1, 1, int(values)),
        } if values > 1:
            if values <= _MOST_VALUES and channels <= _MOST_IN_VECTORS and channels != _COLUMNS:
                return "vectors_"
            if channels >= _COLUMNS:
                return "columns_" if values <= _MOST_VALUES else "many_columns_"
            if channels > _VECTOR:
                return "many_vectors_"
    return ""


def _by_rows(whole: KernelCall, source: Value, output: Value) -> ByRows | None:
    """Return the row streaming of a mean over all pixels of an image: sums grow with each row."""
    count, channels = row_count(source.shape), output.size
    reduced = source.size // channels
    dims = {"kept": (1, 1, channels), "kept_stride": (0, 0, 1), "reduced": (1, 1, reduced)}
    if count == 1 or reduced % count or any(whole.dims[name] != dims[name] for name in dims):
        return None
    call = replace(
        whole,
        function="pl_mean_rows_s8",
        header="kernels/mean/mean_rows.h",
        dims={
            "channels": channels,
            "pixels": reduced // count,
            "count": count,
            "rows": count,
            "row": 0,
        },
        scratch=4 * channels,
    )
    return ByRows(count, {"input": Taps(count)}, {"rows": 1}, scratch=0, folded=call, row="row")
