# SPDX-License-Identifier: Apache-2.0
"""Run a program on its simulated board.

    run --board=board.json program.elf

PILOTLIGHT_ON_BOARD in the environment holds options of tools/image/on_board.py. If it is set, the
program is flashed to a connected board and runs there (`bazel test --config=hardware`). A program
for the host runs on the host.

The console is printed while the program runs. The number of executed instructions follows at the
end, if requested. The exit status is 0 if the program ended well (status 0, last line PL:PASS). It
is 1 if not, and 2 if it could not be run.
"""

from tools.text.signal_handling import run_main

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from absl import app, flags

from boards.board import Board, BoardError, load_board
from tools.image.binary_files import contents
from tools.image.uf2 import hex_text
from tools.simulator.counts import Counts, CountsError, by_function
from tools.simulator.elf import Elf, ElfError
from tools.simulator.simulate import SimulatorError, simulate
from tools.text.table import table

_BOARD = flags.DEFINE_string("board", None, "The board's board.json.", required=True)
_TIME_LIMIT = flags.DEFINE_float("time_limit", 300, "Seconds until the program is stopped.", 0)
_COUNT = flags.DEFINE_bool("count", False, "Count instructions: of the run and of marked regions.")
_FUNCTIONS = flags.DEFINE_integer(
    "functions", 0, "Also list that many functions that took most of them.", lower_bound=0
)

ENDED_BADLY = 1
NOT_RUN = 2

_ON_BOARD = "PILOTLIGHT_ON_BOARD"


def _counts_table(counts: Counts, elf: Elf, functions: int) -> str:
    regions = [
        (f"region {number}", region.entries, region.instructions)
        for number, region in sorted(counts.regions.items())
    ]
    text = table([("", "entries", "instructions"), ("all", 1, counts.total), *regions], align="lrr")
    if functions:
        ranked = by_function(counts.at(), elf).most_common(functions)
        most = [(executed, name) for name, executed in ranked]
        text += "\n\n" + table([("instructions", "function"), *most], align="r")
    return text


def _run_on_board(elf: Path, board: Board, options: str) -> int:
    stored = contents(board, Elf(elf))
    with tempfile.TemporaryDirectory() as folder:
        hex_file, bin_file = (Path(folder) / f"program.{kind}" for kind in ("hex", "bin"))
        by_address = {board.memory(name).base: data for name, data in stored.items()}
        hex_file.write_text(hex_text(by_address))
        bin_file.write_bytes(stored[board.code])
        # A separate program, because it has flags of the same names.
        command = [sys.executable, "-m", "tools.image.on_board", f"--board={_BOARD.value}"]
        further = [f"--elf={elf}", f"--silence={_TIME_LIMIT.value}", *shlex.split(options)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        files = [str(hex_file), str(bin_file)]
        return subprocess.run([*command, *further, *files], check=False, env=environment).returncode


def main(argv: list[str]) -> int:
    if len(argv) != 2:
        raise app.UsageError("give one program")
    elf = Path(argv[1])
    try:
        board = load_board(Path(_BOARD.value))
        is_host = board.simulator is not None and board.simulator.kind == "native"
        if _ON_BOARD in os.environ and not is_host:
            return _run_on_board(elf, board, os.environ[_ON_BOARD])
        run = simulate(
            elf,
            board,
            time_limit=_TIME_LIMIT.value,
            count=_COUNT.value or _FUNCTIONS.value > 0,
            echo=sys.stdout,
        )
    except (BoardError, CountsError, ElfError, SimulatorError) as error:
        print(f"{elf.name}: {error}", file=sys.stderr)
        return NOT_RUN
    if run.counts is not None:
        print(_counts_table(run.counts, Elf(elf), _FUNCTIONS.value))
    if run.problem:
        print(f"{elf.name}: {run.problem}", file=sys.stderr)
        return ENDED_BADLY
    return 0


if __name__ == "__main__":
    run_main(main)
