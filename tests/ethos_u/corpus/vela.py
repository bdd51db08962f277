# SPDX-License-Identifier: Apache-2.0
"""Compiles TOSA with Vela, as ExecuTorch's Arm backend does it."""

from __future__ import annotations

import contextlib
import io
import re

from executorch.backends.arm.arm_vela import vela_compile
from executorch.backends.arm.ethosu import EthosUCompileSpec

from tests.ethos_u.corpus.archive import Estimate


def _estimate(report: str) -> Estimate:
    """Return the sums of Vela's table of operators (`--verbose-performance`)."""
    lines = report.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("Original Operator"))
    # The second line underlines each column.
    columns = [match.span() for match in re.finditer("-+", lines[start + 1])]
    header = [lines[start][first:last].strip() for first, last in columns]
    cycles_column, macs_column = header.index("Op Cycles"), header.index("MAC Count")
    cycles = mac_cycles = macs = 0
    for line in lines[start + 2 :]:
        if not line.strip():
            break
        row = [line[first:last].strip() for first, last in columns]
        cycles += int(row[cycles_column])
        mac_cycles += int(row[cycles_column]) if int(row[macs_column]) else 0
        macs += int(row[macs_column])
    return Estimate(cycles, mac_cycles, macs)


def compile_payload(tosa: bytes, accelerator: str, memory_mode: str) -> tuple[bytes, Estimate]:
    """Compile a TOSA flatbuffer with Vela into ExecuTorch's Ethos-U payload.

    `accelerator` is Vela's name for the NPU ("ethos-u55-128"), `memory_mode` one of its memory
    modes ("Shared_Sram"). Also returns Vela's estimate.
    """
    spec = EthosUCompileSpec(accelerator, memory_mode=memory_mode)
    report = io.StringIO()
    with contextlib.redirect_stdout(report):
        payload: bytes = vela_compile(tosa, [*spec.compiler_flags, "--verbose-performance"])
    return payload, _estimate(report.getvalue())
