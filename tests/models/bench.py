# SPDX-License-Identifier: Apache-2.0
"""Runs the ready-made models on one simulated board per core, and prints their cost.

    bench folder/image ...

The images must mark their steps (--//firmware/runtime:profile_steps). Flash and RAM are those of
the whole image, including constants, excluding the test's inputs and outputs.
"""

from tools.text.signal_handling import run_main

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from boards.board import load_board
from tools.image.profile import profile
from tools.simulator.elf import Elf
from tools.simulator.simulate import simulate
from tools.text.table import table

_VECTORS = re.compile(r"(input|output)_\d+|labels")
_TIME_LIMIT = 600
_LARGEST = 3
_HEADER = ("model", "core", "instructions", "of them", "RAM", "flash", "constants")


def shares(steps: list[dict[str, Any]]) -> str:
    """Return the ops with the most instructions, and their counts."""
    by_op: Counter[str] = Counter()
    for step in steps:
        by_op[step["op"].removeprefix("pl::")] += step["instructions"]
    total = sum(by_op.values())
    return ", ".join(f"{op} {count / total:.0%}" for op, count in by_op.most_common(_LARGEST))


def row(image: Path) -> tuple[str, ...]:
    """Run an image and return its table row."""
    size: dict[str, Any] = json.loads(image.with_suffix(".size.json").read_text())
    model = image.name.removesuffix(f"_{size['board']}")
    plan = json.loads(image.with_suffix(f".{model}_plan.json").read_text())
    elf = image.with_suffix(".elf")
    run = simulate(elf, load_board(_board(size["board"])), time_limit=_TIME_LIMIT, count=True)
    if run.problem:
        raise RuntimeError(f"{image.name}: {run.problem}")
    measured = profile(run, size, [plan])
    vectors = sum(s.size for s in Elf(elf).symbols if _VECTORS.fullmatch(s.name))
    used = {
        kind: sum(m["used"] for m in size["memories"] if m["kind"] == kind)
        for kind in ("ram", "flash")
    }
    return (
        model,
        size["core"],
        f"{measured['instructions']:,}",
        shares(measured["steps"]),
        f"{used['ram']:,}",
        f"{used['flash'] - vectors:,}",
        f"{plan['weights']['bytes']:,}",
    )


def _board(name: str) -> Path:
    return Path("boards") / name / f"{name}.json"


def main(argv: list[str]) -> None:
    print(table([_HEADER, *(row(Path(image)) for image in argv[1:])], "llrlrrr"))


if __name__ == "__main__":
    run_main(main)
