# SPDX-License-Identifier: Apache-2.0
"""Plans a model for a package. plan.c is compiled but never linked.

    plan_main --program=model.program --board=board.json --arena=16384 \\
        --source=plan.c --json=plan.json

The exit status is the same as for aot/plan/compile.py.
"""

import json
import sys
from pathlib import Path

from absl import app, flags

from aot.plan import emit_c
from aot.plan.plan import OPTIMIZE, DoesNotFitError
from aot.plan.program import ProgramError, load_program
from aot.plan.report import does_not_fit_text, plan_json
from aot.pte.conventions import PteError
from aot.slot.planning import NAME, package_board, package_plan
from boards.board import BoardError, load_board
from boards.does_not_fit import STATUS_DOES_NOT_FIT
from kernels.common.access import OutsideError
from kernels.common.kernel import KernelError

STATUS_BAD_INPUT = 2

_PROGRAM = flags.DEFINE_string("program", None, "The decoded .pte.", required=True)
_BOARD = flags.DEFINE_string("board", None, "The board's board.json.", required=True)
_ARENA = flags.DEFINE_integer("arena", None, "Bytes for the arena, at most.", 0, required=True)
_OPTIMIZE = flags.DEFINE_enum("optimize", "speed", OPTIMIZE, "As of plan_library.")
_SOURCE = flags.DEFINE_string("source", None, "The C file to write.", required=True)
_JSON = flags.DEFINE_string("json", None, "The plan's description to write.", required=True)


def main(argv: list[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unknown argument {argv[1]!r}")
    try:
        board = package_board(load_board(Path(_BOARD.value)), _ARENA.value)
        plan = package_plan(load_program(Path(_PROGRAM.value)), board, _OPTIMIZE.value)
    except (BoardError, KernelError, OSError, OutsideError, ProgramError, PteError) as error:
        print(f"{_PROGRAM.value}: {error}", file=sys.stderr)
        return STATUS_BAD_INPUT
    except DoesNotFitError as error:
        print(does_not_fit_text(error, NAME, board), file=sys.stderr, end="")
        return STATUS_DOES_NOT_FIT
    text = emit_c.source(plan, NAME, "firmware/runtime/plan.h", packaged=True)
    Path(_SOURCE.value).write_text(text)
    Path(_JSON.value).write_text(json.dumps(plan_json(plan, NAME), indent=2) + "\n")
    return 0


if __name__ == "__main__":
    app.run(main)
