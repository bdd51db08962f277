# SPDX-License-Identifier: Apache-2.0
"""Test of archives of the corpus: every payload exact, or a Vela bug that is known."""

from __future__ import annotations

from pathlib import Path

from absl import app, flags

from tests.ethos_u.corpus.check import Result, check_archive, estimate_errors, score_table
from tests.ethos_u.corpus.reference import FILLERS

_INPUTS = flags.DEFINE_list("inputs", list(FILLERS), "Kinds of inputs.")


def _estimates(results: list[Result]) -> str:
    """Cycles of the operations with MACs, and of all, against Vela's."""
    lines = [
        f"{'graph':<24} {'configuration':<16} {'memory mode':<20} {'MAC ops':>10} {'Vela':>10} "
        f"{'all ops':>10} {'Vela':>10}"
    ]
    for r in results:
        if not r.vela_bug:
            lines.append(
                f"{r.graph:<24} {r.accelerator:<16} {r.memory_mode:<20} "
                f"{r.estimate.mac_cycles:>10} {r.vela.mac_cycles:>10} "
                f"{r.estimate.cycles:>10} {r.vela.cycles:>10}"
            )
    return "\n".join(lines)


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
