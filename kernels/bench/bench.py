# SPDX-License-Identifier: Apache-2.0
"""Instructions of the kernels on each core, counted in QEMU.

    bazel run //kernels/bench               prints a table
    bazel run //kernels/bench -- --update   keeps it as the baseline

The test //kernels/bench:bench_test fails if a layer takes more than 1% more than in the baseline,
or if the two do not have the same layers.
"""

import json
import os
import sys
from pathlib import Path

from absl import app, flags

from boards.board import load_board
from boards.simulator.simulate import simulate
from kernels.bench.program import fitting_layers
from tools.text.table import table

_PROGRAM = flags.DEFINE_multi_string("program", [], "board.json,program.elf of each board.")
_UPDATE = flags.DEFINE_bool("update", False, "Write the baseline into the source tree.")
_CHECK = flags.DEFINE_bool("check", False, "Compare with the baseline.")

_FOLDER = Path(__file__).parent
_TOLERANCE = 0.01
_TIME_LIMIT = 240

Counts = dict[str, dict[str, int]]
"""Instructions by core and layer."""


def measure(programs: list[str]) -> tuple[Counts, dict[str, str]]:
    """Runs all programs; also the peer's key of each layer that has one."""
    counts: Counts = {}
    peers: dict[str, str] = {}
    for program in programs:
        board_json, elf = program.split(",")
        board = load_board(Path(board_json))
        run = simulate(Path(elf), board, time_limit=_TIME_LIMIT, count=True)
        if run.problem or run.counts is None:
            raise RuntimeError(f"{board.name}: {run.problem}\n{run.console}")
        regions = run.counts.regions
        counts[board.core] = {}
        for number, (layer, _) in enumerate(fitting_layers(board)):
            counts[board.core][layer.name] = regions[number].instructions
            if layer.peer:
                peers[layer.name] = layer.peer
    return counts, peers


def regressions(counts: Counts, baseline: Counts) -> list[str]:
    """What got slower, and what only one of them has."""
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


def as_table(counts: Counts, peers: dict[str, str], other: Counts) -> str:
    """A row a layer; for each core instructions, and what CMSIS-NN takes where that is known."""
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
    peer_counts = json.loads((_FOLDER / "cmsis_nn.json").read_text())["instructions"]
    print(as_table(counts, peers, peer_counts))
    if _UPDATE.value:
        folder = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / "kernels" / "bench"
        (folder / "baseline.json").write_text(json.dumps(counts, indent=2) + "\n")
    if _CHECK.value:
        baseline = json.loads((_FOLDER / "baseline.json").read_text())
        slower = regressions(counts, baseline)
        if slower:
            print("\nNot as in kernels/bench/baseline.json:", file=sys.stderr)
            print("\n".join(slower), file=sys.stderr)
            print("If it has to be: bazel run //kernels/bench -- --update", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    app.run(main)
