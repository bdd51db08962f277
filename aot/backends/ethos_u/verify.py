# SPDX-License-Identifier: Apache-2.0
"""Execution of a payload before its use: Vela 5.1.0 sometimes compiles a graph wrongly.

The functional model (firmware/ethos_u) executes the payload. TOSA's reference model and the dialect
compute the same inputs. All three must agree bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
import tosa_reference_model
from torch.fx import GraphModule

from aot.backends.ethos_u.block import Array
from aot.backends.npus import Npu
from aot.dialect.graph import border_nodes, dialect_op, value_of
from npu.ethos_u.fillers import all_inputs
from npu.ethos_u.npu_model import EthosUError, EthosUModel, Summary
from npu.ethos_u.payload import FAST_SCRATCH, parse_payload
from tools.text.printed import captured

_TOSA_MACS = 30_000_000
"""MACs of about one second of the TOSA reference model. Larger graphs run the first inputs only."""

_NUMPY = {torch.int8: np.int8, torch.int16: np.int16, torch.bool: np.int8}
"""Types of the NPU's inputs; bools are 0 and 1."""


class NpuVerificationError(RuntimeError):
    """A payload with other results than its region."""


class MissingWaitError(NpuVerificationError):
    """A payload without a necessary wait: its results depend on the end of a transfer."""


class EmitterError(RuntimeError):
    """An emitted graph with other results than the region: a bug of ours."""


def verify(region: GraphModule, tosa: bytes, payload: bytes, npu: Npu) -> Mapping[str, object]:
    """Run a payload on every kind of inputs. Return its entries for the report.

    Raises:
      EmitterError: TOSA's reference model and the dialect differ.
      NpuVerificationError: the functional model differs from them, or refuses the payload.
        It is a MissingWaitError if a wait is missing.
    """
    _check_ports(region, payload)
    runs = list(_runs(region))
    seen_by_tosa = len(runs) if _macs(region) <= _TOSA_MACS else 1
    for kind, inputs, expected in runs[:seen_by_tosa]:
        if not _equal(_tosa_outputs(tosa, inputs), expected):
            raise EmitterError(
                f"TOSA's reference model and the dialect differ, inputs {kind}: an emitter is wrong"
            )
    told: dict[str, object] = {"inputs": [kind for kind, *_ in runs], "tosa_runs": seen_by_tosa}
    summary = _executed(payload, runs, npu)
    cycles = {} if npu.is_u85 else {"cycles": summary.counts.cycles}  # the model estimates no U85
    return {
        "verified": {**told, "executed": True},
        **cycles,
        "macs": summary.counts.macs,
        "operations": summary.operations,
        "fast_scratch_bytes": summary.region_bytes[FAST_SCRATCH],
    }


def _check_ports(region: GraphModule, payload: bytes) -> None:
    parsed = parse_payload(payload)
    inputs, outputs = border_nodes(region)
    sides = ("inputs", inputs, parsed.inputs), ("outputs", outputs, parsed.outputs)
    for kind, given, kept in sides:
        if len(given) != len(kept):
            left = len(given) - len(kept)
            raise NpuVerificationError(f"Vela leaves out {left} of its {len(given)} {kind}")


def _runs(region: GraphModule) -> Iterator[tuple[str, list[Array], list[Array]]]:
    """Yield kinds of inputs, inputs, and the dialect's results."""
    values = [node.meta["val"] for node in border_nodes(region)[0]]
    given = [(tuple(v.shape), _NUMPY[v.dtype]) for v in values]
    for kind, inputs in all_inputs(given):
        for x, value in zip(inputs, values, strict=True):
            if value.dtype is torch.bool:
                x &= 1
        tensors = [torch.from_numpy(x).to(v.dtype) for x, v in zip(inputs, values, strict=True)]
        outputs = region(*tensors)
        yield kind, inputs, [y.numpy() for y in outputs]


def _macs(region: GraphModule) -> int:
    ops = [(dialect_op(node), node) for node in region.graph.nodes]
    return sum(op.macs(*map(value_of, node.args)) for op, node in ops if op and op.macs)


def _tosa_outputs(tosa: bytes, inputs: list[Array]) -> list[Array]:
    with captured():
        outputs, status = tosa_reference_model.run(tosa, inputs)
    if status != tosa_reference_model.GraphStatus.TOSA_VALID:
        raise EmitterError(f"TOSA's reference model refuses the graph: {status}")
    return [np.asarray(y) for y in outputs]


def _equal(outputs: Sequence[Array], expected: Sequence[Array]) -> bool:
    """Return True if values are equal. Shapes may differ in dimensions of 1."""
    return all(np.array_equal(y.ravel(), e.ravel()) for y, e in zip(outputs, expected, strict=True))


def execute(region: GraphModule, payload: bytes, npu: Npu) -> None:
    """Run a payload on every kind of inputs against the dialect alone.

    Raises:
      NpuVerificationError: they differ, or the model refuses the payload.
    """
    _check_ports(region, payload)
    _executed(payload, list(_runs(region)), npu)


def _executed(
    payload: bytes, runs: Sequence[tuple[str, list[Array], list[Array]]], npu: Npu
) -> Summary:
    """Return the counts of a payload's execution. Raise NpuVerificationError on wrong results."""
    model = EthosUModel(npu.name, check_hazards=True)
    for kind, inputs, expected in runs:
        try:
            outputs = model.run(payload, inputs)
        except EthosUError as error:
            told = f"the functional model refuses Vela's program: {error}"
            lacks_wait = error.status == "ETHOS_U_ERROR_HAZARD"
            raise (MissingWaitError if lacks_wait else NpuVerificationError)(told) from error
        if not _equal(outputs, expected):
            raise NpuVerificationError(
                f"Vela's program and the region give different results for inputs {kind}"
            )
    assert model.summary is not None
    return model.summary
