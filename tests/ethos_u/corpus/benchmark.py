# SPDX-License-Identifier: Apache-2.0
"""Processor time of the model for the corpus on this machine, and for MobileNetV2 under QEMU.

tools/bazel run //tests/ethos_u/corpus:benchmark
"""

from __future__ import annotations

from tools.text.signal_handling import run_main

import resource
import time
from pathlib import Path

from absl import flags

from boards.board import load_board
from npu.ethos_u.npu_model import EthosUModel
from tests.ethos_u.corpus.archive import read_archive
from tests.ethos_u.corpus.reference import make_inputs
from tools.simulator.simulate import simulate
from tools.text.table import table

_ACCELERATOR = flags.DEFINE_string("accelerator", "ethos-u55-128", "Configuration to run.")
_REPEATS = flags.DEFINE_integer("repeats", 5, "The best of so many runs counts.")
_ELF = flags.DEFINE_string("elf", None, "An image to run in its simulator.")
_BOARD = flags.DEFINE_string("board", None, "The image's board.json.")


def _seconds(payload: bytes, name: str, tosa: bytes) -> tuple[float, int]:
    """Return the best time of a run, with its inspection, and the MACs in it."""
    model = EthosUModel(_ACCELERATOR.value)
    inputs = make_inputs(name, "random", tosa)
    best = float("inf")
    for _ in range(_REPEATS.value):
        start = time.process_time()
        model.run(payload, inputs)
        best = min(best, time.process_time() - start)
    return best, model.summary.counts.macs if model.summary else 0


def main(argv: list[str]) -> None:
    rows = [("graph", "MACs", "ms", "M MAC/s")]
    for path in argv[1:]:
        for part in read_archive(Path(path)):
            compiled = next(c for c in part.compiled if c.accelerator == _ACCELERATOR.value)
            seconds, macs = _seconds(compiled.payload, part.name, part.tosa)
            rate = f"{macs / seconds / 1e6:.0f}"
            rows.append((part.name, f"{macs:,}", f"{seconds * 1e3:.2f}", rate))
    print("on this machine\n" + table(rows, "lrrr"))
    if _ELF.value:
        start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        run = simulate(Path(_ELF.value), load_board(Path(_BOARD.value or "")))
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start
        print(f"\n{run.console}{run.problem}\n{seconds:.2f} s in QEMU, its start included")


if __name__ == "__main__":
    run_main(main)
