# SPDX-License-Identifier: Apache-2.0
"""Worker of the plan compiler, for build actions.

compile_worker --flagfile=net.plan.c-0.params
"""

from tools.imports import imports_that_stay
from tools.text.signal_handling import run_main

from functools import partial

with imports_that_stay():
    from aot.plan.compile import main
    from kernels.registry import all_kernels
    from tools.worker.bazel_worker import run_actions

    all_kernels()

if __name__ == "__main__":
    run_actions(partial(run_main, main))
