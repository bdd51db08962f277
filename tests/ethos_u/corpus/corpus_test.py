# SPDX-License-Identifier: Apache-2.0
"""Test of archives of the corpus: every payload is exact, or a known Vela bug."""

from __future__ import annotations

from pathlib import Path

from absl import app, flags

from tests.ethos_u.corpus.check import Result, check_archive, estimate_errors, score_table
from tests.ethos_u.corpus.reference import FILLERS
from tools.text.table import table

_INPUTS = flags.DEFINE_list("inputs", list(FILLERS), "Kinds of inputs.")


def _estimates(results: list[Result]) -> str:
    """Return the cycles of operations with MACs, and of all, relative to Vela's."""
    names = ("graph", "configuration", "memory mode", "MAC ops", "Vela", "all ops", "Vela")
    rows = [
        (
            *(r.graph, r.accelerator, r.memory_mode),
            *(r.estimate.mac_cycles, r.vela.mac_cycles, r.estimate.cycles, r.vela.cycles),
        )
        for r in results
        if not r.vela_bug
    ]
    return table([names, *rows], "lllrrrr")


def main(argv: list[str]) -> None:
    results = []
    for path in argv[1:]:
        results += check_archive(Path(path), _INPUTS.value)
    print("estimated cycles\n" + _estimates(results) + "\n")
    print(score_table(results))
    print(estimate_errors(results))
    failures = [result for result in results if result.failure]
    for result in failures:
        print(f"{result.graph} {result.accelerator} {result.memory_mode}: {result.failure}")
    if failures or not results:
        raise SystemExit(f"{len(failures)} of {len(results)} payloads failed")


if __name__ == "__main__":
    app.run(main)
