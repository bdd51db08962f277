# SPDX-License-Identifier: Apache-2.0
"""The lowering report, report.json: form, engine and reason for every op.

The file report.schema.json defines its content.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import torch
from torch.fx import GraphModule, Node

from aot.backends.target import Target
from aot.dialect.delegate import Delegate, delegate_of
from aot.dialect.graph import (
    border_nodes,
    calls,
    dialect_op,
    edge_of,
    inputs_of,
    shape_of,
    state_nodes,
    state_of,
)
from aot.dialect.io_layout import NOT_MOVED, IoLayout
from aot.dialect.results import results_of, values_of
from aot.passes.rewrite.remove_dead_channels import Shrunk
from aot.pte.writer import instructions, layout_of
from aot.quality.finding import Finding
from aot.quality.quality import Quality

FORMAT = 1


def _port(node: Node, moved: bool) -> dict[str, Any]:
    return {**_tensor(node), "layout": layout_of(node.meta["val"], moved)}


def _tensor(node: Node) -> dict[str, Any]:
    value: torch.Tensor = node.meta["val"]
    entry: dict[str, Any] = {
        "name": node.name,
        "shape": list(shape_of(node)),
        "dtype": str(value.dtype).removeprefix("torch."),
    }
    if edge_of(node).quantization is not None:
        entry["scale"] = edge_of(node).scale
        entry["zero_point"] = edge_of(node).zero_point
    return entry


def _bytes(value: torch.Tensor) -> int:
    return math.prod(value.shape) * value.element_size()


def _macs(node: Node) -> int:
    op = dialect_op(node)
    if op is None or op.macs is None:
        return 0
    values = [a.meta["val"] if isinstance(a, Node) else a for a in node.args]
    return op.macs(*values)


def _is_other(entry: dict[str, Any]) -> bool:
    """Return True if an op of the dialect is int16, or its weights are int4."""
    return bool(entry["precision"] == "int16" or entry["op"] == "pl.linear_w4")


def _entry(op_id: str, node: Node, delegate: int | None) -> dict[str, Any]:
    op = dialect_op(node)
    origin = node.meta["origin"]
    constants = [n for n in node.all_input_nodes if n.op == "get_attr"]
    entry = {
        "id": op_id,
        "name": node.name,
        "op": f"pl.{op.name}" if op is not None else str(node.target).rsplit(".", 1)[0],
        "from": list(origin.ops),
        "source": origin.source,
        "module": origin.module,
        "runs_on": node.meta["runs_on"],
        "not_on": node.meta["not_on"],
        "could_run_on": node.meta["could_run_on"],
        "delegate": delegate,
        "precision": str(values_of(node)[0].dtype).removeprefix("torch."),
        "why": _why(node),
        "inputs": [_tensor(n) for n in inputs_of(node)],
        "outputs": [_tensor(n) for n in results_of(node)],
        "macs": _macs(node),
        "constant_bytes": sum(_bytes(n.meta["val"]) for n in constants),
    }
    return entry


def _why(node: Node) -> str:
    op = dialect_op(node)
    if op is None:
        return "it has no int8 form; kept in float by request"
    if op.name in ("transpose", "reshape") and not node.meta["origin"].source:
        return "keeps the layout of the model's border"
    if op.name == "transpose":
        return "between the model's order of dimensions and NHWC"
    if op.name in ("quantize", "dequantize"):
        return "between float and int8"
    if op.name == "requantize":
        return "between layers of int8 and int16"
    if op.name == "linear_w4":
        return "int8 kernel, weights of four bits"
    return "int16 kernel" if values_of(node)[0].dtype is torch.int16 else "int8 kernel"


def _delegate(op_id: str, delegate: Delegate, rows: list[dict[str, Any]]) -> dict[str, Any]:
    inputs, outputs = border_nodes(delegate.region)
    payload = delegate.payload
    return {
        "id": op_id,
        "backend": rows[0]["runs_on"],
        "backend_id": delegate.backend_id,
        "configuration": payload.configuration,
        "payload_bytes": len(payload.data),
        "scratch_bytes": payload.scratch_bytes,
        "alignment": payload.alignment,
        "inputs": [_tensor(n) for n in inputs],
        "outputs": [_tensor(n) for n in outputs],
        "ops": [row["id"] for row in rows],
        "macs": sum(row["macs"] for row in rows),
        "report": _with_ids(payload.report, {row["name"]: row["id"] for row in rows}),
    }


def _with_ids(report: Mapping[str, Any], ids: Mapping[str, str]) -> dict[str, Any]:
    """Return a backend's report with ids of ops in place of their names."""
    if "layers" not in report:
        return dict(report)
    layers = [{**layer, "op": ids.get(layer["op"], "")} for layer in report["layers"]]
    return {**report, "layers": layers}


def _ids(module: GraphModule, prefix: str = "") -> dict[str, str]:
    """Return the ids of ops, by the node that quantizes their value in torchao's graph."""
    ids: dict[str, str] = {}
    for op_id, node in enumerate(instructions(module)):
        delegate = delegate_of(module, node)
        if delegate is not None:
            ids |= _ids(delegate.region, f"{op_id}.")
        elif not calls(node, "transpose") or node.meta["origin"].quantized not in ids:
            ids[node.meta["origin"].quantized] = f"{prefix}{op_id}"
    return ids


def _absences(target: Target) -> list[Finding]:
    """Return a warning for each engine left out."""
    return [
        Finding("absent_engine", "", "", "", f"nothing runs on {name}: {reason}")
        for name, reason in target.absences.items()
    ]


def _dead_channels(shrunk: Sequence[Shrunk], ids: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "id": ids.get(layer.name, ""),
            "name": layer.name,
            "module": layer.module,
            "before": asdict(layer.before),
            "after": asdict(layer.after),
        }
        for layer in shrunk
    ]


def make_report(
    module: GraphModule,
    target: Target,
    samples: int,
    pte: bytes,
    quality: Quality,
    computed: Sequence[int],
    paths: Sequence[str],
    moved: IoLayout = NOT_MOVED,
    shrunk: Sequence[Shrunk] = (),
) -> dict[str, Any]:
    """Return a JSON-serialisable report of a lowered model.

    Args:
      module: a dialect graph, partitioned.
      target: the target of the lowering.
      samples: the number of calibration samples.
      pte: the artefact.
      quality: the quality of the model.
      computed: flat positions of the outputs among the model's results.
      paths: their places in the model's return value (aot.accept.program.result_paths).
      moved: inputs and outputs whose order of dimensions differs from the model's.
      shrunk: layers that lost dead channels.
    """
    inputs, outputs = border_nodes(module)
    ops: list[dict[str, Any]] = []
    delegates: list[dict[str, Any]] = []
    for op_id, node in enumerate(instructions(module)):
        delegate = delegate_of(module, node)
        if delegate is None:
            ops.append(_entry(str(op_id), node, None))
            continue
        inside = enumerate(instructions(delegate.region))
        rows = [_entry(f"{op_id}.{i}", n, len(delegates)) for i, n in inside]
        ops += rows
        delegates.append(_delegate(str(op_id), delegate, rows))
    float_ops = sum(not op["op"].startswith("pl.") for op in ops)
    return {
        "format": FORMAT,
        "target": target.name,
        "quantization": "mixed" if float_ops or any(map(_is_other, ops)) else "int8",
        "calibration_samples": samples,
        "pte_bytes": len(pte),
        "macs": sum(op["macs"] for op in ops),
        "constant_bytes": sum(op["constant_bytes"] for op in ops),
        "quality": quality.json(_ids(module)),
        "warnings": [asdict(finding) for finding in (*quality.findings, *_absences(target))],
        "float_ops": float_ops,
        "inputs": [_port(n, i in moved.inputs) for i, n in enumerate(inputs)],
        "outputs": [_port(n, i in moved.outputs) for i, n in enumerate(outputs)],
        "results": list(computed),
        "paths": list(paths),
        "states": [
            {"id": str(op_id), **_tensor(old), "name": state_of(old).name}
            for op_id, (old, _) in enumerate(state_nodes(module), len(instructions(module)))
        ],
        "ops": ops,
        "delegates": delegates,
        "dead_channels": _dead_channels(shrunk, {op["name"]: op["id"] for op in ops}),
    }
