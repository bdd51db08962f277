# SPDX-License-Identifier: Apache-2.0
"""Numbers that change when a package made before would be read wrongly."""

import re
import zlib
from pathlib import Path

from firmware.slot.bounds import BOUNDS
from firmware.slot.expressions import structure

_ROOT = Path(__file__).parents[2]
_PLAN = (
    "firmware/runtime/plan.h",
    "kernels/common/types.h",
    "kernels/common/dtype.h",
    "firmware/slot/package.h",
)
_SHARED = ("kernels/common/broadcast.h", "kernels/common/reduction.h")


def plan_abi() -> int:
    """Of the structs of plans and packages."""
    return zlib.crc32(structure(*_PLAN).encode())


def kernel_abi(function: str) -> int:
    """Of a kernel's structs, and of how its constants are packed."""
    bounds = BOUNDS[function]
    headers = (bounds.header, *_included(bounds.header), *_SHARED)
    text = f"{function} {bounds.revision} {structure(*headers)}"
    return zlib.crc32(text.encode())


def _included(header: str) -> list[str]:
    """Headers of its folder that a header includes, for their structs."""
    text = (_ROOT / header).read_text()
    return re.findall(rf'#include "({Path(header).parent}/[^"]+)"', text)
