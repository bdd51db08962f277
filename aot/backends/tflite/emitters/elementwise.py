# SPDX-License-Identifier: Apache-2.0
"""Export of ops of two values, element by element, and functions of one."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.fx import Node

from aot.backends.tflite.export import Export, Refused
from aot.dialect.graph import quantization_of
from aot.dialect.quantization import INT8, INT16, Quantization
from aot.importers.tflite.arithmetic import add_factors, float32, quantize_multiplier
from aot.importers.tflite.tables import TABLES, Table, leaky_relu
from kernels.softmax.op import exponential_table

_COMMON_ALPHAS = (0.01, 0.1, 0.2, 0.3)
_TRIED_ALPHAS = 65


def add(export: Export, node: Node, a: dict[str, Any]) -> None:
    """Write ADD; a subtraction is an addition with a negative multiplier."""
    x, y, out = a["a"], a["b"], export.quantization(node)
    given = (
        (a["a_multiplier"], a["a_shift"]),
        (a["b_multiplier"], a["b_shift"]),
        a["left_shift"],
        (a["output_multiplier"], a["output_shift"]),
    )
    subtracts = a["b_multiplier"] < 0
    wanted = add_factors(quantization_of(x), quantization_of(y), out, -1 if subtracts else 1)
    if wanted != given:
        raise Refused("its factors do not follow from its scales")
    name, options = ("SUB", "SubOptions") if subtracts else ("ADD", "AddOptions")
    _binary(export, node, a, name, options)


def mul(export: Export, node: Node, a: dict[str, Any]) -> None:
    of_a, of_b = quantization_of(a["a"]), quantization_of(a["b"])
    real = of_a.scale * of_b.scale / export.quantization(node).scale
    if quantize_multiplier(real) != (a["multiplier"], a["shift"]):
        raise Refused("its factor is not that of its scales")
    _binary(export, node, a, "MUL", "MulOptions")


def _binary(export: Export, node: Node, a: dict[str, Any], name: str, options: str) -> None:
    activation = export.activation(node, a)
    inputs = [export.tensor(a["a"]), export.tensor(a["b"])]
    export.file.op(name, inputs, [export.give(node)], options, FusedActivationFunction=activation)


def maximum(export: Export, node: Node, a: dict[str, Any]) -> None:
    inputs = [export.tensor(a["a"]), export.tensor(a["b"])]
    export.file.op("MAXIMUM", inputs, [export.give(node)], "MaximumMinimumOptions")


def minimum(export: Export, node: Node, a: dict[str, Any]) -> None:
    inputs = [export.tensor(a["a"]), export.tensor(a["b"])]
    export.file.op("MINIMUM", inputs, [export.give(node)], "MaximumMinimumOptions")


def lut(export: Export, node: Node, a: dict[str, Any]) -> None:
    """Write the builtin with this table.

    If the table is off by 1, it becomes the builtin's table. A clamp becomes MAXIMUM and MINIMUM.
    """
    table, x = export.constant(a["table"]), a["input"]
    of, out = quantization_of(x), node.meta["edge"].quantization
    if of.type is not INT8 or not isinstance(out, Quantization) or out.type is not INT8:
        raise Refused("TFLite has no table for int16 or masks")
    found = _builtin(table, of, out)
    clamp = of.every_value().clamp(int(table[0]), max(int(table[0]), int(table[-1])))
    if of == out and torch.equal(table, clamp) and (found is None or found.off > 0):
        between = export.like(f"{node.name}_at_least", export.shape(node), node)
        low, high = (export.one(node, int(table[i])) for i in (0, -1))
        options = "MaximumMinimumOptions"
        export.file.op("MAXIMUM", [export.tensor(x), low], [between], options)
        export.file.op("MINIMUM", [between, high], [export.give(node)], options)
        return
    if found is None:
        raise Refused(f"its table does not match any of {', '.join((*TABLES, 'LEAKY_RELU'))}")
    if found.off > 0:
        export.adopt(a["table"], found.table)
    fields: dict[str, Any] = {} if found.alpha is None else {"Alpha": found.alpha}
    options = _OPTIONS.get(found.name, "")
    export.file.op(found.name, [export.tensor(x)], [export.give(node)], options, **fields)


_OPTIONS = {
    "QUANTIZE": "QuantizeOptions",
    "HARD_SWISH": "HardSwishOptions",
    "LEAKY_RELU": "LeakyReluOptions",
}


@dataclass(frozen=True)
class _Builtin:
    """A function of TFLite's: how far its table is from another one in any, and in how many, of
    the 256 values.
    """

    name: str
    table: torch.Tensor
    alpha: float | None
    off: int
    count: int


def _builtin(table: torch.Tensor, of: Quantization, out: Quantization) -> _Builtin | None:
    """Return the nearest function, where no value is off by more than 1."""
    candidates: list[tuple[str, Table, float | None]] = [
        (name, make, None) for name, make in TABLES.items()
    ]
    for alpha in _alphas(table, of, out):
        candidates.append(("LEAKY_RELU", partial(leaky_relu, alpha=alpha), alpha))
    best: _Builtin | None = None
    for name, make, parameter in candidates:
        with contextlib.suppress(ValueError):  # it does not take these quantizations
            entries = make(of, out)
            off = (entries.to(torch.int64) - table.to(torch.int64)).abs()
            largest, count = int(off.max()), int((off > 0).sum())
            if largest <= 1 and (best is None or (largest, count) < (best.off, best.count)):
                best = _Builtin(name, entries, parameter, largest, count)
    return best


def _alphas(table: torch.Tensor, of: Quantization, out: Quantization) -> list[float]:
    """Return possible slopes of a table below 0.

    They are common slopes, and some slopes fitting all values without saturation. If all values
    saturate, they fit the first value.
    """
    x = (of.every_value().to(torch.float64) - of.zero_point) * (of.scale / out.scale)
    y = table.to(torch.float64) - out.zero_point
    inside = (table > out.type.quant_min) & (table < out.type.quant_max) & (x < 0)
    if of.zero_point == of.type.quant_min:
        return []
    first = torch.stack([y[:1] - 0.5, y[:1] + 0.5]) / x[:1]
    ends = torch.stack([y[inside] - 0.5, y[inside] + 0.5]) / x[inside]
    low, high = float(first.min()), float(first.max())
    if inside.any():
        most, least = float(ends.min(0).values.max()), float(ends.max(0).values.min())
        if most <= least:
            low, high = most, least
    between = torch.linspace(low, high, _TRIED_ALPHAS, dtype=torch.float64).tolist()
    return [float32(alpha) for alpha in (*_COMMON_ALPHAS, *between)]


def softmax(export: Export, node: Node, a: dict[str, Any]) -> None:
    x = a["input"]
    shape = tuple(node.meta["val"].shape)
    if a["dim"] != len(shape) - 1:
        raise Refused(f"it works along dimension {a['dim']} of {len(shape)}; TFLite uses the last")
    if quantization_of(x).type is INT8:
        table, _ = exponential_table(quantization_of(x).scale, shape[-1])
        if a["steps"] != 256 or not torch.equal(table, export.constant(a["exp_table"])):
            raise Refused("its result must have the scale 1/256")
    fields: dict[str, Any] = {"Beta": 1.0}
    export.file.op("SOFTMAX", [export.tensor(x)], [export.give(node)], "SoftmaxOptions", **fields)


def requantize(export: Export, node: Node, a: dict[str, Any]) -> None:
    of, out = quantization_of(a["input"]), quantization_of(node)
    if INT16 not in (of.type, out.type) or quantize_multiplier(of.scale / out.scale) != (
        a["multiplier"],
        a["shift"],
    ):
        raise Refused("its factor is not that of its scales")
    export.file.op("QUANTIZE", [export.tensor(a["input"])], [export.give(node)], "QuantizeOptions")


def quantize(export: Export, node: Node, a: dict[str, Any]) -> None:
    export.file.op("QUANTIZE", [export.tensor(a["input"])], [export.give(node)], "QuantizeOptions")


def dequantize(export: Export, node: Node, a: dict[str, Any]) -> None:
    inputs = [export.tensor(a["input"])]
    export.file.op("DEQUANTIZE", inputs, [export.give(node)], "DequantizeOptions")
