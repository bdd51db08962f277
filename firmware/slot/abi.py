# SPDX-License-Identifier: Apache-2.0
"""Numbers that change when a package made before would be read wrongly."""

import zlib

from firmware.slot.bounds import BOUNDS
from firmware.slot.expressions import structure

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
    text = f"{function} {bounds.revision} {structure(bounds.header, *_SHARED)}"
    return zlib.crc32(text.encode())
