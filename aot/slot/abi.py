# SPDX-License-Identifier: Apache-2.0
"""ABI numbers, which change if firmware would misread older packages."""

import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aot.pte.conventions import LAYOUTS
from kernels.accesses import accesses
from kernels.common.tensor import DTYPES

_ROOT = Path(__file__).parents[2]
_PLAN = (
    "firmware/runtime/plan.h",
    "kernels/common/types.h",
    "kernels/common/dtype.h",
    "firmware/slot/package.h",
)
_SHARED = ("kernels/common/broadcast.h", "kernels/common/reduction.h")


def plan_abi() -> int:
    """Return the ABI number of the structs of plans and packages."""
    return zlib.crc32(_structure(*_PLAN).encode())


def kernel_abi(function: str) -> int:
    """Return the ABI number of a kernel's structs, and of the packing of its constants."""
    access = accesses()[function]
    headers = (access.header, *_included(access.header), *_SHARED)
    text = f"{function} {access.revision} {_structure(*headers)}"
    return zlib.crc32(text.encode())


def io_hash(plan: Mapping[str, Any]) -> int:
    """Hash dtypes, layouts and shapes of inputs and outputs of a plan.json."""
    words = []
    for side in ("inputs", "outputs"):
        words.append(len(plan[side]))
        for port in plan[side]:
            dtype, layout = list(DTYPES).index(port["dtype"]), LAYOUTS.index(port["layout"])
            words += [dtype | layout << 8 | len(port["shape"]) << 16, *port["shape"]]
    value = 2166136261
    for word in words:
        value = (value ^ word) * 16777619 & 0xFFFFFFFF
    return value


def _structure(*headers: str) -> str:
    """Return the declarations of headers, without comments and white space."""
    text = "".join((_ROOT / header).read_text() for header in headers)
    return re.sub(r"\s+", " ", re.sub(r"//[^\n]*", "", text))


def _included(header: str) -> list[str]:
    """Return the headers that a header includes from its own folder, because they have structs."""
    text = (_ROOT / header).read_text()
    return re.findall(rf'#include "({Path(header).parent}/[^"]+)"', text)
