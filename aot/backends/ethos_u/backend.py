# SPDX-License-Identifier: Apache-2.0
"""Arm Ethos-U as a backend, and a target for each of its configurations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import torch
from absl import logging
from torch.fx import GraphModule, Node

from aot.backends.backend import Backend, CannotRun, NotWorth
from aot.backends.cortex_m import CORTEX_M
from aot.backends.ethos_u.choose import MOST_TRIES, Candidate, choose, compiled
from aot.backends.ethos_u.cost import not_worth
from aot.backends.ethos_u.culprit import culprit
from aot.backends.ethos_u.emit import PLAIN, Choice, adopt, only_moves, reject
from aot.backends.ethos_u.forms import FormError
from aot.backends.ethos_u.layers import NpuLayer, writers_of
from aot.backends.ethos_u.memories import with_memories
from aot.backends.ethos_u.place import ops_left
from aot.backends.ethos_u.vela import VelaError
from aot.backends.ethos_u.verify import NpuVerificationError, verify
from aot.backends.npus import CUT, NPUS, OFF, Npu
from aot.backends.target import Target
from aot.backends.traits import Traits
from aot.dialect.delegate import DelegatePayload
from aot.dialect.graph import dialect_op
from aot.passes.aten.norms.fold_norm_affine import fold_norm_affine
from aot.passes.aten.spatial.mean_to_average import mean_to_average

_ALIGNMENT = 16
_FEW_PIXELS = 16
_NOBODY_LOOKED = {"verified": {"inputs": [], "tosa_runs": 0, "executed": False}}

_Verified = tuple[Candidate, Mapping[str, object]]


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
    tries: int = MOST_TRIES,
) -> Backend:
    """Return the backend of a configuration, a key of `NPUS`.

    Args:
      configuration: e.g. "ethos-u65-256".
      verification: one of `VERIFICATIONS`.
      memory_mode, system_config, vela_ini: as in `with_memories`; those of the board.
      tries: programs compiled for a region, at most, in search of its cheapest forms.
    """
    npu = with_memories(NPUS[configuration], memory_mode, system_config, vela_ini)
    return Backend(
        "ethos_u",
        "EthosUBackend",
        lambda region: _compile(region, npu, verification, tries),
        adopt=adopt,
        reject=lambda node: reject(node, npu),
        not_worth=_not_worth,
        place=lambda region: ops_left(region, lambda part: _cycles(part, npu, tries)),
        dtypes=(torch.int8, torch.int16, torch.bool),
        # Means may become pools again. Their sums would take more cycles with another scale.
        traits={"avg_pool2d": Traits(shares_quantization=True)},
        rewrites=(fold_norm_affine, _pool_all_means if npu.is_u85 else _pool_some_means),
    )


def ethos_u_target(
    configuration: str, verification: str = CUT, *, tries: int = MOST_TRIES, **memories: str
) -> Target:
    """Return the target of an Ethos-U, with the CPU for the remaining ops. Arguments are those of
    `ethos_u`.
    """
    npu = ethos_u(configuration, verification, tries=tries, **memories)
    return Target(configuration, (npu, CORTEX_M))


def _not_worth(nodes: Sequence[Node]) -> str:
    if all(only_moves(node) for node in nodes):
        return "a region that only moves bytes is not worth the way"
    return not_worth(nodes)


def _cycles(region: GraphModule, npu: Npu, tries: int) -> Mapping[str, int] | None:
    """Return Vela's cycles by op of a region's cheapest program; None if there is no program."""
    try:
        chosen = _candidates(region, npu, OFF, tries)[0]
    except (FormError, VelaError) as error:
        logging.info("%s: no cycles of a part: %s", npu.name, error)
        return None
    layers, cycles = chosen.program.layers, Counter[str]()
    for layer, op in zip(layers, writers_of(layers, chosen.graph.writers), strict=True):
        cycles[op] += layer.cycles
    return cycles


def _compile(region: GraphModule, npu: Npu, verification: str, tries: int) -> DelegatePayload:
    try:
        chosen, told = _cheapest(region, npu, verification, tries)
    except (FormError, VelaError, NpuVerificationError) as error:
        name, where = culprit(region, npu)
        if verification == CUT:
            raise CannotRun(name, f"{error}; {where}") from error
        raise type(error)(f"{error}; {where}") from error
    program = chosen.program
    writers = writers_of(program.layers, chosen.graph.writers)
    layers = [_row(*layer, npu) for layer in zip(program.layers, writers, strict=True)]
    report = {**told, "forms": dict(chosen.choice.forms), "layers": layers}
    needs = npu.name, chosen.scratch_bytes, _ALIGNMENT
    return DelegatePayload(program.payload, *needs, report=report, cache_bytes=npu.cache_bytes)


def _cheapest(region: GraphModule, npu: Npu, verification: str, tries: int) -> _Verified:
    """Return the region's program with the fewest cycles, and the report of its verification.

    If the chosen candidate turns out wrong, the next one is taken.
    """
    *others, last = _candidates(region, npu, verification, tries)
    for candidate in others:
        try:
            return _verified(region, candidate, npu, verification)
        except NpuVerificationError as error:
            logging.warning("%s: %s is not taken: %s", npu.name, candidate.choice, error)
    return _verified(region, last, npu, verification)


def _candidates(
    region: GraphModule, npu: Npu, verification: str, tries: int
) -> Sequence[Candidate]:
    """Return the region's candidates, the cheapest one first.

    The plain candidate has the emitters' forms. On an NPU with far inputs it copies them first if
    Vela takes fewer cycles then. The last candidate has the emitters' forms and copies nothing.
    """
    first = plain = compiled(region, npu, PLAIN, check=verification != OFF)
    if npu.keeps_inputs_far:
        try:
            near = compiled(region, npu, Choice(near=True), check=True)
            plain = near if near.program.cycles < first.program.cycles else first
        except (FormError, VelaError) as error:
            logging.warning("%s: its inputs are not copied first: %s", npu.name, error)
    best = choose(region, npu, plain, tries)
    return list({c.choice.key: c for c in (best, plain, first)}.values())


def _verified(region: GraphModule, found: Candidate, npu: Npu, verification: str) -> _Verified:
    """Verify a candidate. Raise NotWorth if it is not worth a call."""
    ops = [node for node in region.graph.nodes if dialect_op(node)]
    if reason := not_worth(ops, found.program.cycles):
        raise NotWorth(reason)
    if verification == OFF:
        return found, _NOBODY_LOOKED
    return found, verify(region, found.graph.tosa, found.program.payload, npu)


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
