# SPDX-License-Identifier: Apache-2.0
"""Which ops of an imported model do not have the bits that TFLite Micro gives them."""

from __future__ import annotations

import torch
from torch.fx import GraphModule

from aot.dialect.graph import calls, edge_of
from aot.quality.findings import Finding

DIFFERENCES = {
    "softmax of int8": "pl::softmax rounds once, TFLite often: few values differ, by 1 step",
    "softmax of int16": "pl::softmax takes exponentials of 30 bits, TFLite ones of 15",
    "quantize of float32": "a value halfway between two steps goes to the even one, in TFLite away "
    "from zero; and it is multiplied by the scale's reciprocal, not divided by the scale",
    "lstm": "its hidden state keeps 16 bits between two steps, in TFLite 8: one value in twenty "
    "differs, by 1 step",
    "lines of int16": "pl::lut has straight lines between 513 places, TFLite between others and "
    "rounds more often: a third of the values differ, by few steps of 2^-15",
    "sub of int16": "the second operand is rounded with its sign: few values differ, by 1 step",
    "state of SVDF": "it saturates where it leaves int8; in some versions of TFLite Micro it wraps "
    "around, as its zero point is not 0",
}
"""What is computed otherwise than TFLite Micro does, and how."""


def differing(module: GraphModule) -> list[Finding]:
    """One finding for each op of an imported graph that is one of `DIFFERENCES`."""
    found = []
    for node in module.graph.nodes:
        kind = ""
        if calls(node, "softmax"):
            kind = f"softmax of {'int16' if node.meta['val'].dtype is torch.int16 else 'int8'}"
        elif calls(node, "lstm"):
            kind = "lstm"
        elif calls(node, "lut"):
            kind = "lines of int16" if node.meta["val"].dtype is torch.int16 else ""
        elif calls(node, "quantize"):
            kind = "quantize of float32"
        elif node.op == "call_function" and node.meta["origin"].ops == ("tflite.SUB",):
            kind = "sub of int16" if node.meta["val"].dtype is torch.int16 else ""
        elif calls(node, "linear") and node.meta["origin"].ops == ("tflite.SVDF",):
            kind = "state of SVDF" if edge_of(node).zero_point != 0 else ""
        if kind:
            text = f"not TFLite's bits, {kind}: {DIFFERENCES[kind]}"
            found.append(Finding("not_tflite", "", node.meta["origin"].module, "", text))
    return found
