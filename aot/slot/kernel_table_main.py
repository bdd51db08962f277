# SPDX-License-Identifier: Apache-2.0
"""Command line that writes the table of kernels for packages (kernel_table.py).

    kernel_table_main --board=board.json --name=my_kernels --source=table.c --header=table.h \\
        --include=my/table.h --kernel=pl_linear_s8 digits=plan.json ...
"""

import json
import sys
from difflib import get_close_matches
from pathlib import Path

from absl import app, flags

from aot.slot.kernel_table import header, source
from boards.board import load_board
from kernels.accesses import accesses

_BOARD = flags.DEFINE_string("board", None, "The board's board.json.", required=True)
_NAME = flags.DEFINE_string("name", None, "C name of the table.", required=True)
_SOURCE = flags.DEFINE_string("source", None, "The C file to write.", required=True)
_HEADER = flags.DEFINE_string("header", None, "The header to write.", required=True)
_INCLUDE = flags.DEFINE_string("include", None, "Its path in #include.", required=True)
_KERNEL = flags.DEFINE_multi_string("kernel", [], "A kernel to have beside those of the plans.")


def main(argv: list[str]) -> int:
    functions = set(_KERNEL.value)
    models = {}
    for argument in argv[1:]:
        name, _, path = argument.partition("=")
        models[name] = json.loads(Path(path).read_text())
        functions |= {step["function"] for step in models[name]["steps"]}
    for function in sorted(functions - accesses().keys()):
        near = ", ".join(get_close_matches(function, accesses()))
        print(f"no kernel is named {function}" + f"; there is {near}" * bool(near), file=sys.stderr)
        return 2
    board = load_board(Path(_BOARD.value))
    Path(_SOURCE.value).write_text(source(_NAME.value, _INCLUDE.value, board.core, functions))
    Path(_HEADER.value).write_text(header(_NAME.value, models))
    return 0


if __name__ == "__main__":
    app.run(main)
