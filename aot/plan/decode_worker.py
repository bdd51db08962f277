# SPDX-License-Identifier: Apache-2.0
"""Worker to decode a .pte for actions: milliseconds of work, after importing torch.

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
