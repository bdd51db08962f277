# SPDX-License-Identifier: Apache-2.0
"""The commands that `pip install .` gives (pyproject.toml)."""

import os
import runpy
import sys
from collections.abc import Sequence

from tools.text.stoppable import stoppable


def _run(module: str) -> None:
    def main(argv: Sequence[str]) -> None:
        del argv  # the program reads sys.argv
        runpy.run_module(module, run_name="__main__", alter_sys=True)

    sys.path.append(os.getcwd())  # as `python -m` would: models are found from here
    sys.exit(stoppable(main)(sys.argv))


def lower() -> None:
    """pilotlight-lower: a PyTorch model becomes a .pte."""
    _run("aot.lower_main")


def plan() -> None:
    """pilotlight-plan: a .pte becomes C for a board."""
    _run("firmware.plan.compile")
