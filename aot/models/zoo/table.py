# SPDX-License-Identifier: Apache-2.0
"""Runs the zoo on its simulated board, and prints quality and cost of each network.

    table model ...

Flash is the whole image without the test's inputs and outputs. "Equal to the reference" means equal
to the bit, in all runs.
"""

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

_FOLDER = Path("aot/models/zoo")
_BOARD = Path("boards/corstone300/corstone300.json")
_VECTORS = re.compile(r"(input|output)_\d+|labels")
_TIME_LIMIT = 600
_HEADER = (
    "model",
    "MACs",
    "SQNR",
    "float",
    "int8",
    "board",
    "equal",
    "arena",
    "flash",
    "instructions",
)


def row(model: str) -> tuple[str, ...]:
    """Return the table row of a model, after a run of its image."""

    def read(name: str) -> dict[str, Any]:
        fields: dict[str, Any] = json.loads((_FOLDER / name).read_text())
        return fields

    report, size = read(f"{model}.report.json"), read(f"{model}_app.size.json")
    plan = read(f"{model}_app.{model}_plan.json")
    elf = _FOLDER / f"{model}_app.elf"
    run = simulate(elf, load_board(_BOARD), time_limit=_TIME_LIMIT, count=True)
    if run.problem:
        raise RuntimeError(f"{model}: {run.problem}")
    quality = report["quality"]
    accuracy = quality["accuracy"] or {}
    shown = [f"{accuracy[kind]:.2%}" if accuracy else "" for kind in ("float32", "int8")]
    total = next(iter(run.stats.values()))
    right = run.stats.get("correct on device")
    shown.append("" if right is None else f"{right / total:.2%}")
    equal = list(run.stats.values())[-1]
    vectors = sum(s.size for s in Elf(elf).symbols if _VECTORS.fullmatch(s.name))
    flash = sum(m["used"] for m in size["memories"] if m["kind"] == "flash") - vectors
    return (
        model,
        f"{sum(op['macs'] for op in report['ops']):,}",
        f"{min(output['sqnr_db'] for output in quality['outputs']):.1f} dB",
        *shown,
        f"{equal} of {total}",
        f"{plan['arena']['bytes']:,}",
        f"{flash:,}",
        f"{profile(run, size, [plan])['instructions']:,}",
    )


def main(argv: list[str]) -> None:
    print(table([_HEADER, *map(row, argv[1:])], "lrrrrrrrrr"))


if __name__ == "__main__":
    run_main(main)
