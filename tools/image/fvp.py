# SPDX-License-Identifier: Apache-2.0
"""Run an image on Arm's model of its board, if the user has it, and print a table.

    bazel run //boards:corstone300_app.fvp
    fvp --board=board.json --size=size.json [--facts=facts.json ...] [--fvp=PROGRAM] program.elf \\
        [-- argument of the model ...]

The table is that of `.sim`, without instructions. The model counts its own cycles; they are no
estimate of a chip's.
"""

from tools.text.signal_handling import leaving, run_main

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from absl import app, flags

from boards.board import Board, BoardError, load_board
from tools.image.flash_tools import environment
from tools.image.on_board import Shown, problem, until_the_end
from tools.image.summary import summary
from tools.simulator.simulate import Run, Tools

_PROGRAM = flags.DEFINE_string("fvp", "", "The model; the board's, from PATH, if not given.")

_ENDED_BADLY = 1
_NOT_RUN = 2
_SECONDS_TO_STOP = 10


class FvpError(Exception):
    """Missing model, or a board without one; the text gives the remedy."""


def fvp_command(board: Board, elf: Path, program: str, more: list[str]) -> list[str]:
    """Return the command to run a program on the model.

    Args:
      program: path of the model, "" to look for it.
      more: the user's own arguments for the model.

    Raises:
      FvpError: the board has no model, or it is not installed.
    """
    if board.fvp is None:
        raise FvpError(
            f"the board {board.name} has no `fvp`: its BUILD file names no model of Arm's"
        )
    found = shutil.which(program or board.fvp.program)
    if found is None:
        raise FvpError(
            f"{program or board.fvp.program} is not installed. Arm offers it as a free Ecosystem "
            "FVP for Linux and Windows: search developer.arm.com for that name, put the folder "
            "of its program into PATH, or give its path with --fvp="
        )
    told = [part for item in board.fvp.parameters.items() for part in ("-C", "=".join(item))]
    return [found, *told, "-a", str(elf), *more]


def run_on_fvp(command: list[str], silence: float) -> Shown:
    """Show a program's output up to its last line, and return it."""
    with (
        leaving(),
        subprocess.Popen(
            command,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        assert process.stdout is not None
        try:
            return until_the_end(process.stdout.fileno(), silence, None)
        finally:
            process.terminate()
            try:
                process.wait(_SECONDS_TO_STOP)
            except subprocess.TimeoutExpired:
                process.kill()


def main(argv: list[str]) -> int:
    if len(argv) < 2:
        raise app.UsageError("give one program")
    elf = Path(argv[1])
    facts: dict[str, Any] = {}
    for path in flags.FLAGS.facts:
        facts |= json.loads(Path(path).read_text())
    program = flags.FLAGS.fvp
    if os.sep in program:
        program = str(Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), program))
    silence = flags.FLAGS.silence
    try:
        board = load_board(Path(flags.FLAGS.board))
        shown = run_on_fvp(fvp_command(board, elf, program, argv[2:]), silence)
    except (BoardError, FvpError, OSError) as error:
        print(f"{elf.name}: {error}", file=sys.stderr)
        return _NOT_RUN
    found = problem(shown, elf, Tools.of_build(), silence, "the model ended")
    if found:
        print(f"{elf.name}: {found}", file=sys.stderr)
        return _ENDED_BADLY
    size = json.loads(Path(flags.FLAGS.size).read_text())
    print("\n" + summary(Run(shown.text, None, "", None, 0), size, facts, None))
    return 0


if __name__ == "__main__":
    run_main(main)
