# SPDX-License-Identifier: Apache-2.0
"""Runs networks on boards with an NPU, and prints their cost.

    table name ...

The images must mark their steps (--//firmware/runtime:profile_steps). "Equal" is the number of
outputs equal to the reference, bit for bit. NPU cycles are the functional model's estimates.
Instructions are those of the core's own ops, in one inference.
"""

from __future__ import annotations

from tools.text.signal_handling import run_main

import json
import re
from pathlib import Path
from typing import Any

from boards.board import load_board
from tools.image.profile import profile
from tools.simulator.elf import Elf
from tools.simulator.simulate import simulate
from tools.text.table import table

_FOLDER = Path("measure/ethos_u/models")
_VECTORS = re.compile(r"(input|output)_\d+|labels")
_TIME_LIMIT = 600
_DELEGATE = "delegate::"
_HEADER = (
    "model",
    "NPU",
    "equal",
    "delegates",
    "ops on the core",
    "instructions",
    "NPU cycles",
    "arena",
    "flash",
)


def row(name: str) -> tuple[str, ...]:
    """Return the table row of a model, after a run of its image."""

    def read(file: str) -> dict[str, Any]:
        fields: dict[str, Any] = json.loads((_FOLDER / file).read_text())
        return fields

    report, size = read(f"{name}.report.json"), read(f"{name}_app.size.json")
    plan = read(f"{name}_app.{name.replace('-', '_')}_plan.json")
    elf = _FOLDER / f"{name}_app.elf"
    board = load_board(next(Path("boards").glob(f"*/{size['board']}.json")))
    run = simulate(elf, board, time_limit=_TIME_LIMIT, count=True)
    if run.problem:
        raise RuntimeError(f"{name}: {run.problem}")
    steps = profile(run, size, [plan])["steps"]
    on_core = sum(step["instructions"] for step in steps if not step["op"].startswith(_DELEGATE))
    delegates = report["delegates"]
    total, equal = next(iter(run.stats.values())), list(run.stats.values())[-1]
    vectors = sum(s.size for s in Elf(elf).symbols if _VECTORS.fullmatch(s.name))
    flash = sum(m["used"] for m in size["memories"] if m["kind"] == "flash") - vectors
    model, _, npu = name.partition("_ethos")
    return (
        model,
        "ethos" + npu,
        f"{equal} of {total}",
        str(len(delegates)),
        str(sum(op["runs_on"] == "cortex_m" for op in report["ops"])),
        f"{on_core:,}",
        f"{sum(d['report']['cycles'] for d in delegates):,}",
        f"{plan['arena']['bytes']:,}",
        f"{flash:,}",
    )


def main(argv: list[str]) -> None:
    print(table([_HEADER, *map(row, argv[1:])], "llrrrrrrr"))


if __name__ == "__main__":
    run_main(main)
