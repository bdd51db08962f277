# SPDX-License-Identifier: Apache-2.0
"""Counts an image's instructions on its simulator for its report.

    profile --board=board.json --size=size.json [--plan=plan.json ...] --output=counted.json \\
        program.elf

The output has `profile`, as boards/image/profile.schema.json has it, or null, `problem`, which then
says why: nothing simulates the board, or the program does not end by itself; and `stats`, what the
program prints of itself.
"""

import json
from pathlib import Path
from typing import Any

from absl import app, flags

from boards.board import load_board
from boards.image.profile import profile
from boards.simulator.counts import CountsError
from boards.simulator.elf import Elf
from boards.simulator.simulate import SimulatorError, simulate

_BOARD = flags.DEFINE_string("board", None, "The board's board.json.", required=True)
_SIZE = flags.DEFINE_string("size", None, "The image's size.json.", required=True)
_PLANS = flags.DEFINE_multi_string("plan", [], "The JSON of its plans.")
_OUTPUT = flags.DEFINE_string("output", None, "What to write.", required=True)
_TIME_LIMIT = flags.DEFINE_float("time_limit", 900, "Seconds until the program is stopped.")
_SILENCE = flags.DEFINE_float(
    "silence", 300, "Seconds without a character until the program is stopped."
)


def counted(elf: Path) -> dict[str, Any]:
    """Returns the contents of the output."""
    try:
        run = simulate(
            elf,
            load_board(Path(_BOARD.value)),
            time_limit=_TIME_LIMIT.value,
            silence=_SILENCE.value,
            count=True,
        )
    except (CountsError, SimulatorError) as error:
        return {"profile": None, "problem": str(error), "stats": {}}
    if run.problem:
        return {"profile": None, "problem": run.problem, "stats": {}}
    plans = [json.loads(Path(path).read_text()) for path in _PLANS.value]
    size = json.loads(Path(_SIZE.value).read_text())
    counts = profile(run, size, plans, Elf(elf).addresses)
    return {"profile": counts, "problem": "", "stats": run.stats}


def main(argv: list[str]) -> None:
    if len(argv) != 2:
        raise app.UsageError("name one program")
    Path(_OUTPUT.value).write_text(json.dumps(counted(Path(argv[1])), indent=1) + "\n")


if __name__ == "__main__":
    app.run(main)
