# SPDX-License-Identifier: Apache-2.0
"""`lower_tflite`: from a quantized .tflite file to a .pte, a report and a bit-exact reference."""

from __future__ import annotations

import math

import torch
from absl import logging
from torch.fx import Node

from aot.accept.internal_error import internal_errors_named
from aot.artefact.artefact import Artefact, export, rewrite
from aot.artefact.report import make_report
from aot.backends.npus import CUT, REQUIRED
from aot.backends.target import Target
from aot.dialect.graph import border_nodes
from aot.dialect.io_layout import NOT_MOVED
from aot.dialect.verifier import verify
from aot.importers.tflite.differing import differing, unsigned_borders
from aot.importers.tflite.importing import import_tflite
from aot.partition.partition import partition
from aot.passes.rewrite.io_layouts import images_moved
from aot.pte.writer import write_pte
from aot.quality.evaluation import HeldOut
from aot.quality.quality import Limits, Quality
from aot.targets import target_named
from aot.upstream.quiet import notices_hidden


@notices_hidden()
@internal_errors_named
def lower_tflite(
    data: bytes,
    *,
    target: str | Target = "cortex-m",
    verify_npu: str = CUT,
    neutron: str = REQUIRED,
) -> Artefact:
    """Lower a quantized .tflite model with the scales in the file; it needs no calibration.

    Args:
      data: of the .tflite file, with int8 or int16 values and int8 weights
        (docs/tflite.md). Its inputs and outputs may be uint8; here they are int8.
      target: see `lower`.
      verify_npu: see `lower`.
      neutron: see `lower`.

    Returns:
      Its inputs and outputs have the file's order, shapes and types; images are [N, H, W,
        C].

    Raises:
      LoweringError: it is no such file, or has an unsupported op. The text lists it, and
        the supported ones.
      InternalError: a fault of Pilotlight, with a file to send.
    """
    target = target_named(target, verify_npu, neutron)
    target.check()
    module = import_tflite(data)
    findings = [*unsigned_borders(module), *differing(module)]
    shrunk = rewrite(module, target)
    partition(module, target)
    verify(module, "partition")
    images = images_moved(module)
    exported = export(module, target)
    pte = write_pte(module, images)
    logging.info("lowered: %d bytes", len(pte))
    quality = Quality(HeldOut([]), [], [], findings, Limits(-math.inf))
    results = range(len(border_nodes(module)[1]))
    paths = [f"[{i}]" for i in results]
    report = make_report(module, target, 0, pte, quality, results, paths, images, shrunk)
    return Artefact(module, NOT_MOVED, pte, report, exported)


def random_inputs(lowered: Artefact, count: int) -> list[tuple[torch.Tensor, ...]]:
    """Return random integer inputs, with a fixed seed."""
    generator = torch.Generator().manual_seed(0)
    return [
        tuple(_random(node, generator) for node in border_nodes(lowered.module)[0])
        for _ in range(count)
    ]


def _random(node: Node, generator: torch.Generator) -> torch.Tensor:
    value = node.meta["val"]
    if value.dtype.is_floating_point:
        return torch.randn(value.shape, generator=generator)
    if value.dtype not in (torch.int8, torch.int16):  # indices, valid nowhere but here
        return torch.zeros(value.shape, dtype=value.dtype)
    info = torch.iinfo(value.dtype)
    return torch.randint(
        info.min, info.max + 1, value.shape, dtype=value.dtype, generator=generator
    )
