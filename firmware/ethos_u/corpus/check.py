# SPDX-License-Identifier: Apache-2.0
"""Runs an archive of the corpus in the NPU model and compares bit for bit with TOSA's reference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from firmware.ethos_u.corpus.archive import Compiled, Lowered, read_archive
from firmware.ethos_u.corpus.reference import (
    Array,
    differing_elements,
    make_inputs,
    reference_outputs,
)
from firmware.ethos_u.corpus.targets import memory_modes
from firmware.ethos_u.npu_model import EthosUError, EthosUModel

# Vela 5.1.0 places the LUT of an operation that it fused into a transpose behind the end of the
# SHRAM of the two small NPUs, and says so ("Address out of bounds, address 16384, memory 'shram'
# with size 16384"). The model refuses the transfer.
VELA_BUGS = {
    (
        graph,
        accelerator,
    ): "SET_DMA0_DST, internal address, not in whole slots of the LUT memory: 16384"
    for graph in ("conv_sigmoid", "squeeze_excite")
    for accelerator in ("ethos-u55-32", "ethos-u55-64")
}


@dataclass(frozen=True)
class Result:
    """The outcome for one payload: `failure` is empty if all its runs were exact."""

    graph: str
    accelerator: str
    memory_mode: str
    runs: int
    vela_bug: bool
    failure: str
    cycles: int
    vela_cycles: int
    macs: int
    vela_macs: int


def _failure(
    model: EthosUModel, payload: bytes, runs: Sequence[tuple[str, list[Array], list[Array]]]
) -> str:
    for kind, inputs, expected in runs:
        different = differing_elements(model.run(payload, inputs), expected)
        if different:
            return f"{different} elements differ, inputs {kind}"
    return ""


def check_payload(
    part: Lowered, compiled: Compiled, runs: Sequence[tuple[str, list[Array], list[Array]]]
) -> Result:
    """Runs one payload; `runs` are kinds of inputs, inputs and expected outputs."""
    model = EthosUModel(compiled.accelerator, check_hazards=True)
    bug = VELA_BUGS.get((part.name, compiled.accelerator))
    try:
        failure = _failure(model, compiled.payload, runs)
    except EthosUError as error:
        failure = str(error)
    if bug is not None:
        failure = "" if bug in failure else f"expected a Vela bug ({bug}), got {failure or 'none'}"
    summary = model.summary
    return Result(
        part.name,
        compiled.accelerator,
        compiled.memory_mode,
        len(runs),
        bug is not None,
        failure,
        summary.counts.cycles if summary else 0,
        compiled.estimate.cycles,
        summary.counts.macs if summary else 0,
        compiled.estimate.macs,
    )


def check_archive(path: Path, kinds: Iterable[str], default_modes_only: bool) -> list[Result]:
    """Results for the payloads of an archive, with inputs of the given kinds."""
    results = []
    for part in read_archive(path):
        runs = []
        for kind in kinds:
            inputs = make_inputs(part.name, kind, part.tosa)
            runs.append((kind, inputs, reference_outputs(part.tosa, inputs)))
        results += [
            check_payload(part, compiled, runs)
            for compiled in part.compiled
            if not default_modes_only
            or compiled.memory_mode == memory_modes(compiled.accelerator)[0]
        ]
    return results


def score_table(results: Sequence[Result]) -> str:
    """Exact results by configuration and memory mode, and estimated cycles against Vela's."""
    lines = [
        f"{'configuration':<16} {'memory mode':<22} {'graphs':>6} {'exact':>6} {'Vela bugs':>9} "
        f"{'runs':>6} {'cycles / Vela':>13} {'MACs / Vela':>11}"
    ]
    targets = list(dict.fromkeys((r.accelerator, r.memory_mode) for r in results))
    for accelerator, mode in targets:
        here = [r for r in results if (r.accelerator, r.memory_mode) == (accelerator, mode)]
        bugs = sum(r.vela_bug for r in here)
        exact = sum(not r.failure and not r.vela_bug for r in here)
        sound = [r for r in here if not r.vela_bug]
        cycles = sum(r.cycles for r in sound) / max(1, sum(r.vela_cycles for r in sound))
        macs = sum(r.macs for r in sound) / max(1, sum(r.vela_macs for r in sound))
        lines.append(
            f"{accelerator:<16} {mode:<22} {len(here):>6} {exact:>6} {bugs:>9} "
            f"{sum(r.runs for r in here):>6} {cycles:>13.2f} {macs:>11.2f}"
        )
    return "\n".join(lines)
