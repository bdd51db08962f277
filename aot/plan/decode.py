# SPDX-License-Identifier: Apache-2.0
"""Decodes a .pte once for the plans of all boards: importing the reader takes longer than planning.

Exit status: 0; 2 if the file is damaged or not a .pte.

    decode --pte=model.pte --output=model.program
"""

from tools.imports import imports_that_stay

import sys
from pathlib import Path

with imports_that_stay():
    from absl import app, flags

    from aot.plan.load import load_modules
    from aot.plan.program import save_program
    from aot.plan.pte import read_program
    from aot.pte.conventions import PteError

_PTE = flags.DEFINE_string("pte", None, "The lowered model.", required=True)
_OUTPUT = flags.DEFINE_string("output", None, "The decoded program to write.", required=True)


def main(argv: list[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unknown argument {argv[1]!r}")
    load_modules()
    try:
        program = read_program(Path(_PTE.value).read_bytes())
    except (OSError, PteError) as error:
        print(f"plan compiler: {_PTE.value} {error}", file=sys.stderr)
        return 2
    save_program(Path(_OUTPUT.value), program)
    return 0


if __name__ == "__main__":
    app.run(main)
