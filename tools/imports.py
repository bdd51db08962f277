# SPDX-License-Identifier: Apache-2.0
"""How programs import torch and what is built on it. A program's own imports come first."""

from tools.text.stoppable import stopping

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def imports_that_stay() -> Iterator[None]:
    """Within it, Python does not look for garbage, and later not among what is there by then: torch
    and ExecuTorch make a million objects that stay, and looking at them again and again takes more
    than a third of their imports' time. For programs: a library leaves that to who imports it. They
    take seconds, in which somebody may stop the program.
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
