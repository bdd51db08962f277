# SPDX-License-Identifier: Apache-2.0
"""The commands that `pip install .` gives (pyproject.toml)."""

import os
import runpy
import sys


def _run(module: str) -> None:
    sys.path.append(os.getcwd())  # as `python -m` would: models are found from here
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def lower() -> None:
    """pilotlight-lower: a PyTorch model becomes a .pte."""
    _run("aot.lower_main")


def plan() -> None:
    """pilotlight-plan: a .pte becomes C for a board."""
    _run("firmware.plan.compile")
