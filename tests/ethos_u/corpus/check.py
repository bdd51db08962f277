# SPDX-License-Identifier: Apache-2.0
"""Runs an archive of the corpus in the NPU model and compares bit for bit with TOSA's reference."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from npu.ethos_u.npu_model import REGIONS, EthosUError, EthosUModel, NpuMemory
from tests.ethos_u.corpus.archive import Compiled, Estimate, Lowered, read_archive
from tests.ethos_u.corpus.reference import (
    Array,
    differing_elements,
    make_inputs,
    reference_outputs,
)
from tools.text.table import table

# Vela 5.1.0 places the LUT of an operation fused into a transpose after the end of the SHRAM of the
# two small NPUs. It reports this ("Address out of bounds, address 16384, memory 'shram' with size
# 16384"). The model refuses the transfer.
VELA_BUGS = {
    (
        graph,
        accelerator,
    ): "SET_DMA0_DST, internal address, not in whole slots of the LUT memory: 16384"
    for graph in ("conv_sigmoid", "squeeze_excite")
    for accelerator in ("ethos-u55-32", "ethos-u55-64")
}

# The memories of Vela's default system configurations: Ethos_U55_High_End_Embedded and
# Ethos_U65_High_End. The model estimates no U85.
_SRAM = {"u55": NpuMemory(8, 32, 32), "u65": NpuMemory(16, 32, 32)}
_FLASH_OR_DRAM = {"u55": NpuMemory(1, 64, 128), "u65": NpuMemory(3.75, 500, 128)}


def memories(accelerator: str, memory_mode: str) -> list[NpuMemory] | None:
    """Return the memory speed of each region, as assumed by Vela in a memory mode."""
    product = accelerator.split("-")[1]
    if product not in _SRAM:
        return None
    regions = [_SRAM[product]] * REGIONS
    if memory_mode != "Sram_Only":
        regions[0] = _FLASH_OR_DRAM[product]
    if memory_mode.startswith("Dedicated_Sram"):
        regions[1] = _FLASH_OR_DRAM[product]
    return regions


@dataclass(frozen=True)
class Result:
    """The outcome for one payload: `failure` is empty if all its runs were exact."""

    graph: str
    accelerator: str
    memory_mode: str
    runs: int
    vela_bug: bool
    failure: str
    estimate: Estimate  # the model's
    vela: Estimate


def _estimate(model: EthosUModel) -> Estimate:
    """Return the estimate of the last run; zeros if there was none."""
    counts = [operation.counts for operation in model.operations]
    return Estimate(
        sum(count.cycles for count in counts),
        sum(count.cycles for count in counts if count.macs),
        sum(count.macs for count in counts),
    )


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
    """Run one payload; `runs` are kinds of inputs, inputs and expected outputs."""
    model = EthosUModel(
        compiled.accelerator,
        check_hazards=True,
        memories=memories(compiled.accelerator, compiled.memory_mode),
    )
    bug = VELA_BUGS.get((part.name, compiled.accelerator))
    try:
        failure = _failure(model, compiled.payload, runs)
    except EthosUError as error:
        failure = str(error)
    if bug is not None:
        failure = "" if bug in failure else f"expected a Vela bug ({bug}), got {failure or 'none'}"
    return Result(
        part.name,
        compiled.accelerator,
        compiled.memory_mode,
        0 if bug else len(runs),
        bug is not None,
        failure,
        _estimate(model),
        compiled.estimate,
    )


def check_archive(path: Path, kinds: Iterable[str]) -> list[Result]:
    """Return results for the payloads of an archive, with inputs of the given kinds."""
    results = []
    for part in read_archive(path):
        runs = []
        for kind in kinds:
            inputs = make_inputs(part.name, kind, part.tosa)
            runs.append((kind, inputs, reference_outputs(part.tosa, inputs)))
        results += [check_payload(part, compiled, runs) for compiled in part.compiled]
    return results


def _ratio(results: Sequence[Result], figure: str) -> float:
    ours = sum(getattr(result.estimate, figure) for result in results)
    vela = sum(getattr(result.vela, figure) for result in results)
    return ours / vela if vela else 0.0


def score_table(results: Sequence[Result]) -> str:
    """Return exact results by configuration and memory mode, and estimates relative to Vela's.

    MACs, cycles of the operations with MACs (all graphs together; lowest, middle and highest of
    single graphs), cycles of all operations.
    """
    names = "configuration,memory mode,graphs,exact,Vela bugs,runs,MACs,cycles,low,mid,high,all"
    rows: list[tuple[object, ...]] = [tuple(names.split(","))]
    targets = list(dict.fromkeys((r.accelerator, r.memory_mode) for r in results))
    for accelerator, mode in targets:
        here = [r for r in results if (r.accelerator, r.memory_mode) == (accelerator, mode)]
        sound = [r for r in here if not r.vela_bug]
        exact = sum(not r.failure for r in sound)
        with_macs = [r for r in sound if r.vela.mac_cycles and r.estimate.mac_cycles]
        ratios = [_ratio([r], "mac_cycles") for r in with_macs] or [0.0]
        counts = (len(here), exact, len(here) - len(sound), sum(r.runs for r in here))
        parts = (
            *(_ratio(sound, "macs"), _ratio(with_macs, "mac_cycles")),
            *(min(ratios), statistics.median(ratios), max(ratios), _ratio(sound, "cycles")),
        )
        rows.append((accelerator, mode, *counts, *(f"{part:.2f}" for part in parts)))
    return table(rows, "ll" + 10 * "r")


def estimate_errors(results: Sequence[Result]) -> str:
    """Return the closeness of graphs' MAC operation cycles to Vela's, as counts."""
    ratios = [
        _ratio([r], "mac_cycles")
        for r in results
        if not r.vela_bug and r.vela.mac_cycles and r.estimate.mac_cycles
    ]
    near = sum(0.9 <= ratio <= 1.1 for ratio in ratios)
    fair = sum(2 / 3 <= ratio <= 3 / 2 for ratio in ratios)
    return (
        f"cycles of operations with MACs, {len(ratios)} graphs: {near} within 10 % of Vela's, "
        f"{fair} from 2/3 to 3/2 of them"
    )
