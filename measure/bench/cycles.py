# SPDX-License-Identifier: Apache-2.0
"""Estimated cycles of the kernels on each core with a model. They are no measurements.

    bazel run //measure/bench:cycles                    a row a layer, and networks' sums
    bazel run //measure/bench:cycles -- --layer="fc"    blocks of layers by name

Instructions are counted in QEMU. Cycles come from tools/simulator/cycles.py; see there for their
omissions. They are those of the first measured chip of a core (tools/simulator/silicon.py), printed
with the error. M7 and M85 are estimated on the builds for M4 and M55.
"""

from tools.text.signal_handling import run_main

import json
from pathlib import Path

from absl import flags

from boards.board import Board, load_board
from kernels.testing.case import Layer
from measure.bench.networks import Counts, sums_of_networks
from measure.bench.program import fitting_layers
from tools.simulator.cycles import Ran, estimate
from tools.simulator.silicon import calibration, percent
from tools.simulator.simulate import simulate
from tools.text.table import table

_PROGRAM = flags.DEFINE_multi_string("program", [], "board.json,program.elf of each board.")
_LAYER = flags.DEFINE_string("layer", None, "Show the blocks of layers whose name has this.")

_FOLDER = Path(__file__).parent
_TIME_LIMIT = 240

_ALSO = {"cortex-m4": "cortex-m7", "cortex-m55": "cortex-m85"}
"""Another core running the same code, by core."""

_BLOCKS = 4
"""Number of slowest blocks shown per requested layer."""


def cores(board: Board) -> list[str]:
    """Return the cores with estimates for a board's program."""
    return [board.core] + ([_ALSO[board.core]] if board.core in _ALSO else [])


def accuracy(core: str) -> str:
    """Return a line about the chip of a core's cycles, and their error."""
    found = calibration(core)
    if found.chip is None or found.error is None:
        return f"{core}: no chip was measured"
    return f"{core}: {percent(found.error)}, estimated for {found.chip.name}"


def blocks_text(core: str, layer: Layer, ran: list[Ran]) -> str:
    """Return the blocks of a layer with the most cycles, and their instructions."""
    cycles = sum(part.cycles for part in ran)
    lines = [f"\n{layer.name}, {core}: {cycles:,.0f} cycles, an estimate"]
    for part in sorted(ran, key=lambda part: -part.cycles)[:_BLOCKS]:
        lines.append(
            f"  {part.cycles / cycles:.0%}: {part.function} at {part.address:#x}, "
            f"{part.times:,} times {part.each:.1f} cycles, {len(part.block)} instructions"
        )
        lines += ["    " + instruction.expandtabs(8) for instruction in part.block]
    return "\n".join(lines)


def layers_table(instructions: Counts, cycles: Counts, title: str) -> str:
    """Return a table with a row for each layer or network: instructions and estimated cycles."""
    names = list(dict.fromkeys(name for found in instructions.values() for name in found))
    rows = [[title, *(text for core in cycles for text in (core, "cycles"))]]
    for name in names:
        row = [name]
        for core, found in cycles.items():
            known = name in found
            row += [f"{instructions[core][name]:,}", f"{found[name]:,}"] if known else ["-", "-"]
        rows.append(row)
    return table(rows, "l" + "rr" * len(cycles))


def main(argv: list[str]) -> None:
    del argv
    instructions: Counts = {}
    cycles: Counts = {}
    peers: dict[str, str] = {}
    for program in _PROGRAM.value:
        board_json, elf = program.split(",")
        board = load_board(Path(board_json))
        run = simulate(Path(elf), board, time_limit=_TIME_LIMIT, count=True, loads=True)
        if run.problem or run.counts is None:
            raise RuntimeError(f"{board.name}: {run.problem}\n{run.console}")
        layers = [layer for layer, _ in fitting_layers(board)]
        regions = [run.counts.regions[number] for number in range(len(layers))]
        peers |= {layer.name: layer.peer for layer in layers if layer.peer}
        for core in cores(board):
            parts = estimate(Path(elf), core, regions, calibration(core))
            instructions[core] = {
                layer.name: region.instructions
                for layer, region in zip(layers, regions, strict=True)
            }
            cycles[core] = {
                layer.name: round(sum(ran.cycles for ran in part))
                for layer, part in zip(layers, parts, strict=True)
            }
            for layer, part in zip(layers, parts, strict=True):
                if _LAYER.value and _LAYER.value in layer.name:
                    print(blocks_text(core, layer, part))
    if _LAYER.value:
        return
    networks = json.loads((_FOLDER / "cmsis_nn.json").read_text())["networks"]
    print(layers_table(instructions, cycles, "estimates: instructions and cycles"))
    print()
    instructions = sums_of_networks(instructions, peers, networks)
    cycles = sums_of_networks(cycles, peers, networks)
    print(layers_table(instructions, cycles, "all layers"))
    print()
    print("\n".join(map(accuracy, cycles)))


if __name__ == "__main__":
    run_main(main)
