# SPDX-License-Identifier: Apache-2.0
"""The flag that has a program import a user's modules, which define ops or find kernels."""

import importlib

from absl import flags

_LOAD = flags.DEFINE_multi_string("load", [], "Modules with ops (op.py) and kernels (kernel.py).")


def load_modules() -> None:
    """Imports what the flag names.

    Raises:
        ImportError: there is no such module, or it does not import.
    """
    for name in _LOAD.value:
        importlib.import_module(name)
