# SPDX-License-Identifier: Apache-2.0
"""Writes a plan's header: its declaration, and macros for apps. The macros take no memory."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from aot.plan.plan import Plan, port_text
from aot.plan.program import Port
from aot.pte.conventions import Layout
from kernels.common.tensor import DTYPES

GENERATED = "// Written by Pilotlight's plan compiler for the board {board}; do not edit.\n"
_DIMENSIONS: dict[Layout, tuple[str, ...]] = {
    "row_major": (),
    "nchw": ("BATCH", "CHANNELS", "HEIGHT", "WIDTH"),
    "nhwc": ("BATCH", "HEIGHT", "WIDTH", "CHANNELS"),
    "nlc": ("BATCH", "LENGTH", "CHANNELS"),
}


def header(plan: Plan, name: str) -> str:
    """Return the header that declares the plan `name`."""
    guard = re.sub(r"\W", "_", f"{name}_H_").upper()
    program = plan.graph.program
    return (
        GENERATED.format(board=plan.board.name)
        + f"#ifndef {guard}\n#define {guard}\n\n"
        + '#include "firmware/runtime/plan.h"\n\n'
        + f"extern const pl_plan {name};\n\n"
        + "".join(_side(plan, name, "input", program.inputs))
        + "".join(_side(plan, name, "output", program.outputs))
        + f"#endif  // {guard}\n"
    )


def _side(plan: Plan, name: str, side: str, ports: Sequence[Port]) -> Iterator[str]:
    prefix = f"{name}_{side}".upper()
    yield f"#define {prefix}S {len(ports)}\n\n"
    labels = [re.sub(r"\W", "_", port.name, flags=re.ASCII).upper() for port in ports]
    count = Counter(labels)
    for index, (port, label) in enumerate(zip(ports, labels, strict=True)):
        yield f"// {port_text(plan, side, index)}\n"
        if label and count[label] == 1 and not label[0].isdigit():
            yield f"#define {prefix}_{label} {index}\n"
        for key, value in _macros(port):
            yield f"#define {prefix}_{index}_{key} {value}\n"
        sizes = "".join(f"[{size}]" for size in port.shape)
        yield f"typedef {DTYPES[port.value.dtype].c_type} {name}_{side}_{index}{sizes};\n\n"


def _macros(port: Port) -> Iterator[tuple[str, object]]:
    """Yield names and values.

    Names of different ports never clash: labels do not begin with a digit.
    """
    yield "TYPE", DTYPES[port.value.dtype].c_type
    yield "LAYOUT", f"PL_LAYOUT_{port.layout.upper()}"
    yield "RANK", len(port.shape)
    yield from ((f"DIM_{axis}", size) for axis, size in enumerate(port.shape))
    yield from zip(_DIMENSIONS[port.layout], port.shape, strict=False)
    yield "BYTES", port.value.bytes
    if port.scale:
        yield "SCALE", f"{port.scale:.8e}f"
        yield "ZERO_POINT", f"({port.zero_point})"
    names = [f"d{axis}" for axis in range(len(port.shape))]
    equal = " && ".join(f"({n}) == {size}" for n, size in zip(names, port.shape, strict=True))
    yield f"IS_SHAPE({', '.join(names)})", f"({equal or 1})"
