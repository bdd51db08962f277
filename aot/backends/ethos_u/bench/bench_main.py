# SPDX-License-Identifier: Apache-2.0
"""Lowers the cases for some NPUs, here and by ExecuTorch's Arm backend, and prints both sides by
Vela's figures; with --output they are written, too.

    bazel run //aot/backends/ethos_u/bench -- --output=bench.json
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path

from absl import app, flags

from aot.backends.ethos_u.bench.cases import CASES
from aot.backends.ethos_u.bench.sides import ours, upstreams
from aot.targets.npus import NPUS
from tools.text.table import table

_CASES = flags.DEFINE_list("cases", list(CASES), "Which models.")
_CONFIGURATIONS = flags.DEFINE_list(
    "configurations", ["ethos-u55-128", "ethos-u65-256", "ethos-u85-256"], "Which NPUs."
)
_OUTPUT = flags.DEFINE_string("output", None, "Where to write the figures, as JSON.")
_COLUMNS = ("cycles", "operations", "sram", "flash", "sqnr_db", "delegates", "cpu_ops")


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    for flag, known in ((_CASES, CASES), (_CONFIGURATIONS, NPUS)):
        if unknown := set(flag.value) - set(known):
            raise app.UsageError(f"--{flag.name}: there is no {min(unknown)!r}")
    results = []
    rows: list[tuple[object, ...]] = [("model", "configuration", "side", *_COLUMNS)]
    for case in _CASES.value:
        for configuration in _CONFIGURATIONS.value:
            for side, lowering in (("ours", ours), ("upstream", upstreams)):
                figures = asdict(lowering(CASES[case], configuration))
                row = {"model": case, "configuration": configuration, "side": side}
                results.append({**row, **figures})
                rows.append((*row.values(), *(figures[c] for c in _COLUMNS)))
    print(table(rows, "lll" + "r" * len(_COLUMNS)))
    if _OUTPUT.value:
        path = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), _OUTPUT.value)
        path.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    app.run(main)
