# SPDX-License-Identifier: Apache-2.0
"""The plan compiler: from a .pte and a board to plan.c, plan.h and plan.json.

    bazel run //aot/plan:compile -- --pte=a.pte --board=board.json --name=a_plan --report

Paths are relative to the caller's folder. Builds decode a .pte once for all boards (decode.py) and
add --program.

Exit status: 0; 2 if an input is damaged or needs a missing kernel; 3 if the model does not fit on
the board.
"""

from tools.text.signal_handling import run_main

import hashlib
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

from absl import flags

from aot.plan import emit_c, emit_header
from aot.plan.code_sizes import load_code_sizes
from aot.plan.load import load_modules
from aot.plan.plan import OPTIMIZE, DoesNotFitError, graphs_of, make_plan
from aot.plan.program import PlanProgram, ProgramError, load_program
from aot.plan.report import does_not_fit_text, plan_json, plan_text, steps_down_text
from aot.plan.zero_copy_chaining import Chaining, ChainingError, chaining
from aot.pte.conventions import PteError
from boards.board import Board, BoardError, Engine, load_board
from boards.does_not_fit import STATUS_DOES_NOT_FIT
from kernels.common.kernel import KernelError

STATUS_BAD_INPUT = 2

_PTE = flags.DEFINE_string("pte", None, "The lowered model.", required=True)
_PROGRAM = flags.DEFINE_string("program", None, "The same, decoded by //aot/plan:decode.")
_BOARD = flags.DEFINE_string("board", None, "The board's board.json.", required=True)
_ENGINES = flags.DEFINE_multi_string(
    "engine", [], "A backend whose engine the app brings, beside those of the board."
)
_NAME = flags.DEFINE_string("name", None, "The plan's C identifier.", required=True)
_SOURCE = flags.DEFINE_string("source", None, "The C file to write.")
_HEADER = flags.DEFINE_string("header", None, "The header to write.")
_INCLUDE = flags.DEFINE_string("include", None, "The header's path in #include directives.")
_JSON = flags.DEFINE_string("json", None, "The plan's description to write.")
_OPTIMIZE = flags.DEFINE_enum(
    "optimize",
    "speed",
    OPTIMIZE,
    "memory: the smallest arena; speed: the fewest instructions for which the board has memory; "
    "size: the least code.",
)
_SIZES = flags.DEFINE_string(
    "code_sizes", None, "What kernels take of flash (code_sizes.bzl), for --optimize=size."
)
_ARENA = flags.DEFINE_integer(
    "arena", None, "Bytes that the arena may take, if not all that the board has.", lower_bound=0
)
_SHARE = flags.DEFINE_bool(
    "share", False, "One arena for all plans of a program that share, if this one has no state."
)
_INPUT_FROM = flags.DEFINE_string(
    "input_from", None, "plan.json of a model whose output is this one's input, where it lies."
)
_HANDS_OVER = flags.DEFINE_bool(
    "hands_over", False, "The first output lies in the arena that is shared, for an input_from."
)
_INPUT_ROWS = flags.DEFINE_bool("input_rows", False, "The input comes row by row.")
_CHECKSUM = flags.DEFINE_bool("checksum", False, "With a checksum of the constants.")
_REPORT = flags.DEFINE_bool("report", False, "Print steps, memory map and sizes.")


def main(argv: list[str]) -> int:
    if len(argv) > 1:
        return _fail(f"unknown argument {argv[1]!r}")
    name = _NAME.value
    if not name.isidentifier() or not name.isascii():
        return _fail(f"--name={name} is not a C identifier")
    load_modules()
    try:
        board = load_board(_path(_BOARD.value))
        brought = tuple(Engine(backend) for backend in _ENGINES.value)
        board = replace(board, engines=board.engines + brought)
        pte = _path(_PTE.value).read_bytes()
        program = _program(pte)
        taken = _taken(program, board)
        sizes = load_code_sizes(_path(_SIZES.value)) if _SIZES.value else None
        plan = make_plan(
            program,
            board,
            _OPTIMIZE.value,
            streamed=_INPUT_ROWS.value,
            taken=taken,
            most=_ARENA.value,
            hands_over=_HANDS_OVER.value,
            sizes=sizes,
        )
        shared = _SHARE.value and emit_c.may_share(plan)
        if (taken or _HANDS_OVER.value) and not shared:
            why = "share is off" if not _SHARE.value else "it has state, which lasts"
            raise ChainingError(
                f"it has an arena of its own ({why}), "
                + (f"not that of {taken.of}" if taken else "and hands nothing over")
            )
    except (BoardError, OSError) as error:
        return _fail(str(error))
    except ProgramError as error:
        return _fail(f"{_PROGRAM.value} {error}")
    except (PteError, KernelError) as error:
        return _fail(f"{_PTE.value} {error}")
    except ChainingError as error:
        return _fail(f"{name}: {error}")
    except DoesNotFitError as error:
        text = does_not_fit_text(error, name, board, most=_ARENA.value)
        print(text, file=sys.stderr, end="")
        return STATUS_DOES_NOT_FIT
    if _SOURCE.value:
        include = _INCLUDE.value or f"{name}.h"
        text = emit_c.source(plan, name, include, share=_SHARE.value, checksum=_CHECKSUM.value)
        _path(_SOURCE.value).write_text(text)
    if _HEADER.value:
        _path(_HEADER.value).write_text(emit_header.header(plan, name))
    if _JSON.value:
        fields = plan_json(plan, name, shared, hashlib.sha256(pte).hexdigest())
        _path(_JSON.value).write_text(json.dumps(fields, indent=2) + "\n")
    if _REPORT.value:
        graphs = graphs_of(program, board, _OPTIMIZE.value, _INPUT_ROWS.value, sizes)
        print(plan_text(plan, name) + steps_down_text(graphs, plan), end="")
    return 0


def _path(text: str) -> Path:
    return Path(os.environ.get("BUILD_WORKING_DIRECTORY", ".")) / text  # set by `bazel run`


def _program(pte: bytes) -> PlanProgram:
    if _PROGRAM.value:
        return load_program(_path(_PROGRAM.value))
    # Here, as torch takes seconds to import.
    from aot.plan.pte import read_program

    return read_program(pte)


def _taken(program: PlanProgram, board: Board) -> Chaining | None:
    if not _INPUT_FROM.value:
        return None
    if _INPUT_ROWS.value:
        raise ChainingError(
            "the input comes row by row and is not in the arena, so no model can hand its output "
            "over to it"
        )
    return chaining(json.loads(_path(_INPUT_FROM.value).read_text()), program, board.shared_arena)


def _fail(message: str) -> int:
    print(f"plan compiler: {message}", file=sys.stderr)
    return STATUS_BAD_INPUT


if __name__ == "__main__":
    run_main(main)
