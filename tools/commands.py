# SPDX-License-Identifier: Apache-2.0
"""The commands that `pip install .` gives (pyproject.toml)."""

from tools.text.stoppable import stoppable

import importlib
import os
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

_PACKAGES = ("aot", "boards", "firmware", "kernels", "tools")


def _find_models_in(folder: Path) -> None:
    """Adds a folder to where modules are found, behind all others. One of its folders may have the
    name of a package of ours: with an __init__.py it would be found in place of that, were ours not
    imported first; they are searched in both.
    """
    packages = {name: importlib.import_module(name) for name in _PACKAGES}
    sys.path.append(str(folder))
    for name, package in packages.items():
        if (folder / name / "__init__.py").exists():
            package.__path__ = [*package.__path__, str(folder / name)]


def _run(module: str) -> None:
    def main(argv: Sequence[str]) -> None:
        del argv  # the program reads sys.argv
        runpy.run_module(module, run_name="__main__", alter_sys=True)

    _find_models_in(Path(os.getcwd()))
    sys.exit(stoppable(main)(sys.argv))


def lower() -> None:
    """pilotlight-lower: a PyTorch model becomes a .pte."""
    _run("aot.lower_main")


def plan() -> None:
    """pilotlight-plan: a .pte becomes C for a board."""
    _run("firmware.plan.compile")
