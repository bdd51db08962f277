# SPDX-License-Identifier: Apache-2.0
"""Arm Ethos-U as a backend, and a target for each of its configurations."""

from __future__ import annotations

from collections.abc import Sequence

from torch.fx import GraphModule, Node

from aot.backends.backend import Backend
from aot.backends.cortex_m import CORTEX_M
from aot.backends.ethos_u.emit import adopt, only_moves, reject, tosa_of
from aot.backends.ethos_u.npus import NPUS, Npu
from aot.backends.ethos_u.vela import compile_tosa
from aot.backends.ethos_u.verify import verify
from aot.dialect.delegate import Payload
from aot.targets.target import Target
from firmware.ethos_u.payload import parse_payload

_ALIGNMENT = 16


def ethos_u(configuration: str) -> Backend:
    """The backend of a configuration, a key of `NPUS`."""
    npu = NPUS[configuration]
    return Backend(
        "ethos_u",
        "EthosUBackend",
        lambda region: _compile(region, npu),
        adopt=adopt,
        reject=lambda node: reject(node, npu),
        not_worth=_not_worth,
    )


def ethos_u_target(configuration: str) -> Target:
    """An Ethos-U, and the CPU for what it leaves."""
    return Target(configuration, (ethos_u(configuration), CORTEX_M))


def _not_worth(nodes: Sequence[Node]) -> str:
    if all(only_moves(node) for node in nodes):
        return "a region that only moves bytes is not worth the way"
    return ""


def _compile(region: GraphModule, npu: Npu) -> Payload:
    tosa = tosa_of(region, npu)
    data = compile_tosa(tosa, npu)
    report = verify(region, tosa, data, npu)
    scratch_bytes = parse_payload(data).scratch_size
    return Payload(data, npu.name, scratch_bytes, _ALIGNMENT, report=report)
