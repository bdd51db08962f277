# SPDX-License-Identifier: Apache-2.0
"""`lower_onnx`: from a quantized .onnx file to a .pte, a report and a bit-exact reference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import torch
from absl import logging

from aot.accept.internal_error import internal_errors_named
from aot.artefact.artefact import Artefact, export
from aot.artefact.border import with_border
from aot.artefact.report import make_report
from aot.backends.npus import CUT, REQUIRED
from aot.backends.target import Target
from aot.dialect.verifier import verify
from aot.onnx_import import import_quantized
from aot.options import Io
from aot.partition.partition import partition
from aot.passes.rewrite.io_layouts import KEEP
from aot.pte.writer import write_pte
from aot.quality.evaluation import HeldOut
from aot.quality.quality import Limits, Quality
from aot.targets import target_named
from aot.upstream.lazy_codegen import lazy_codegen
from aot.upstream.quiet import notices_hidden


@notices_hidden()
@internal_errors_named
@lazy_codegen()
def lower_onnx(
    source: str | PathLike[str] | bytes,
    *,
    target: str | Target = "cortex-m",
    verify_npu: str = CUT,
    neutron: str = REQUIRED,
    shapes: Mapping[str, int | Sequence[int]] | None = None,
    bind: Mapping[str, Any] | None = None,
    outputs: Sequence[str] | None = None,
    states: Mapping[str, str] | None = None,
    io_layout: str = KEEP,
) -> Artefact:
    """Lower a quantized .onnx model with the scales in the file; it needs no calibration.

    Args:
      source: path of the .onnx file, or its bytes (docs/onnx.md). Parts without quantization run
        in float32 on the device.
      target: see `lower`.
      verify_npu: see `lower`.
      neutron: see `lower`.
      shapes: see `onnx_module`.
      bind: see `onnx_module`.
      outputs: see `onnx_module`.
      states: see `onnx_module`.
      io_layout: see `Io`.

    Raises:
      LoweringError: it is no such file, is not quantized, or has an unsupported node.
      InternalError: a fault of Pilotlight, with a file to send.
    """
    target = target_named(target, verify_npu, neutron)
    target.check()
    layout = Io(io_layout=io_layout).io_layout
    module, aten, folded = import_quantized(source, target, shapes, bind, outputs, states)
    with torch.no_grad():
        given = module(*module.example)
    results = [given] if isinstance(given, torch.Tensor) else list(given)
    computed, paths = aten.meta["computed"], aten.meta["paths"]
    results = [results[place] for place in computed]
    lowered, moved, shrunk = with_border(folded, module.example, results, target, layout)
    partition(lowered, target)
    verify(lowered, "partition")
    exported = export(lowered, target)
    pte = write_pte(lowered, moved)
    logging.info("lowered: %d bytes", len(pte))
    quality = Quality(HeldOut([]), [], [], [], Limits(-math.inf))
    report = make_report(lowered, target, 0, pte, quality, computed, paths, moved, shrunk)
    return Artefact(lowered, moved, pte, report, exported)
