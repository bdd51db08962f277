# SPDX-License-Identifier: Apache-2.0
"""Lowers the cases for some NPUs, here and by ExecuTorch's Arm backend, and prints Vela's figures
for both sides. With --output each row is written once it is ready. It replaces the file's row of
the same model, configuration and side. You can thus make the rows in several runs.

    bazel run //measure/ethos_u:bench -- --cases=gelu,softmax --output=results.json
"""

from __future__ import annotations

from tools.imports import imports_that_stay
from tools.text.signal_handling import run_main

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

with imports_that_stay():
    from absl import app, flags

    from aot.backends.npus import NPUS
    from measure.ethos_u.cases import CASES
    from measure.ethos_u.sides import ours, upstreams
    from tools.text.table import table

_SIDES = {"ours": ours, "upstream": upstreams}
_CASES = flags.DEFINE_list("cases", list(CASES), "Which models.")
_CONFIGURATIONS = flags.DEFINE_list(
    "configurations", ["ethos-u55-128", "ethos-u65-256", "ethos-u85-256"], "Which NPUs."
)
_WANTED_SIDES = flags.DEFINE_list("sides", list(_SIDES), "Whose lowering.")
_OUTPUT = flags.DEFINE_string("output", None, "Where to write the figures, as JSON.")
_COLUMNS = ("cycles", "operations", "sram", "flash", "sqnr_db", "delegates", "cpu_ops", "wrong")


def _write(path: Path, row: dict[str, Any]) -> None:
    """Write a row to its place. Rows of a case stay together in the order of the cases."""
    place = ("model", "configuration", "side")
    rows = json.loads(path.read_text()) if path.exists() else []
    by_place = {tuple(r[key] for key in place): r for r in (*rows, row)}
    orders = (list(CASES), list(NPUS), list(_SIDES))

    def order(at: tuple[str, ...]) -> list[int]:
        return [names.index(name) for names, name in zip(orders, at, strict=True)]

    kept = [by_place[at] for at in sorted(by_place, key=order)]
    path.write_text(json.dumps(kept, indent=1) + "\n")


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    for flag, known in ((_CASES, CASES), (_CONFIGURATIONS, NPUS), (_WANTED_SIDES, _SIDES)):
        if unknown := set(flag.value) - set(known):
            raise app.UsageError(f"--{flag.name}: there is no {min(unknown)!r}")
    rows: list[tuple[object, ...]] = [("model", "configuration", "side", *_COLUMNS)]
    for case in _CASES.value:
        for configuration in _CONFIGURATIONS.value:
            for side in _WANTED_SIDES.value:
                figures = asdict(_SIDES[side](CASES[case], configuration))
                row = {"model": case, "configuration": configuration, "side": side}
                rows.append((*row.values(), *(figures[c] for c in _COLUMNS)))
                if _OUTPUT.value:
                    directory = os.environ.get("BUILD_WORKING_DIRECTORY", ".")
                    _write(Path(directory, _OUTPUT.value), {**row, **figures})
    print(table(rows, "lll" + "r" * len(_COLUMNS)))


if __name__ == "__main__":
    run_main(main)
