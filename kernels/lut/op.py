# SPDX-License-Identifier: Apache-2.0
"""pl::lut: any pointwise function, as a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import torch

from aot.dialect.library import Inferred, define
from aot.dialect.quantization import ACTIVATIONS, INT8, Quantization
from aot.dialect.signature import Activation
from aot.dialect.transposes import elementwise

STEP_BITS = 7
"""A table of a function of int16 has an entry for each 2^7 integers."""

NEAR_ZERO = 512
"""Entries near zero: a table may also have an entry for each of -512 to 511, if lines are
inaccurate there.
"""

MISSED = "missed"
"""Key of a node's meta: steps by which its lines miss the function, for every value of int16."""

_ENTRIES = (1 << (16 - STEP_BITS)) + 1
_MISSED_STEPS = 32
"""Largest error of the lines: a logarithm, a root or a reciprocal exceeds it."""

_OF_WHOLE_NUMBERS = (2.0**-STEP_BITS, 2.0 ** -(STEP_BITS + 1))
"""Scales of int16 for uint8 and int8 inputs: each integer has its own entry."""


def _infer(input: torch.Tensor, table: torch.Tensor) -> Inferred:
    if input.dtype is torch.int16 and table.dtype is not torch.int16:
        raise ValueError(
            f"a table of int16 values is {table.dtype}; lines are between int16 entries"
        )
    return tuple(input.shape), table.dtype


@define(infer=_infer, transposes=elementwise("input"))
def lut(
    input: Activation, table: Annotated[torch.Tensor, (*ACTIVATIONS, torch.bool)]
) -> torch.Tensor:
    """Return the table's values; shape and layout are the input's.

    - int8: table[input + 128], with a table int8 or bool [256].
    - int16: table[(input + 2^15) / 2^7], with a table int16 [513]. It interpolates
      linearly between entries, rounded to nearest, ties up. These are TFLite's tables.
    - int16 with a table [513 + 1024]: for -512 <= input < 512 it is table[513 + input +
      512] instead.
    """
    if input.dtype is torch.int8:
        return table[input.to(torch.int64) + 128]
    place, entries = input.to(torch.int64) + 2**15, table.to(torch.int64)
    index, fraction = place >> STEP_BITS, place & ((1 << STEP_BITS) - 1)
    rise = (entries[index + 1] - entries[index]) * fraction
    result = entries[index] + ((rise + (1 << (STEP_BITS - 1))) >> STEP_BITS)
    if len(table) > _ENTRIES:
        near = input.to(torch.int64) + NEAR_ZERO
        has_entry = (near >= 0) & (near < 2 * NEAR_ZERO)
        result = torch.where(
            has_entry, entries[_ENTRIES + near.clamp(0, 2 * NEAR_ZERO - 1)], result
        )
    return result.to(torch.int16)


def table_of(
    function: Callable[[torch.Tensor], torch.Tensor], source: Quantization, result: Quantization
) -> torch.Tensor:
    """Return the table of pl::lut for a function, in float32 like torch's result.

    int8: quantize(function(dequantize(q))) for every q.

    int16: the same for every 128th q, with a correction. The error of a line halfway between two
    entries is added by half to the entries, from both sides. Integer inputs with an entry each need
    no correction. If lines near zero are off by more than 32 steps, exact entries for these numbers
    follow the others.

    If the function is undefined (NaN), the entry is the output's zero_point. Infinities saturate.
    An entry just outside the domain continues the nearest line, if the function is defined between
    it and the next entry.
    """
    if source.type is INT8:
        return result.quantize(function(source.dequantize(source.every_value())))
    places = torch.arange(-(2**15), 2**15 + 1, 1 << (STEP_BITS - 1), dtype=torch.int32)
    values = function(source.dequantize(places))
    entries, middles = values[0::2], values[1::2]
    if source.scale in _OF_WHOLE_NUMBERS:
        return result.quantize(entries)
    missed = (middles - (entries[:-1] + entries[1:]) / 2).nan_to_num(0.0, 0.0, 0.0)
    beside = torch.nn.functional.pad(missed, (1, 1))
    ended = _ended(function, source, entries)
    lines = result.quantize(ended + (beside[:-1] + beside[1:]) / 4)
    near = torch.arange(-NEAR_ZERO, NEAR_ZERO, dtype=torch.int16)
    exact = result.quantize(function(source.dequantize(near)))
    missed_by = (exact.int() - lut.reference(near, lines).int()).abs()
    return torch.cat([lines, exact]) if int(missed_by.max()) > _MISSED_STEPS else lines


def missed(
    function: Callable[[torch.Tensor], torch.Tensor],
    source: Quantization,
    result: Quantization,
    table: torch.Tensor,
) -> torch.Tensor:
    """Return the error of a table in steps, for every value of the source; 0 where the function is
    undefined.
    """
    values = source.every_value()
    floats = function(source.dequantize(values))
    exact, found = result.quantize(floats).int(), lut.reference(values, table).int()
    return torch.where(floats.isnan(), 0, (found - exact).abs())


def _ended(
    function: Callable[[torch.Tensor], torch.Tensor], source: Quantization, entries: torch.Tensor
) -> torch.Tensor:
    """Return int16 entries. Entries next to an end of the domain extrapolate the line before it."""
    undefined = entries.isnan()
    ends = (undefined[1:] != undefined[:-1]).nonzero().flatten().tolist()
    ended = entries.clone()
    if not ends:
        return ended
    every = function(source.dequantize(source.every_value())).reshape(-1, 1 << STEP_BITS)
    places = torch.arange(1 << STEP_BITS) / (1 << STEP_BITS)
    for cell in ends:
        ahead = bool(undefined[cell + 1])
        known, other = (cell, cell + 1) if ahead else (cell + 1, cell)
        away, rise = places if ahead else 1.0 - places, every[cell] - entries[known]
        weights = torch.where(rise.isfinite(), away, 0.0)
        if float(weights.sum()) > 0.0 and bool(entries[known].isfinite()):
            slope = (weights * rise.nan_to_num(0.0, 0.0, 0.0)).sum() / weights.square().sum()
            ended[other] = entries[known] + slope
    return ended
