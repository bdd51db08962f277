# SPDX-License-Identifier: Apache-2.0
"""`dtype.h`, the C form of the table of element types in `tensor.py`.

bazel run //kernels/common:dtype_header        # writes it anew
"""

from __future__ import annotations

from tools.text.signal_handling import run_main

import os
from pathlib import Path

from absl import app

from kernels.common.tensor import DTYPES

_HEADER = """// SPDX-License-Identifier: Apache-2.0
// The element types of tensors, from tensor.py: dtype_header.py writes this file.
#ifndef KERNELS_COMMON_DTYPE_H_
#define KERNELS_COMMON_DTYPE_H_

#include <stdint.h>

typedef enum {{
{codes}}} pl_dtype;

// Bytes of one element.
static inline uint32_t pl_dtype_size(pl_dtype dtype) {{
  switch (dtype) {{
{sizes}  }}
}}

#endif  // KERNELS_COMMON_DTYPE_H_
"""


def _enumerator(name: str) -> str:
    """Return the C name of an element type."""
    return f"PL_DTYPE_{name.upper()}"


def header() -> str:
    """Return the text of the header."""
    codes = "".join(f"  {_enumerator(name)} = {code},\n" for code, name in enumerate(DTYPES))
    sizes = ""
    *small, largest = sorted({dtype.bytes for dtype in DTYPES.values()})
    for size in small:
        names = [name for name, dtype in DTYPES.items() if dtype.bytes == size]
        sizes += "".join(f"    case {_enumerator(name)}:\n" for name in names)
        sizes += f"      return {size};\n"
    sizes += f"    default:\n      return {largest};\n"
    return _HEADER.format(codes=codes, sizes=sizes)


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError("this program takes no arguments")
    workspace = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    (workspace / "kernels/common/dtype.h").write_text(header())


if __name__ == "__main__":
    run_main(main)
