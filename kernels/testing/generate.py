# SPDX-License-Identifier: Apache-2.0
"""Writes the C programs that test an op: all cases for the host, some for boards of each class."""

from tools.imports import imports_that_stay

import importlib
from collections.abc import Iterable
from pathlib import Path
from typing import cast, get_args

with imports_that_stay():
    from absl import app, flags

    from kernels.common.kernel import PLAIN, Isa
    from kernels.testing.case import Case
    from kernels.testing.oracle import expected_outputs
    from kernels.testing.program import CaseProgram

_PACKAGE = flags.DEFINE_string(
    "package", None, "The kernel's folder in Python's words, such as kernels.lut.", required=True
)
_OUTPUT = flags.DEFINE_string(
    "output", None, "Start of the names: <output>.host.c, <output>.scalar.c …", required=True
)

_PART = flags.DEFINE_integer("part", None, "The argument of cases(), where that takes one.")


def load_cases(package: str, part: int | None = None) -> list[Case]:
    """Return the cases of a kernel's cases.py, or those of a part of random ones."""
    if part is None:
        importlib.import_module(f"{package}.kernel")
    arguments = () if part is None else (part,)
    found = importlib.import_module(f"{package}.cases").cases(*arguments)
    cases = list(cast(Iterable[Case], found))
    names = [case.name for case in cases]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise ValueError(f"cases of {package} share a name: {sorted(repeated)}")
    return cases


def main(argv: list[str]) -> None:
    del argv
    host = CaseProgram("scalar")
    # Small boards have no room for more, and run the same sources as the host.
    boards = {isa: CaseProgram(isa, farther=isa not in PLAIN) for isa in get_args(Isa)}
    if _PART.value is not None:
        boards |= {isa: CaseProgram(isa, protected=True) for isa in boards if isa not in PLAIN}
    for case in load_cases(_PACKAGE.value, _PART.value):
        expected = expected_outputs(case)
        host.add(case, expected)
        for isa, program in boards.items():
            if case.board in (True, isa):
                program.add(case, expected)
    for name, program in {"host": host, **boards}.items():
        Path(f"{_OUTPUT.value}.{name}.c").write_text(program.text())


if __name__ == "__main__":
    app.run(main)
