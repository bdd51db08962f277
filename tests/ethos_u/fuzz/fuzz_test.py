# SPDX-License-Identifier: Apache-2.0
"""Runs fuzz_main; sanitizers end it at the first finding."""

from __future__ import annotations

import subprocess

from absl import app, flags

_PROGRAM = flags.DEFINE_string("program", None, "fuzz_main.", required=True)
_SEEDS = flags.DEFINE_string("seeds", None, "Its seeds.", required=True)
_RUNS = flags.DEFINE_integer("runs", None, "How many mutations.", required=True)
_SECONDS = flags.DEFINE_integer("seconds", None, "A hang takes longer.", required=True)


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    command = [_PROGRAM.value, _SEEDS.value, str(_RUNS.value)]
    subprocess.run(command, check=True, timeout=_SECONDS.value)


if __name__ == "__main__":
    app.run(main)
