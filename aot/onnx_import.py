# SPDX-License-Identifier: Apache-2.0
"""Imports a quantized .onnx file as a dialect graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from torch.fx import GraphModule

from aot.accept.export import export_aten
from aot.backends.target import Target
from aot.dialect.verifier import VerificationError, verify
from aot.errors import LoweringError
from aot.importers.onnx.expand import expanded
from aot.importers.onnx.file import read
from aot.importers.onnx.graph import OnnxModule, module_of
from aot.importers.onnx.importing import Importer
from aot.importers.onnx.placing import place_quantization
from aot.importers.onnx.quantized import QuantizedConstants
from aot.importers.onnx.steps import is_quantized
from aot.passes.aten.constants.merge_dequantizes import merge_dequantizes
from aot.passes.fold_qdq import fold_qdq
from aot.rules.function import split_functions
from aot.support.support import unsupported

_OF_QUANTIZATION = "quantized_decomposed"


def import_quantized(
    source: str | PathLike[str] | bytes,
    target: Target,
    shapes: Mapping[str, int | Sequence[int]] | None = None,
    bind: Mapping[str, Any] | None = None,
    outputs: Sequence[str] | None = None,
    states: Mapping[str, str] | None = None,
) -> tuple[OnnxModule, GraphModule, GraphModule]:
    """Return the module of a quantized file, its ATen graph, and its dialect graph.

    The dialect graph is the one before the layout passes.
    """
    importer = Importer(expanded(read(source)), shapes or {}, bind or {}, outputs)
    if not is_quantized(importer.steps):
        raise LoweringError(
            "the .onnx file is not quantized; lower it with lower(onnx_module(...), ...)"
        )
    module = module_of(importer, states or {})
    aten = export_aten(module, list(module.example), target.keeps)
    for change in target.rewrites:
        change(aten)
    split_functions(aten, lambda node: "int8", lambda node: False)
    problems = unsupported(aten, lambda node: True)
    problems = [p for p in problems if _OF_QUANTIZATION not in p.op]
    if problems:
        raise LoweringError("the .onnx file cannot be lowered:", problems)
    place_quantization(aten, QuantizedConstants(importer.quantized))
    merge_dequantizes(aten)
    folded = fold_qdq(aten)
    try:
        verify(folded, "fold_qdq")
    except VerificationError as error:
        raise LoweringError(f"the .onnx file cannot be lowered: {error}") from error
    return module, aten, folded
