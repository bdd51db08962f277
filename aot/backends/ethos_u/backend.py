# SPDX-License-Identifier: Apache-2.0
"""Arm Ethos-U as a backend, and a target for each of its configurations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from absl import logging
from torch.fx import GraphModule, Node

from aot.backends.backend import Backend, CannotRun, NotWorth
from aot.backends.cortex_m import CORTEX_M
from aot.backends.ethos_u.cost import not_worth
from aot.backends.ethos_u.culprit import culprit
from aot.backends.ethos_u.emit import Emitted, adopt, emitted, only_moves, reject
from aot.backends.ethos_u.forms import FormError, check_forms
from aot.backends.ethos_u.layers import NpuLayer, writers_of
from aot.backends.ethos_u.memories import with_memories
from aot.backends.ethos_u.place import ops_left
from aot.backends.ethos_u.vela import VelaError, VelaProgram, compile_tosa
from aot.backends.ethos_u.verify import VerificationError, verify
from aot.backends.npus import CUT, NPUS, OFF, Npu
from aot.backends.target import Target
from aot.backends.traits import Traits
from aot.dialect.delegate import DelegatePayload
from aot.dialect.graph import dialect_op
from aot.passes.aten.norms.fold_norm_affine import fold_norm_affine
from aot.passes.aten.spatial.mean_to_average import mean_to_average
from npu.ethos_u.payload import parse_payload

_ALIGNMENT = 16
_FEW_PIXELS = 16
_NOBODY_LOOKED = {"verified": {"inputs": [], "tosa_runs": 0, "executed": False}}


def _pool_some_means(module: GraphModule) -> None:
    """Turn means into average pools if that takes fewer cycles.

    This holds for few pixels, and for an image with other readers. Sums over rows would need a
    second copy of that image in memory.
    """
    mean_to_average(module, lambda source, pixels: pixels <= _FEW_PIXELS or len(source.users) > 1)


def _pool_all_means(module: GraphModule) -> None:
    """Turn all means into average pools, for U85: its transpositions and sums over windows are
    slow.
    """
    mean_to_average(module, lambda source, pixels: True)


def ethos_u(
    configuration: str,
    verification: str = CUT,
    *,
    memory_mode: str = "",
    system_config: str = "",
    vela_ini: str = "",
) -> Backend:
    """Return the backend of a configuration, a key of `NPUS`.

    Args:
      configuration: e.g. "ethos-u65-256".
      verification: one of `VERIFICATIONS`.
      memory_mode, system_config, vela_ini: as in `with_memories`; those of the board.
    """
    npu = with_memories(NPUS[configuration], memory_mode, system_config, vela_ini)
    return Backend(
        "ethos_u",
        "EthosUBackend",
        lambda region: _compile(region, npu, verification),
        adopt=adopt,
        reject=lambda node: reject(node, npu),
        not_worth=_not_worth,
        place=lambda region: ops_left(region, lambda part: _cycles(part, npu)),
        dtypes=(torch.int8, torch.int16, torch.bool),
        # Means may become pools again. Their sums would take more cycles with another scale.
        traits={"avg_pool2d": Traits(shares_quantization=True)},
        rewrites=(fold_norm_affine, _pool_all_means if npu.is_u85 else _pool_some_means),
    )


def ethos_u_target(configuration: str, verification: str = CUT, **memories: str) -> Target:
    """Return the target of an Ethos-U, with the CPU for the remaining ops. Arguments are those of
    `ethos_u`.
    """
    return Target(configuration, (ethos_u(configuration, verification, **memories), CORTEX_M))


def _not_worth(nodes: Sequence[Node]) -> str:
    if all(only_moves(node) for node in nodes):
        return "a region that only moves bytes is not worth the way"
    return not_worth(nodes)


def _cycles(region: GraphModule, npu: Npu) -> Mapping[str, int] | None:
    """Return Vela's cycles by op of a region's cheapest program; None if there is no program."""
    cheapest: Counter[str] | None = None
    for near in (False, True)[: 1 + npu.keeps_inputs_far]:
        try:
            graph, program = _program(region, npu, OFF, near)
        except (FormError, VelaError) as error:
            logging.info("%s: no cycles of a part: %s", npu.name, error)
            continue
        cycles: Counter[str] = Counter()
        for layer, op in zip(
            program.layers, writers_of(program.layers, graph.writers), strict=True
        ):
            cycles[op] += layer.cycles
        cheapest = min(cycles, cheapest or cycles, key=Counter.total)
    return cheapest


@dataclass(frozen=True)
class _Made:
    """A region's graph, Vela's program for it, and the report of its verification."""

    graph: Emitted
    program: VelaProgram
    told: Mapping[str, object]


def _compile(region: GraphModule, npu: Npu, verification: str) -> DelegatePayload:
    try:
        made = _cheapest(region, npu, verification)
    except (FormError, VelaError, VerificationError) as error:
        name, where = culprit(region, npu)
        if verification == CUT:
            raise CannotRun(name, f"{error}; {where}") from error
        raise type(error)(f"{error}; {where}") from error
    program = made.program
    writers = writers_of(program.layers, made.graph.writers)
    layers = [_row(*layer, npu) for layer in zip(program.layers, writers, strict=True)]
    report = {**made.told, "layers": layers}
    scratch_bytes = parse_payload(program.payload).scratch_size
    needs = npu.name, scratch_bytes, _ALIGNMENT
    return DelegatePayload(program.payload, *needs, report=report, cache_bytes=npu.cache_bytes)


def _cheapest(region: GraphModule, npu: Npu, verification: str) -> _Made:
    """Return the region's program with the fewest cycles.

    The first candidate reads the inputs in place. On an NPU with far inputs, a second candidate
    copies them first; it must be correct. Its forms are checked even if verification is off.
    """
    graph, program = _program(region, npu, verification, near=False)
    if npu.keeps_inputs_far:
        try:
            copying, copied = _program(region, npu, verification, near=True)
            if copied.cycles < program.cycles:
                return _verified(region, copying, copied, npu, verification)
        except (FormError, VelaError, VerificationError) as error:
            logging.warning("%s: its inputs are not copied first: %s", npu.name, error)
    return _verified(region, graph, program, npu, verification)


def _program(
    region: GraphModule, npu: Npu, verification: str, near: bool
) -> tuple[Emitted, VelaProgram]:
    graph = emitted(region, npu, near)
    if near or verification != OFF:
        check_forms(graph.tosa, npu)
    return graph, compile_tosa(graph.tosa, npu)


def _verified(
    region: GraphModule, graph: Emitted, program: VelaProgram, npu: Npu, verification: str
) -> _Made:
    """Verify a program. Raise NotWorth if it is not worth a call."""
    ops = [node for node in region.graph.nodes if dialect_op(node)]
    if reason := not_worth(ops, program.cycles):
        raise NotWorth(reason)
    if verification == OFF:
        return _Made(graph, program, _NOBODY_LOOKED)
    return _Made(graph, program, verify(region, graph.tosa, program.payload, npu))


def _row(layer: NpuLayer, writer: str, npu: Npu) -> Mapping[str, object]:
    """Return a layer for the report."""
    possible = layer.cycles * npu.macs
    return {
        "op": writer,
        "kind": layer.kind,
        "cycles": layer.cycles,
        "macs": layer.macs,
        "utilization": round(layer.macs / possible, 3) if possible else 0.0,
        "traffic": layer.traffic,
    }
