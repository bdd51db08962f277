# SPDX-License-Identifier: Apache-2.0
"""Gives the first input the quantization of another model's first output.

The output can then be passed to the model unchanged.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import border_nodes
from aot.dialect.io_layout import CHANNELS_FIRST
from aot.dialect.quantization import ACTIVATION_TYPES, Quantization
from aot.errors import LoweringError, describe
from aot.quantizer.supported import is_float_tensor

_KINDS = {str(kind): kind for kind in ACTIVATION_TYPES.values()}


def output_quantization(report: Mapping[str, Any], taken: torch.Tensor) -> Quantization:
    """Return the quantization of the first output of a report's model.

    Args:
      report: of that model.
      taken: the first input of the model that takes the output.

    Raises:
      LoweringError: it is no report, the output has no scale, or its shape is not the
        input's.
    """
    try:
        output = report["outputs"][0]
        dtype, shape = output["dtype"], output["shape"]
        kind = _KINDS.get(dtype)
        quantization = None
        if kind is not None and "scale" in output:
            scale, zero_point = float(output["scale"]), operator.index(output["zero_point"])
            if not 0.0 < scale < math.inf:
                raise ValueError(scale)
            quantization = Quantization(scale, zero_point, kind)
        shapes = [shape]
        if output["layout"] in ("nhwc", "nlc"):
            shapes.append([shape[i] for i in CHANNELS_FIRST[len(shape)]])
    except (KeyError, IndexError, TypeError, ValueError):
        raise LoweringError(
            "input_from must be the report of the previous model: lowered.report, or its file "
            f"read with json.loads(); got {describe(report)}"
        ) from None
    if quantization is None:
        raise LoweringError(
            f"input_from: the first output of the previous model is {dtype} and has no scale to "
            "reuse. Remove input_from (if the previous model has float_io, this one needs it as "
            "well)"
        )
    if list(taken.shape) not in shapes:
        raise LoweringError(
            f"input_from: the first output of the previous model is {shapes[-1]}, but the first "
            f"input of this one is {list(taken.shape)}. Name the model whose first output feeds "
            "this input"
        )
    return quantization


def given_inputs(
    module: GraphModule, quantization: Quantization | None
) -> dict[Node, Quantization]:
    """Return the quantization of a graph's inputs, as far as it is given for the first one."""
    first, *_ = border_nodes(module)[0]
    return {first: quantization} if quantization and is_float_tensor(first) else {}


def check_first_input(report: Mapping[str, Any], quantization: Quantization) -> None:
    """Raise LoweringError if the first input got another quantization."""
    port = report["inputs"][0]
    kind = quantization.type
    wanted = {
        "dtype": str(kind),
        "scale": quantization.scale,
        "zero_point": quantization.zero_point,
    }
    if any(port.get(name) != value for name, value in wanted.items()):
        has = ", ".join(f"{port[name]}" for name in wanted if name in port)
        wants = ", ".join(f"{value}" for value in wanted.values())
        raise LoweringError(
            f"input {port['name']!r} is {has}, and the output of input_from {wants}: an input of "
            "float32 is quantized like that where an op of int8 or int16 reads it, float_io is "
            "off, and no quantizer of your own has it"
        )
