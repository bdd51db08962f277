# SPDX-License-Identifier: Apache-2.0
"""Writes the C programs for the test of an op, as build actions do: with the runfiles of the op's
own program.

generate_worker --flagfile=lut_test.sources.host.c-0.params
"""

from tools.imports import imports_that_stay

import sys
from pathlib import Path

with imports_that_stay():
    from absl import app, flags

    import kernels.testing.oracle  # noqa: F401  for torch and the dialect
    from tools.worker.bazel_worker import run_actions, runfiles

_RUNFILES = flags.DEFINE_string("runfiles", None, "where they are (bazel_worker.py)", required=True)


def program() -> None:
    flags.FLAGS(sys.argv, known_only=True)
    with runfiles(Path(_RUNFILES.value)):
        from kernels.testing import generate  # here: it looks up the existing kernels

        app.run(generate.main)


if __name__ == "__main__":
    run_actions(program)
