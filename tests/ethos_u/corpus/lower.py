# SPDX-License-Identifier: Apache-2.0
"""Lowers corpus graphs with ExecuTorch's Arm backend: module -> TOSA, or a whole .pte."""

from __future__ import annotations

import contextlib
import io
import zlib

import torch
from executorch.backends.arm.common.arm_compile_spec import ArmCompileSpec
from executorch.backends.arm.ethosu import EthosUCompileSpec, EthosUPartitioner
from executorch.backends.arm.quantizer import (
    TOSAQuantizer,
    get_symmetric_a16w8_quantization_config,
    get_symmetric_quantization_config,
)
from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
from executorch.backends.arm.tosa.partitioner import TOSAPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.lowered_backend_module import LoweredBackendModule
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from tests.ethos_u.corpus.graphs import Graph

_CALIBRATION_RUNS = 8


def _inputs(graph: Graph, seed: int) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(seed)
    inputs = [torch.randn(shape, generator=generator) * graph.spread for shape in graph.shapes]
    return tuple(x.abs() + 0.05 if graph.positive else x for x in inputs)


def _quantize(graph: Graph, spec: ArmCompileSpec) -> torch.export.ExportedProgram:
    torch.manual_seed(zlib.crc32(graph.name.encode()))
    module = graph.module().eval()
    example = _inputs(graph, 0)
    quantizer = TOSAQuantizer(spec)
    quantizer.set_global(
        get_symmetric_a16w8_quantization_config()
        if graph.int16
        else get_symmetric_quantization_config()
    )
    exported = torch.export.export(module, example).module(check_guards=False)
    prepared = prepare_pt2e(exported, quantizer)
    for seed in range(_CALIBRATION_RUNS):
        prepared(*_inputs(graph, seed))
    return torch.export.export(convert_pt2e(prepared), example)


def lower_to_tosa(graph: Graph) -> list[bytes]:
    """Return TOSA flatbuffers of `graph`, one for each part taken by the Arm backend (usually one).

    U55 and U65 get the same flatbuffer. Raises RuntimeError if nothing was taken.
    """
    spec = TosaCompileSpec("TOSA-1.0+INT+int16+int4" + ("" if graph.resize else "+u55"))
    program = _quantize(graph, spec)
    edge = to_edge_transform_and_lower(program, partitioner=[TOSAPartitioner(spec)])
    parts = [
        module.processed_bytes
        for module in edge.exported_program().graph_module.modules()
        if isinstance(module, LoweredBackendModule)
    ]
    if not parts:
        raise RuntimeError(f"{graph.name}: the Arm backend took no part of the graph")
    return parts


def lower_to_pte(graph: Graph, accelerator: str) -> bytes:
    """Return a .pte with payloads for `accelerator` as delegates, made as by ExecuTorch's users."""
    spec = EthosUCompileSpec(accelerator)
    program = _quantize(graph, spec)
    with contextlib.redirect_stdout(io.StringIO()):
        edge = to_edge_transform_and_lower(program, partitioner=[EthosUPartitioner(spec)])
    return bytes(edge.to_executorch().buffer)
