# SPDX-License-Identifier: Apache-2.0
"""The text of this_npu.c, the NPU of a board as an engine; driver/this_board.py writes it."""

from __future__ import annotations

from boards.board import Board

_SOURCE = """// SPDX-License-Identifier: Apache-2.0
// {description}. Generated from the board's data: do not edit.
#include "firmware/ethos_u/this_npu.h"

#include <stddef.h>
{model}
ethos_u_status ethos_u_open_this_npu(ethos_u_this_npu *npu, pl_engine *engine) {{
  *npu = (ethos_u_this_npu){{.board = ethos_u_this_board({simulator})}};
  *engine = ethos_u_engine(&npu->npu, "{configuration}");
  return ethos_u_open(&npu->driver, &npu->board, &npu->npu.device);
}}
"""

_MODEL = """
#include "firmware/ethos_u/model/model_device.h"

static uint8_t workspace[{workspace_bytes}]
    __attribute__((section(".bss.pl_arena.{memory}"), aligned(16)));

static ethos_u_device *simulator(void) {{
  static ethos_u_model_device model;
  ethos_u_model_device_init(&model, workspace, sizeof workspace, NULL);
  return &model.device;
}}
"""

_WORKSPACE_BYTES = 4 << 20  # what the model keeps of the largest operation, ten times MobileNetV2's


def source(board: Board) -> str:
    """The text of the C file.

    Raises:
      ValueError: the board has no NPU, or no memory that is large enough for the model's buffers.
    """
    npu = board.npu
    if npu is None:
        raise ValueError(f"board {board.name} has no NPU: its `npu` says so")
    model = ""
    if npu.simulated:
        most = max(board.arena, key=lambda pool: pool.bytes)
        if most.bytes < _WORKSPACE_BYTES:
            raise ValueError(
                f"board {board.name}: the model that its NPU is simulated with takes "
                f"{_WORKSPACE_BYTES} bytes of memory; the largest of its `arena`, {most.name}, has "
                f"{most.bytes}"
            )
        model = _MODEL.format(workspace_bytes=_WORKSPACE_BYTES, memory=most.name)
    return _SOURCE.format(
        description=board.description,
        model=model,
        simulator="simulator()" if npu.simulated else "NULL",
        configuration=npu.configuration,
    )
