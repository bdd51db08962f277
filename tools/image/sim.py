# SPDX-License-Identifier: Apache-2.0
"""Run an image on its board's simulator and print a table of the results.

    bazel run //boards:corstone300_app.sim
    bazel run //boards:corstone300_app.sim -- --profile=profile.json --trace=trace.json
    sim --board=board.json --size=size.json [--plan='plan.json ...'] [--facts=facts.json ...] \\
        [--profile=profile.json] [--trace=trace.json] [--cycles] program.elf

The board's console receives the standard input.

The table has the facts, the program's PL:STAT lines, and the instructions of one inference (region
0 of the profile). It also has the image's use of each board memory. The first PL:STAT line is the
total of the others. A facts file is a JSON object from name to text, number, or fraction such as
0.97.

Option --profile writes the instructions for machines, in the format of profile.schema.json. Option
--trace writes them for ui.perfetto.dev. Paths are relative to the working folder of `bazel run`.
Estimated cycles, milliseconds and microjoules are those of a measured chip with the board's core.
Option --chip names another one, or a file of tools/simulator/own_board.py. Some cores need LLVM for
them: option --cycles, set by the target <image>.cycles.
"""

from tools.text.signal_handling import run_main

import json
import sys
from pathlib import Path
from typing import Any

from absl import app, flags

from boards.board import Board, BoardError, load_board
from tools.image.profile import ESTIMATE, Key, profile, steps_table, write_profile
from tools.image.summary import summary
from tools.simulator.blocks import CyclesError
from tools.simulator.counts import Counts, CountsError
from tools.simulator.cycles import check_core, estimate, has_table
from tools.simulator.elf import Elf, ElfError
from tools.simulator.own_board import find_calibration
from tools.simulator.silicon import Calibration
from tools.simulator.simulate import SimulatorError, simulate
from tools.simulator.timing import FLASH, plain_core

_BOARD = flags.DEFINE_string("board", None, "The board's board.json.", required=True)
_SIZE = flags.DEFINE_string("size", None, "The image's size.json.", required=True)
_FACTS = flags.DEFINE_multi_string("facts", [], "JSON files with more rows, for the top.")
_PLAN = flags.DEFINE_spaceseplist("plan", [], "JSON of plans, for the names of their steps.")
_PROFILE = flags.DEFINE_string("profile", None, "The profile to write.")
_TRACE = flags.DEFINE_string("trace", None, "The same to write for ui.perfetto.dev.")
_CYCLES = flags.DEFINE_bool("cycles", False, "Estimate cycles on cores that need LLVM, too.")
_CHIP = flags.DEFINE_string(
    "chip",
    "",
    "Measured chip of the estimates, such as STM32L4R5, or a file of //tools/simulator:own_board.",
)
_TIME_LIMIT = flags.DEFINE_float("time_limit", 600, "Seconds until the program is stopped.", 0)
_SILENCE = flags.DEFINE_float(
    "silence", 180, "Seconds without a character until the program is stopped.", lower_bound=0
)

_ENDED_BADLY = 1
_NOT_RUN = 2


def main(argv: list[str]) -> int:
    if len(argv) != 2:
        raise app.UsageError("give one program")
    elf = Path(argv[1])
    facts: dict[str, Any] = {}
    for path in _FACTS.value:
        facts |= json.loads(Path(path).read_text())
    try:
        board = load_board(Path(_BOARD.value))
        measured = _measured(board)
        run = simulate(
            elf,
            board,
            time_limit=_TIME_LIMIT.value,
            silence=_SILENCE.value,
            count=True,
            loads=measured is not None and bool(measured.table.get(FLASH)),
            echo=sys.stdout,
            listen=True,
        )
        estimates = (
            _estimates(elf, board, run.counts, measured) if measured and run.counts else None
        )
    except (BoardError, CountsError, CyclesError, ElfError, SimulatorError) as error:
        print(f"{elf.name}: {error}", file=sys.stderr)
        return _NOT_RUN
    if run.problem:
        print(f"{elf.name}: {run.problem}", file=sys.stderr)
        return _ENDED_BADLY
    size = json.loads(Path(_SIZE.value).read_text())
    plans = [json.loads(Path(path).read_text()) for path in _PLAN.value]
    linked = Elf(elf).addresses if plans else {}
    counted = profile(run, size, plans, linked, estimates, measured)
    write_profile(counted, _PROFILE.value, _TRACE.value)
    delegates = any("delegate" in step for plan in plans for step in plan["steps"])
    modelled = board.npu.configuration if delegates and board.npu and board.npu.simulated else ""
    tables = [steps_table(counted), summary(run, size, facts, counted, modelled)]
    print("".join(f"\n{text}\n" for text in tables if text), end="")
    if estimates and counted["inferences"] and ESTIMATE not in counted:
        print("  no cycles per inference: the program runs marked parts outside of inferences")
    return 0


def _measured(board: Board) -> Calibration | None:
    """Return the calibration of estimates; None without estimates."""
    if not _CYCLES.value and not has_table(board.core):
        return None
    check_core(board.core)
    return find_calibration(plain_core(board.core), _CHIP.value)


def _estimates(elf: Path, board: Board, counts: Counts, measured: Calibration) -> dict[Key, float]:
    """Return cycles by plan and region, without those of inner regions."""
    regions = counts.by_plan()
    parts = estimate(elf, board.core, list(regions.values()), measured)
    return {key: sum(ran.cycles for ran in part) for key, part in zip(regions, parts, strict=True)}


if __name__ == "__main__":
    run_main(main)
