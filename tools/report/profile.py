# SPDX-License-Identifier: Apache-2.0
"""Count an image's instructions on its simulator for its report.

    profile --board=board.json --size=size.json [--plan=plan.json ...] --output=counted.json \\
        --marked=marked.elf program.elf

marked.elf is the program with every step marked. Its marks cost instructions, so the inference is
counted in the unmarked program.

The output has three fields. `profile` follows tools/image/profile.schema.json, or is null.
`problem` is then the reason: the board has no simulator, or the program does not end. `stats` has
the program's own values.
"""

import json
from pathlib import Path
from typing import Any

from absl import app, flags

from boards.board import load_board
from tools.image.profile import profile
from tools.simulator.counts import CountsError
from tools.simulator.elf import Elf
from tools.simulator.simulate import Run, SimulatorError, Tools, simulate

_BOARD = flags.DEFINE_string("board", None, "The board's board.json.", required=True)
_SIZE = flags.DEFINE_string("size", None, "The image's size.json.", required=True)
_PLANS = flags.DEFINE_multi_string("plan", [], "The JSON of its plans.")
_MARKED = flags.DEFINE_string("marked", None, "The program with steps marked.", required=True)
_OUTPUT = flags.DEFINE_string("output", None, "What to write.", required=True)
_TOOLS = flags.DEFINE_multi_string("tools", [], "QEMU, then its plugin, if not the build's.")
_TIME_LIMIT = flags.DEFINE_float("time_limit", 900, "Seconds until the program is stopped.", 0)
_SILENCE = flags.DEFINE_float(
    "silence", 300, "Seconds without a character until the program is stopped.", lower_bound=0
)


def run(elf: Path) -> Run:
    """Run a program to its end, and counts.

    Raises:
      CountsError, SimulatorError: there is nothing to count.
    """
    done = simulate(
        elf,
        load_board(Path(_BOARD.value)),
        time_limit=_TIME_LIMIT.value,
        silence=_SILENCE.value,
        count=True,
        tools=Tools(*map(Path, _TOOLS.value)) if _TOOLS.value else None,
    )
    if done.problem:
        raise SimulatorError(done.problem)
    return done


def counted(elf: Path, marked: Path) -> dict[str, Any]:
    """Return the contents of the output."""
    try:
        as_it_is, in_steps = run(elf), run(marked)
    except (CountsError, SimulatorError) as error:
        return {"profile": None, "problem": str(error), "stats": {}}
    plans = [json.loads(Path(path).read_text()) for path in _PLANS.value]
    size = json.loads(Path(_SIZE.value).read_text())
    whole = profile(as_it_is, size, [])
    steps = profile(in_steps, size, plans, Elf(marked).addresses)
    counts = steps | {key: whole[key] for key in ("inferences", "instructions")}
    return {"profile": counts, "problem": "", "stats": as_it_is.stats}


def main(argv: list[str]) -> None:
    if len(argv) != 2:
        raise app.UsageError("give one program")
    Path(_OUTPUT.value).write_text(
        json.dumps(counted(Path(argv[1]), Path(_MARKED.value)), indent=1) + "\n"
    )


if __name__ == "__main__":
    app.run(main)
