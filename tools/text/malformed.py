# SPDX-License-Identifier: Apache-2.0
"""The boundary around readers of foreign files: damage ends in one error, not in a traceback."""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

# Python's own errors for damaged bytes. OSError keeps its own text.
_DAMAGE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    RuntimeError,  # zipfile: encrypted; NotImplementedError: an unknown compression
    SyntaxError,  # numpy: the header of an array
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


@contextmanager
def malformed(error: type[ValueError], what: str, *own: type[ValueError]) -> Iterator[None]:
    """Convert a reader's errors on damaged bytes into `error`; keep `error` and `own` unchanged.

    Args:
      error: error type the caller reports in one line.
      what: the file, for the text.
      own: further errors with their own reason.
    """
    try:
        yield
    except (error, *own):
        raise
    except _DAMAGE as found:
        text = " ".join(str(found).split())
        raise error(f"{what} is damaged: {type(found).__name__}: {text}"[:500]) from found
