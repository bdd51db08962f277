# SPDX-License-Identifier: Apache-2.0
"""Print the seconds from an edit to the answer of the simulated board, as the README lists them.

    tools/bazel run //measure/benchmark:inner_loop

Each edit changes one file of this tree, and is undone afterwards. The best of three runs counts.
"""

from tools.text.signal_handling import run_main

import os
import subprocess
import time
from pathlib import Path

from absl import app

from tools.text.table import table

_IMAGE = "//examples/gesture:gesture_app.sim"
_EDITS = {
    "model.py": ("examples/gesture/model.py", "_RUN = {}\n"),
    "a kernel": ("kernels/conv2d/conv2d_s8.c", "extern const int pl_run_{};\n"),
    "a pass": ("aot/passes/fold_qdq.py", "_RUN = {}\n"),
}
"""A file, and the line that an edit adds to it."""

_RUNS = 3


def answer(root: Path) -> float:
    """Run the image and return the seconds until its result.

    Raises:
      CalledProcessError: if the build or the board fails.
    """
    start = time.monotonic()
    command = [str(root / "tools/bazel"), "run", _IMAGE]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    return time.monotonic() - start


def after_edits(root: Path, name: str, line: str) -> float:
    path = root / name
    text = path.read_text()
    try:
        seconds = []
        for run in range(_RUNS):
            path.write_text(text + line.format(time.monotonic_ns() + run))
            seconds.append(answer(root))
        return min(seconds)
    finally:
        path.write_text(text)


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    root = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    answer(root)
    rows = [(edit, f"{after_edits(root, *change):.1f} s") for edit, change in _EDITS.items()]
    print(table([("edit", "until the board's answer"), *rows], "lr"))


if __name__ == "__main__":
    run_main(main)
