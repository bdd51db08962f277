# SPDX-License-Identifier: Apache-2.0
"""Generate random .tflite files, and print those with a violated property.

tools/bazel run //tests/tflite:random -- --count=1000 --seed=1
"""

from tools.imports import imports_that_stay
from tools.text.signal_handling import run_main

import sys
from collections import Counter
from pathlib import Path

with imports_that_stay():
    import torch
    from absl import app, flags

    from aot.importers.tflite.file import read
    from tests.tflite.drawn import drawn, problems

_COUNT = flags.DEFINE_integer("count", 1000, "How many.", 1)
_SEED = flags.DEFINE_integer("seed", 0, "Of the first.", 0)
_KEEP = flags.DEFINE_string("keep", "", "A folder for the files that are wrong.")


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    torch.set_num_threads(1)
    wrong, ops = 0, Counter[str]()
    for seed in range(_SEED.value, _SEED.value + _COUNT.value):
        data = drawn(seed)
        ops.update(op.name for op in read(data)[0].operators)
        try:
            found = problems(data)
        except Exception as error:  # any exception is a finding
            found = [f"{type(error).__name__}: {error}"]
        wrong += bool(found)
        for problem in found:
            print(f"{seed}: {problem}", flush=True)
        if found and _KEEP.value:
            Path(_KEEP.value, f"{seed}.tflite").write_bytes(data)
    print(f"{_COUNT.value} files with {ops.total():,} ops, {wrong} of them wrong; of each op")
    print(", ".join(f"{count} {name}" for name, count in ops.most_common()))
    sys.exit(wrong > 0)


if __name__ == "__main__":
    run_main(main)
