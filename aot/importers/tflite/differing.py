# SPDX-License-Identifier: Apache-2.0
"""List of imported ops without TFLite Micro's exact bits."""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import calls, edge_of
from aot.quality.finding import Finding

DIFFERENCES = {
    "softmax of int8": "pl::softmax rounds once, TFLite often: few values differ, by 1 step",
    "softmax of int16": "pl::softmax takes exponentials of 30 bits, TFLite ones of 15",
    "softmax of int8 to int16": "the result has zero point 0 and scale 2^-15, in TFLite -32768 and "
    "2^-16: q here is (q + 32768) / 2 of TFLite's, within 1 step",
    "log_softmax": "pl::log_softmax rounds once, TFLite often: few values differ, by 1 step",
    "pads of SPACE_TO_BATCH_ND": "they are the zero point, as in TFLite; TFLite Micro does not set "
    "the value that it takes",
    "quantize of float32": "a value halfway between two steps goes to the even one, in TFLite away "
    "from zero; and it is multiplied by the scale's reciprocal, not divided by the scale",
    "lstm": "its hidden state keeps 16 bits between two steps, in TFLite 8: one value in twenty "
    "differs, by 1 step",
    "lines of int16": "pl::lut has straight lines between 513 places, TFLite between others and "
    "rounds more often: a third of the values differ, by few steps of 2^-15",
    "bias of int32": "of int16 layers: sums have 64 bits here, in TFLite 32, which may overflow, "
    "and multipliers 16 in place of 31: one value in four differs, by 1 step",
    "bias of int32 as int64": "of int16 layers: TFLite Micro reads twice the bytes; values are "
    "those with the same biases of int64",
    "sub of int16": "the second operand is rounded with its sign: few values differ, by 1 step",
    "state of SVDF": "it saturates where it leaves int8; in some versions of TFLite Micro it wraps "
    "around, as its zero point is not 0",
}
"""Computations differing from TFLite Micro's, with the difference."""


def differing(module: GraphModule) -> list[Finding]:
    """Return one warning for each op of an imported graph in `DIFFERENCES`."""
    found = []
    for node in module.graph.nodes:
        if kind := _difference(node):
            text = f"not TFLite's bits, {kind}: {DIFFERENCES[kind]}"
            found.append(Finding("not_tflite", "", node.meta["origin"].module, "", text))
    return found


def unsigned_borders(module: GraphModule) -> list[Finding]:
    """Return one warning for each input or output of a graph that is uint8 in its file."""
    return [
        Finding("uint8_border", "", "", "", f"{name} is uint8 in the file, int8 here: byte - 128")
        for name in module.meta["unsigned"]
    ]


def _difference(node: Node) -> str:
    """Return the difference of an op, "" if there is none."""
    if node.op != "call_function":
        return ""
    if "not_tflite" in node.meta:
        return str(node.meta["not_tflite"])
    value, ops = node.meta["val"], node.meta["origin"].ops
    wide = isinstance(value, torch.Tensor) and value.dtype is torch.int16
    if calls(node, "softmax"):
        return f"softmax of {'int16' if wide else 'int8'}"
    for name in ("log_softmax", "lstm"):
        if calls(node, name):
            return name
    if calls(node, "quantize"):
        return "quantize of float32"
    if calls(node, "lut") and wide:
        return "lines of int16"
    if ops == ("tflite.SUB",) and wide:
        return "sub of int16"
    if calls(node, "linear") and ops == ("tflite.SVDF",) and edge_of(node).zero_point != 0:
        return "state of SVDF"
    return ""
