# SPDX-License-Identifier: Apache-2.0
"""Instructions of the kernels on each core, counted in QEMU.

    bazel run //measure/bench               prints a table
    bazel run //measure/bench -- --update   keeps it as the baseline

"cortex-m55 cost" is the weighted number of instructions. A vector takes two cycles on a core with
two beats, so a Helium instruction counts 2. A gather or scatter counts 1 per lane. All others count
1.

The test //measure/bench:bench_test fails if a layer takes more than 1% more than in the baseline.
It also fails if the two do not have the same layers. The limits of CMSIS-NN's instructions for a
network, a layer or an op are _MOST and _MOST_OF_OPS. The limit for a network is _MOST_INSTRUCTIONS.
"""

from tools.text.signal_handling import run_main

import json
import os
import sys
from pathlib import Path

from absl import flags

from boards.board import load_board
from measure.bench.networks import Counts, Networks, sums_of_networks
from measure.bench.program import fitting_layers
from tools.simulator.counts import Region
from tools.simulator.elf import Elf
from tools.simulator.simulate import simulate
from tools.text.table import table

_PROGRAM = flags.DEFINE_multi_string("program", [], "board.json,program.elf of each board.")
_UPDATE = flags.DEFINE_bool("update", False, "Write the baseline into the source tree.")
_CHECK = flags.DEFINE_bool("check", False, "Compare with the baseline.")

_FOLDER = Path(__file__).parent
_TOLERANCE = 0.01
_TIME_LIMIT = 240

_COST = " cost"

_MOST = {
    "cortex-m0": (0.62, 0.90),
    "cortex-m3": (0.72, 0.90),
    "cortex-m4": (0.50, 0.80),
    "cortex-m55": (0.49, 0.80),
    "cortex-m55 cost": (0.56, 1.00),
}
"""Limits by core: largest share of CMSIS-NN's instructions for a network, and for a layer."""

_OPS = {"depthwise": "dw", "add": "add", "mean": "avgpool"}
"""Names of the peer's layers of an op, followed by a number."""

_MOST_OF_OPS = {
    "cortex-m0": {"depthwise": 0.25, "add": 0.15, "mean": 0.40},
    "cortex-m4": {"depthwise": 0.30, "add": 0.30},
    "cortex-m55": {"depthwise": 0.45, "add": 0.45, "mean": 0.25},
}
"""The same of all layers of an op in the networks together."""

_MOST_INSTRUCTIONS = {
    "cortex-m0": {"dscnn": 7_700_000, "vww": 23_300_000, "resnet8": 30_000_000, "ae": 1_050_000},
    "cortex-m4": {"dscnn": 3_000_000, "vww": 8_400_000, "resnet8": 12_200_000, "ae": 290_000},
}
"""Limit for the sum of a network's layers."""


def instruction_cost(word: int) -> int:
    """Return the cost of an instruction. `word` is its two halfwords in memory."""
    first, second = word & 0xFFFF, word >> 16
    if first & 0xEC00 != 0xEC00:  # no coprocessor instruction; Helium and the FPU are coprocessors
        return 1
    if first & 0xEFA0 == 0xEC80 and second & 0x1E00 == 0x0E00:  # VLDR, VSTR [Rn, Qm]
        return 16 >> (second >> 7 & 3)
    if first & 0xFF00 == 0xFD00 and second & 0x1E00 == 0x1E00:  # [Qn, #imm], words or doublewords
        return 2 if second & 0x0100 else 4
    return 2


def cost(region: Region, elf: Elf) -> int:
    more = ((instruction_cost(elf.instruction(a)) - 1) * n for a, n in region.at.items())
    return region.instructions + sum(more)


def measure(programs: list[str]) -> tuple[Counts, dict[str, str]]:
    """Run all programs. Return their counts and the peer's key of each layer, if it has one."""
    counts: Counts = {}
    peers: dict[str, str] = {}
    for program in programs:
        board_json, elf = program.split(",")
        board = load_board(Path(board_json))
        run = simulate(Path(elf), board, time_limit=_TIME_LIMIT, count=True)
        if run.problem or run.counts is None:
            raise RuntimeError(f"{board.name}: {run.problem}\n{run.console}")
        regions = run.counts.regions
        layers = [layer for layer, _ in fitting_layers(board)]
        of_layer = {layer.name: regions[number] for number, layer in enumerate(layers)}
        counts[board.core] = {name: region.instructions for name, region in of_layer.items()}
        if board.isa == "mve":
            code = Elf(Path(elf))
            counts[board.core + _COST] = {name: cost(r, code) for name, r in of_layer.items()}
        peers |= {layer.name: layer.peer for layer in layers if layer.peer}
    return counts, peers


def regressions(counts: Counts, baseline: Counts) -> list[str]:
    """Return slower layers, and layers missing from one of the two."""
    found = [
        f"{core}, {name}: in the baseline only"
        for core, layers in baseline.items()
        for name in layers
        if name not in counts.get(core, {})
    ]
    for core, layers in counts.items():
        for name, instructions in layers.items():
            before = baseline.get(core, {}).get(name)
            if before is None:
                found.append(f"{core}, {name}: {instructions}, not in the baseline")
            elif instructions > before * (1 + _TOLERANCE):
                found.append(f"{core}, {name}: {instructions}, was {before}")
    return found


def ratios(
    counts: Counts, peers: dict[str, str], other: Counts, networks: Networks
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """Return the share of the peer's instructions by core and network, and by core and layer."""
    by_network: dict[str, dict[str, float]] = {}
    by_layer: dict[str, dict[str, float]] = {}
    for core, others in other.items():
        own = {peers[n]: count for n, count in counts.get(core, {}).items() if n in peers}
        by_layer[core] = {layer: own[layer] / others[layer] for layer in own if layer in others}
        by_network[core] = {
            network: sum(own[layer] * times for layer, times in layers.items())
            / sum(others[layer] * times for layer, times in layers.items())
            for network, layers in networks.items()
            if all(layer in own for layer in layers)
        }
    return by_network, by_layer


def too_near(shares: dict[str, dict[str, float]], kind: int) -> list[str]:
    """Return networks (kind 0) or layers (kind 1) over their limit."""
    return [
        f"{core}, {name}: {share:.3f} of CMSIS-NN's instructions, not {_MOST[core][kind]} or less"
        for core, found in shares.items()
        for name, share in found.items()
        if share > _MOST[core][kind]
    ]


def shares_of_ops(
    counts: Counts, peers: dict[str, str], other: Counts, networks: Networks
) -> dict[str, dict[str, float]]:
    """Return the share of the peer's instructions by core and op."""
    times = {layer: n for layers in networks.values() for layer, n in layers.items()}
    found: dict[str, dict[str, float]] = {}
    for core, others in other.items():
        own = {peers[name]: count for name, count in counts.get(core, {}).items() if name in peers}
        found[core] = {}
        for op, key in _OPS.items():
            layers = [n for n in own if n in times and n.split("/")[1].rstrip("0123456789") == key]
            if layers:
                taken = sum(own[layer] * times[layer] for layer in layers)
                found[core][op] = taken / sum(others[layer] * times[layer] for layer in layers)
    return found


def ops_too_near(shares: dict[str, dict[str, float]]) -> list[str]:
    """Return ops over their limit."""
    return [
        f"{core}, {op}: {shares[core][op]:.3f} of CMSIS-NN's instructions, not {most} or less"
        for core, limits in _MOST_OF_OPS.items()
        for op, most in limits.items()
        if shares.get(core, {}).get(op, 0) > most
    ]


def too_many(sums: dict[str, dict[str, int]]) -> list[str]:
    """Return networks over their limit of instructions."""
    return [
        f"{core}, {network}: {sums[core][network]:,} instructions, not {most:,} or less"
        for core, limits in _MOST_INSTRUCTIONS.items()
        for network, most in limits.items()
        if sums.get(core, {}).get(network, 0) > most
    ]


def as_table(counts: Counts, peers: dict[str, str], other: Counts) -> str:
    """Return a table, one row per layer, with instructions per core and CMSIS-NN's if known."""
    names = list(dict.fromkeys(name for layers in counts.values() for name in layers))
    rows = [["instructions (CMSIS-NN)", *(text for core in counts for text in (core, ""))]]
    for name in names:
        row = [name]
        for core, layers in counts.items():
            peer = other.get(core, {}).get(peers.get(name, ""))
            row += [f"{layers[name]:,}" if name in layers else "-", f"({peer:,})" if peer else ""]
        rows.append(row)
    return table(rows, "l" + "rr" * len(counts))


def main(argv: list[str]) -> int:
    del argv
    counts, peers = measure(_PROGRAM.value)
    peer = json.loads((_FOLDER / "cmsis_nn.json").read_text())
    print(as_table(counts, peers, peer["instructions"]))
    by_network, by_layer = ratios(counts, peers, peer["instructions"], peer["networks"])
    by_op = shares_of_ops(counts, peers, peer["instructions"], peer["networks"])
    rows = [["share of CMSIS-NN's", *by_network]]
    for name in [*peer["networks"], *_OPS]:
        shares = ((by_network[core] | by_op[core]).get(name) for core in by_network)
        rows.append([name, *("-" if share is None else f"{share:.3f}" for share in shares)])
    print(table(rows, "l" + "r" * len(by_network)))
    sums = sums_of_networks(counts, peers, peer["networks"])
    rows = [["instructions of all layers", *by_network]]
    for name in peer["networks"]:
        taken = (sums[core].get(name) for core in by_network)
        rows.append([name, *("-" if count is None else f"{count:,}" for count in taken)])
    print(table(rows, "l" + "r" * len(by_network)))
    if _UPDATE.value:
        folder = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / "measure/bench"
        (folder / "baseline.json").write_text(json.dumps(counts, indent=2) + "\n")
    if _CHECK.value:
        baseline = json.loads((_FOLDER / "baseline.json").read_text())
        slower = regressions(counts, baseline)
        if slower:
            print("\nNot as in measure/bench/baseline.json:", file=sys.stderr)
            print("\n".join(slower), file=sys.stderr)
            print("If it has to be: bazel run //measure/bench -- --update", file=sys.stderr)
        near = too_near(by_network, 0) + too_near(by_layer, 1) + ops_too_near(by_op)
        near += too_many(sums)
        print("\n".join(near), file=sys.stderr)
        return 1 if slower or near else 0
    return 0


if __name__ == "__main__":
    run_main(main)
