# SPDX-License-Identifier: Apache-2.0
"""The boundary around readers of foreign files: damage ends in one error, not in a traceback."""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

# Python's own errors about bytes that are not what a reader expects. OSError keeps its own text.
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
    """Turn what a reader raises on damaged bytes into `error`; keep `error` and `own` as they are.

    Args:
      error: what the caller reports in one line.
      what: the file, for the text.
      own: further errors that give their reason already.
    """
    try:
        yield
    except (error, *own):
        raise
    except _DAMAGE as found:
        text = " ".join(str(found).split())
        raise error(f"{what} is damaged: {type(found).__name__}: {text}"[:500]) from found
