# SPDX-License-Identifier: Apache-2.0
"""Programs that export with ExecuTorch, called as in build actions: with their own runfiles.

export_worker --flagfile=linear_archive-0.params
"""

from tools.imports import imports_that_stay

import importlib
import logging
import os
import sys
import warnings
from pathlib import Path

with imports_that_stay():
    # Its compiler and Arm's backend, and other imports of an export's first action.
    import executorch.backends.arm.arm_vela
    import executorch.backends.arm.ethosu
    import executorch.backends.arm.quantizer
    import executorch.backends.arm.tosa.partitioner  # noqa: F401
    import torchao.quantization.pt2e.quantize_pt2e  # noqa: F401
    from absl import app, flags

    import aot.upstream.torch_export  # noqa: F401
    from tools.worker.bazel_worker import run_actions, runfiles

_RUNFILES = flags.DEFINE_string("runfiles", None, "where they are (bazel_worker.py)", required=True)
_MODULE = flags.DEFINE_string("module", None, "the program's, with a function main", required=True)


def program() -> None:
    flags.FLAGS(sys.argv, known_only=True)
    # Progress messages of the tools have no reader: errors are on stderr.
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    with runfiles(Path(_RUNFILES.value)):
        app.run(importlib.import_module(_MODULE.value).main)


if __name__ == "__main__":
    run_actions(program)
