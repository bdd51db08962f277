# SPDX-License-Identifier: Apache-2.0
"""`onnx_module`: a float .onnx file as an nn.Module for `lower`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from aot.errors import LoweringError
from aot.importers.onnx.file import read
from aot.importers.onnx.graph import OnnxModule, module_of
from aot.importers.onnx.importing import Importer
from aot.importers.onnx.steps import is_quantized


def onnx_module(
    source: str | PathLike[str] | bytes,
    *,
    shapes: Mapping[str, int | Sequence[int]] | None = None,
    bind: Mapping[str, Any] | None = None,
    outputs: Sequence[str] | None = None,
    states: Mapping[str, str] | None = None,
) -> OnnxModule:
    """Return the module of a float .onnx file (docs/onnx.md), in eval mode.

    Its `example` has inputs of zeros in the right shapes and types.

    Args:
      source: path of the file, or its bytes.
      shapes: sizes of dynamic dimensions by name, {"height": 320}, or shapes by input. The first
        dimension of an input is 1 by default.
      bind: constant values of inputs, {"sr": 16000}.
      outputs: names of the wanted values; by default all outputs of the file.
      states: inputs with the outputs for their next values, {"h": "hn"}. They become state of the
        model, with zeros at the start (docs/state.md).

    Raises:
      LoweringError: it is no .onnx file, or damaged; a node cannot be imported; or a setting does
        not fit the file.
    """
    importer = Importer(read(source), shapes or {}, bind or {}, outputs)
    if is_quantized(importer.steps):
        raise LoweringError("the .onnx file is quantized; lower it with lower_onnx")
    return module_of(importer, states or {})
