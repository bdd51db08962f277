# SPDX-License-Identifier: Apache-2.0
"""Export of layers with a state of their own: SVDF, whose state is a variable tensor of the op."""

from __future__ import annotations

from typing import Any

from torch.fx import Node

from aot.backends.tflite.emitters.convolution import weight_scale
from aot.backends.tflite.export import Export, Refused
from aot.dialect.graph import calls, quantization_of, shape_of, state_of
from aot.dialect.results import results_of, taken_from
from aot.importers.tflite.arithmetic import float32


def svdf(export: Export, node: Node, a: dict[str, Any]) -> None:
    """Write SVDF. The scales of its weights follow from its two factors."""
    x, state = a["input"], a["state"]
    results = {taken_from(result)[1]: result for result in results_of(node)}
    if state not in export.kept or 0 not in results:
        raise Refused("TFLite's op keeps only its own state of the previous run")
    features, time = export.constant(a["weight"]), export.constant(a["time"])
    bias, kept = export.constant(a["bias"]), quantization_of(state)
    of, out = quantization_of(x), quantization_of(results[0])
    first = weight_scale((a["state_multiplier"], a["state_shift"]), of.scale, kept.scale)
    second = weight_scale((a["multiplier"], a["shift"]), kept.scale, out.scale)
    file, (filters, memory), batch = export.file, time.shape, shape_of(x)[0]
    inputs = [
        export.tensor(x),
        file.tensor(f"{node.name}_weight", features.shape, "int8", [first], data=features.numpy()),
        file.tensor(f"{node.name}_time", time.shape, "int16", [second], data=time.numpy()),
        file.tensor(
            f"{node.name}_bias",
            bias.shape,
            "int32",
            [float32(kept.scale * second)],
            data=bias.numpy(),
        ),
        file.tensor(
            state_of(state).name, (batch, filters * memory), "int16", [kept.scale], variable=True
        ),
    ]
    fields = {"Rank": filters // len(bias)}
    file.op("SVDF", inputs, [export.give(results[0])], "SVDFOptions", **fields)


def lstm(export: Export, node: Node, a: dict[str, Any]) -> None:
    raise Refused("TFLite's LSTM keeps 8 bits of its hidden state between steps; this one keeps 16")


def keeps_its_own(old: Node, new: Node) -> bool:
    """Return True if TFLite's op keeps a state: it starts at zero, and only the op uses it."""
    call, index = taken_from(new)
    from_zeros = not bool(state_of(old).initial.any())
    return calls(call, "svdf") and index == 1 and set(old.users) == {call} and from_zeros
