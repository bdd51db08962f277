# SPDX-License-Identifier: Apache-2.0
"""The two lowerings and their figures."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import tosa_reference_model
from executorch.backends.arm.quantizer import TOSAQuantizer, get_symmetric_quantization_config
from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
from executorch.backends.arm.tosa.partitioner import TOSAPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.lowered_backend_module import LoweredBackendModule

from aot.backends.ethos_u.block import Array
from aot.backends.ethos_u.emit import emitted
from aot.backends.ethos_u.layers import NpuLayer
from aot.backends.ethos_u.vela import compile_tosa
from aot.backends.npus import NPUS, Npu
from aot.dialect.delegate import delegate_of
from aot.dialect.graph import is_channels_last
from aot.lower import lower
from aot.options import Measure
from aot.upstream.torchao import convert_pt2e, prepare_pt2e
from measure.ethos_u.cases import NpuCase
from npu.ethos_u.npu_model import EthosUModel
from npu.ethos_u.payload import parse_payload
from tools.text.printed import captured

_NO_WORK = "pl.channels_last_to_nhwc", "pl.nhwc_to_channels_last"
_NOT_OPS = ("quantize_per_tensor", "dequantize_per_tensor", "getitem", "executorch_call_delegate")


@dataclass(frozen=True)
class Figures:
    """Figures of one lowering.

    Attributes:
      cycles, operations: by Vela, of all delegates.
      sram: bytes of the largest delegate's scratch memory.
      flash: bytes of all payloads.
      sqnr_db: of the outputs against the float model's; None if the whole has none. Ours
        uses the dialect's reference, checked against TOSA's reference model. Upstream's
        uses TOSA's.
      delegates, cpu_ops: their numbers.
      wrong: share of a sample's output values for which the executed payload differs from
        TOSA's reference model. None if there is no model of the NPU, or no whole.
    """

    cycles: int
    operations: int
    sram: int
    flash: int
    sqnr_db: float | None
    delegates: int
    cpu_ops: int
    wrong: float | None


def ours(case: NpuCase, configuration: str) -> Figures:
    samples = case.samples()
    lowered = lower(
        case.module(),
        samples[0],
        target=configuration,
        calibration=samples,
        measure=Measure(evaluation=samples, min_sqnr=float("-inf"), per_op=False),
    )
    delegates: Sequence[Any] = lowered.report["delegates"]
    layers = [layer for d in delegates for layer in d["report"]["layers"]]
    _check_by_tosa(lowered, samples[0][0], NPUS[configuration])
    return Figures(
        sum(layer["cycles"] for layer in layers),
        len(layers),
        max((d["scratch_bytes"] for d in delegates), default=0),
        sum(d["payload_bytes"] for d in delegates),
        round(_decibels(case, lambda x: _dequantized(lowered, x)), 1),
        len(delegates),
        sum(op["delegate"] is None and op["op"] not in _NO_WORK for op in lowered.report["ops"]),
        0.0 if delegates and all(map(_is_executed, delegates)) else None,
    )


def _check_by_tosa(lowered: Any, x: torch.Tensor, npu: Npu) -> None:
    """Raise ValueError if TOSA's reference model differs from ours in any bit. Our SQNR relies on
    it.
    """
    (source,) = lowered.report["inputs"]
    given = _quantized(x, source["scale"], source["zero_point"])
    for node in lowered.module.graph.nodes:
        if (delegate := delegate_of(lowered.module, node)) is not None:
            found = _tosa_output(emitted(delegate.region, npu).tosa, _as_it_lies(given))
            (expected,) = lowered.module(given)
            if not np.array_equal(found, _as_it_lies(expected).ravel()):
                raise ValueError("TOSA's reference model gives other values than ours")


def _is_executed(delegate: Any) -> bool:
    """Return True if the delegate was executed.

    A build fails, or leaves ops to the core, if execution gives other values.
    """
    return bool(delegate["report"]["verified"]["executed"])


def upstreams(case: NpuCase, configuration: str) -> Figures:
    """Lower with ExecuTorch's Arm backend, with the same calibration data, Vela and flags."""
    small = "" if "u85" in configuration else "+u55"
    spec = TosaCompileSpec("TOSA-1.0+INT+int16+int4" + small)
    quantizer = TOSAQuantizer(spec)
    quantizer.set_global(get_symmetric_quantization_config())
    samples = case.samples()
    exported = torch.export.export(case.module(), samples[0]).module(check_guards=False)
    prepared = prepare_pt2e(exported, quantizer)
    for sample in samples:
        prepared(*sample)
    program = torch.export.export(convert_pt2e(prepared), samples[0])
    with contextlib.redirect_stdout(io.StringIO()):
        edge = to_edge_transform_and_lower(program, partitioner=[TOSAPartitioner(spec)])
    module = edge.exported_program().graph_module
    parts = [m for m in module.modules() if isinstance(m, LoweredBackendModule)]
    npu = NPUS[configuration]
    programs = [compile_tosa(part.processed_bytes, npu) for part in parts]
    layers: list[NpuLayer] = [layer for p in programs for layer in p.layers]
    calls = [n for n in module.graph.nodes if n.op == "call_function"]
    cpu_ops = sum(not any(name in str(n.target) for name in _NOT_OPS) for n in calls)
    whole = len(parts) == 1 and not cpu_ops
    tosa = parts[0].processed_bytes if whole else b""
    return Figures(
        sum(layer.cycles for layer in layers),
        len(layers),
        max((parse_payload(p.payload).scratch_size for p in programs), default=0),
        sum(len(p.payload) for p in programs),
        round(_decibels(case, lambda x: _by_tosa(tosa, module, x)), 1) if whole else None,
        len(parts),
        cpu_ops,
        _wrong(tosa, programs[0].payload, module, samples[0][0], npu) if whole else None,
    )


def _decibels(case: NpuCase, run: Any) -> float:
    """Return the signal to quantization noise ratio over all samples."""
    module = case.module()
    with torch.no_grad():
        pairs = [(module(*s).double().flatten(), run(s[0])) for s in case.samples()]
    exact, given = (torch.cat(values) for values in zip(*pairs, strict=True))
    return float(10 * torch.log10(exact.square().sum() / (exact - given).square().sum()))


def _quantized(x: torch.Tensor, scale: float, zero_point: int) -> torch.Tensor:
    return (torch.round(x / scale) + zero_point).clamp(-128, 127).to(torch.int8)


def _dequantized(lowered: Any, x: torch.Tensor) -> torch.Tensor:
    """Return our reference for a float input; the NPU computes the same."""
    (source,), (result,) = lowered.report["inputs"], lowered.report["outputs"]
    (y,) = lowered.module(_quantized(x, source["scale"], source["zero_point"]))
    values: torch.Tensor = y.double().flatten()
    return (values - int(result["zero_point"])) * float(result["scale"])


def _by_tosa(tosa: bytes, module: Any, x: torch.Tensor) -> torch.Tensor:
    """Return the results of upstream's TOSA for a float input, by the reference model."""
    scale, zero_point = _border(module, ".dequantize_per_tensor")
    values = torch.from_numpy(_tosa_output(tosa, _upstreams_input(module, x))).double()
    return (values - int(zero_point)) * float(scale)


def _wrong(tosa: bytes, payload: bytes, module: Any, x: torch.Tensor, npu: Npu) -> float:
    given = _upstreams_input(module, x)
    (y,) = EthosUModel(npu.name).run(payload, [given])
    return round(float(np.mean(y.ravel() != _tosa_output(tosa, given))), 4)


def _tosa_output(tosa: bytes, given: Array) -> Array:
    with captured():
        (y,), _ = tosa_reference_model.run(tosa, [given])
    return np.asarray(y).ravel()


def _upstreams_input(module: Any, x: torch.Tensor) -> Array:
    return _as_it_lies(_quantized(x, *_border(module, ".quantize_per_tensor")))


def _as_it_lies(x: torch.Tensor) -> Array:
    """Return the values in the shape of their memory layout."""
    return np.asarray((x.permute(0, 2, 3, 1) if is_channels_last(x) else x).numpy())


def _border(module: Any, name: str) -> Sequence[Any]:
    """Scale and zero point of the only such node."""
    nodes = (n for n in module.graph.nodes if n.op == "call_function")
    (node,) = (n for n in nodes if name in str(n.target))
    return list(node.args[1:3])
