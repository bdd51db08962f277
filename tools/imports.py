# SPDX-License-Identifier: Apache-2.0
"""Imports of torch and of packages built on it. A program's own imports come first."""

from tools.text.signal_handling import stopping

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def imports_that_stay() -> Iterator[None]:
    """Disable garbage collection inside the `with` block, and exclude the existing objects
    afterwards.

    The imports of torch and ExecuTorch create a million permanent objects. Repeated scans take more
    than a third of the import time. Only for programs: a library leaves this choice to its
    importer. The imports take seconds, and the user may stop the program meanwhile.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        with stopping():
            yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()
