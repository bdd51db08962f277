# SPDX-License-Identifier: Apache-2.0
"""Worker that decodes a .pte for build actions: milliseconds, once torch is imported.

decode_worker --flagfile=net.program-0.params
"""

from tools.imports import imports_that_stay

from functools import partial

with imports_that_stay():
    from absl import app

    from aot.plan.decode import main
    from tools.worker.bazel_worker import run_actions

if __name__ == "__main__":
    run_actions(partial(app.run, main))
