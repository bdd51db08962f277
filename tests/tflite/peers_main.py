# SPDX-License-Identifier: Apache-2.0
"""Runs the .tflite files of MLPerf Tiny's networks on a simulated board a core, and prints what
they take beside what TFLite Micro and ExecuTorch take: the README's table and docs/tflite.md's.

tools/bazel run //tests/tflite:peers
"""

from tools.text.signal_handling import run_main

import json
import re
from pathlib import Path
from typing import Any

from boards.board import load_board
from tests.tflite.recorded import EXECUTORCH, EXECUTORCH_CORE, TFLM, Recorded
from tools.image.profile import profile
from tools.simulator.elf import Elf
from tools.simulator.simulate import simulate
from tools.text.table import table

_VECTORS = re.compile(r"(input|output)_\d+")
_TIME_LIMIT = 600


def _header(theirs: str) -> tuple[str, ...]:
    return ("model", "core", "instructions", theirs, "flash", theirs, "RAM", theirs)


def measured(image: Path) -> Recorded:
    """Measure an image, with the same figures as recorded for TFLite Micro. Flash excludes the
    model's constants and the test vectors. RAM includes the stack reachable by the program.
    """
    size: dict[str, Any] = json.loads(image.with_suffix(".size.json").read_text())
    (plan_path,) = image.parent.glob(f"{image.name}.*_plan.json")
    plan = json.loads(plan_path.read_text())
    elf, board = image.with_suffix(".elf"), Path("boards") / size["board"] / f"{size['board']}.json"
    run = simulate(elf, load_board(board), time_limit=_TIME_LIMIT, count=True)
    if run.problem:
        raise RuntimeError(f"{image.name}: {run.problem}")
    used = {
        kind: sum(m["used"] for m in size["memories"] if m["kind"] == kind)
        for kind in ("ram", "flash")
    }
    others = sum(s.size for s in Elf(elf).symbols if _VECTORS.fullmatch(s.name))
    stack = size["stack"]
    return Recorded(
        round(profile(run, size, [])["instructions"] / 1000),
        round((used["flash"] - others - plan["weights"]["bytes"]) / 1000, 1),
        used["ram"] - stack["size"] + stack["bound"],
    )


def row(name: str, core: str, own: Recorded, theirs: Recorded) -> tuple[str, ...]:
    return (
        name,
        core,
        f"{own.instructions:,} k",
        f"{theirs.instructions:,} k",
        f"{own.flash} KB",
        f"{theirs.flash} KB",
        f"{own.ram:,}",
        "" if theirs.ram is None else f"{theirs.ram:,}",
    )


def main(argv: list[str]) -> None:
    tflm, executorch = [_header("TFLM's")], [_header("ExecuTorch's")]
    for image in map(Path, argv[1:]):
        core = json.loads(image.with_suffix(".size.json").read_text())["core"]
        name = next(name for name in TFLM if image.name.startswith(name))
        own = measured(image)
        tflm.append(row(name, core, own, TFLM[name][core]))
        if core == EXECUTORCH_CORE:
            executorch.append(row(name, core, own, EXECUTORCH[name]))
    print(table(tflm, "llrrrrrr"), table(executorch, "llrrrrrr"), sep="\n\n")


if __name__ == "__main__":
    run_main(main)
