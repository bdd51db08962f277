# SPDX-License-Identifier: Apache-2.0
"""Test of archives of the corpus: every payload exact, or a Vela bug that is known."""

from __future__ import annotations

from pathlib import Path

from absl import app, flags

from firmware.ethos_u.corpus.check import Result, check_archive, score_table
from firmware.ethos_u.corpus.reference import FILLERS

_INPUTS = flags.DEFINE_list("inputs", list(FILLERS), "Kinds of inputs.")
_DEFAULT_MODES = flags.DEFINE_bool("default_modes", False, "Vela's default memory modes only.")


def _estimates(results: list[Result]) -> str:
    lines = [f"{'graph':<24} {'configuration':<16} {'cycles':>12} {'Vela':>12} {'ratio':>6}"]
    for r in results:
        if r.vela_cycles and not r.vela_bug:
            lines.append(
                f"{r.graph:<24} {r.accelerator:<16} {r.cycles:>12} {r.vela_cycles:>12} "
                f"{r.cycles / r.vela_cycles:>6.2f}"
            )
    return "\n".join(lines)


def main(argv: list[str]) -> None:
    results = []
    for path in argv[1:]:
        results += check_archive(Path(path), _INPUTS.value, _DEFAULT_MODES.value)
    print("estimated cycles\n" + _estimates(results) + "\n")
    print(score_table(results))
    failures = [result for result in results if result.failure]
    for result in failures:
        print(f"{result.graph} {result.accelerator} {result.memory_mode}: {result.failure}")
    if failures or not results:
        raise SystemExit(f"{len(failures)} of {len(results)} payloads failed")


if __name__ == "__main__":
    app.run(main)
