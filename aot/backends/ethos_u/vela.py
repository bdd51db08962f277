# SPDX-License-Identifier: Apache-2.0
"""From TOSA to ExecuTorch's payload: Vela, and the packing of ExecuTorch's own Arm backend."""

from __future__ import annotations

from executorch.backends.arm.arm_vela import vela_compile

from aot.backends.ethos_u.npus import Npu
from aot.backends.ethos_u.printed import captured

_SHOWN_LINES = 3


class VelaError(RuntimeError):
    """What Vela refuses, with the end of what it printed."""


def compile_tosa(tosa: bytes, npu: Npu) -> bytes:
    """The payload: commands, weights, and where inputs and outputs lie. It names no file and no
    time: the same graph gives the same bytes.

    Raises:
      VelaError: Vela does not compile the graph.
    """
    flags = [
        f"--accelerator-config={npu.name}",
        "--config=Arm/vela.ini",
        "--output-format=raw",
        f"--system-config={npu.system_config}",
        f"--memory-mode={npu.memory_mode}",
    ]
    with captured() as printed:
        try:
            payload: bytes = vela_compile(tosa, flags)
        except (Exception, SystemExit) as error:
            last = [line for line in printed().splitlines() if line.strip()][-_SHOWN_LINES:]
            raise VelaError(f"Vela: {'; '.join([str(error), *last])}") from error
    return payload
