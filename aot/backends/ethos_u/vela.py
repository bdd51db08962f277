# SPDX-License-Identifier: Apache-2.0
"""Compilation from TOSA to ExecuTorch's payload: Vela, and the packing of ExecuTorch's own Arm
backend.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import aot.upstream.executorch  # noqa: F401  (first: it leaves ExecuTorch's compiler out)

# isort: split
from executorch.backends.arm.arm_vela import vela_compile

from aot.backends.ethos_u.layers import NpuLayer, layers_of
from aot.backends.npus import Npu
from tools.text.printed import captured

_SHOWN_LINES = 3
_KEPT = 32


class VelaError(RuntimeError):
    """Refusal by Vela, with the end of its output."""


@dataclass(frozen=True)
class VelaProgram:
    """Vela's program for a graph.

    Attributes:
      payload: commands, weights, and places of inputs and outputs. It contains no file
        name and no time: the same graph gives the same bytes.
      layers: Vela's figures for its operations.
    """

    payload: bytes
    layers: list[NpuLayer]

    @property
    def cycles(self) -> int:
        return sum(layer.cycles for layer in self.layers)


@lru_cache(maxsize=_KEPT)
def compile_tosa(tosa: bytes, npu: Npu) -> VelaProgram:
    """Return the program of a graph. The latest ones are cached: parts of a region are compiled to
    find its placement, and again as delegates.

    Raises:
      VelaError: Vela does not compile the graph.
    """
    flags = [
        f"--accelerator-config={npu.name}",
        f"--config={npu.vela_ini}",
        "--output-format=raw",
        f"--system-config={npu.system_config}",
        f"--memory-mode={npu.memory_mode}",
        "--enable-debug-db",
    ]
    with tempfile.TemporaryDirectory() as folder, captured() as printed:
        try:
            payload: bytes = vela_compile(tosa, flags, intermediate_path=folder)
        except (Exception, SystemExit) as error:
            last = [line for line in printed().splitlines() if line.strip()][-_SHOWN_LINES:]
            raise VelaError(f"Vela: {'; '.join([str(error), *last])}") from error
        (database,) = Path(folder, "output").glob("*_debug.xml")
        return VelaProgram(payload, layers_of(database.read_text()))
