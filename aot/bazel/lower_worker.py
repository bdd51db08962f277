# SPDX-License-Identifier: Apache-2.0
"""Worker for lowering actions: the command line, with the runfiles of the model's own program.

lower_worker --flagfile=net.pte-0.params
"""

from __future__ import annotations

from tools.imports import imports_that_stay
from tools.text.signal_handling import run_main

from collections.abc import Sequence
from functools import partial
from pathlib import Path

with imports_that_stay():
    from absl import flags

    import aot.upstream.torch_export  # noqa: F401  the first export would import it
    from aot import lower_main
    from tools.worker.bazel_worker import run_actions, runfiles

_RUNFILES = flags.DEFINE_string("runfiles", None, "where they are (bazel_worker.py)", required=True)


def main(argv: Sequence[str]) -> None:
    with runfiles(Path(_RUNFILES.value)):
        lower_main.main(argv)


if __name__ == "__main__":
    run_actions(partial(run_main, main))
