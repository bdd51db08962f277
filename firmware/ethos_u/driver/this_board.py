# SPDX-License-Identifier: Apache-2.0
"""Writes a program's data on its board's NPU, from board.json: this_board.c for the driver, and
this_npu.c, the same as an engine.

    this_board --board=board.json --output=this_board.c --npu_output=this_npu.c
"""

from __future__ import annotations

from pathlib import Path

from absl import app, flags

from boards.board import AxiLimit, Board, load_board
from firmware.ethos_u import this_npu

_BOARD = flags.DEFINE_string("board", None, "The board's board.json.", required=True)
_OUTPUT = flags.DEFINE_string("output", None, "Where to write this_board.c.")
_NPU_OUTPUT = flags.DEFINE_string("npu_output", None, "Where to write this_npu.c.")

_BEATS = {64: 0, 128: 1, 256: 2}
_SOURCE = """// SPDX-License-Identifier: Apache-2.0
// {description}. Generated from the board's data: do not edit.
#include "firmware/ethos_u/driver/this_board.h"

ethos_u_board ethos_u_this_board(ethos_u_device *simulator) {{
{unused}  return (ethos_u_board){{
      .base = {base:#010x},
      .irq = {irq},
      .privileged = true,
      .memory_mode = ETHOS_U_{mode},
      .axi_limits = {{{limits}}},
      .reset_ticks = {reset_polls},
      .run_ticks = {run_polls},
      .simulator = {simulator},
  }};
}}
"""

# Without a clock a tick is a poll of the NPU (driver.h).
_RESET_POLLS = 100_000
_RUN_POLLS = 1_000_000_000


def _limit(limit: AxiLimit) -> str:
    return (
        f"{{{_BEATS[limit.burst_bytes]}, {limit.memory_type}, "
        f"{limit.outstanding_reads}, {limit.outstanding_writes}}}"
    )


def source(board: Board) -> str:
    """Return the text of the C file. Raises ValueError if the board has no NPU."""
    npu = board.npu
    if npu is None:
        raise ValueError(f"board {board.name} has no NPU: its `npu` is None")
    return _SOURCE.format(
        description=board.description,
        unused="" if npu.simulated else "  (void)simulator;\n",
        base=npu.base,
        irq=npu.irq,
        mode=npu.memory_mode.upper(),
        limits=", ".join(_limit(limit) for limit in npu.axi_limits),
        reset_polls=_RESET_POLLS,
        run_polls=_RUN_POLLS,
        simulator="simulator" if npu.simulated else "NULL",
    )


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    board = load_board(Path(_BOARD.value))
    for output, text in ((_OUTPUT, source), (_NPU_OUTPUT, this_npu.source)):
        if output.value:
            Path(output.value).write_text(text(board))


if __name__ == "__main__":
    app.run(main)
