# SPDX-License-Identifier: Apache-2.0
"""The flag --load: modules of the user with ops or kernel selections."""

import importlib

from absl import flags

_LOAD = flags.DEFINE_multi_string("load", [], "Modules with ops (op.py) and kernels (kernel.py).")


def load_modules() -> None:
    """Import the modules named by the flag.

    Raises:
        ImportError: there is no such module, or it does not import.
    """
    for name in _LOAD.value:
        importlib.import_module(name)
