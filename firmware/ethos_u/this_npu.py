# SPDX-License-Identifier: Apache-2.0
"""The text of this_npu.c, the NPU of a board as an engine; driver/this_board.py writes it."""

from __future__ import annotations

from boards.board import Board

_SOURCE = """// SPDX-License-Identifier: Apache-2.0
// {description}. Generated from the board's data: do not edit.
#include "firmware/ethos_u/this_npu.h"

#include <stddef.h>
{interrupt}{model}{fast}
ethos_u_status ethos_u_open_this_npu(ethos_u_this_npu *npu, pl_engine *engine) {{
  *npu = (ethos_u_this_npu){{.board = ethos_u_this_board({simulator})}};
{use_fast}  *engine = ethos_u_engine(&npu->npu, "{configuration}");
{open}}}
"""

# A handler takes no argument: it finds the last opened driver.
_INTERRUPT = """
#include "boards/irqs.h"
#include "firmware/ethos_u/driver/sleep.h"

static ethos_u_driver *volatile interrupted;

void {name}_IRQHandler(void) {{ ethos_u_interrupt(interrupted); }}
"""

_OPEN_AND_SLEEP = """\
  npu->board.wait = ethos_u_sleep;
  npu->board.ticks = ethos_u_sleep_ticks;
  npu->board.reset_ticks = {reset};
  npu->board.run_ticks = {run};
  const ethos_u_status status = ethos_u_open(&npu->driver, &npu->board, &npu->npu.device);
  if (status == ETHOS_U_OK) {{
    interrupted = &npu->driver;
    pl_irq_enable(PL_IRQ_{name});
  }}
  return status;
"""

_OPEN_AND_POLL = """\
  return ethos_u_open(&npu->driver, &npu->board, &npu->npu.device);
"""

_MODEL = """
#include "npu/ethos_u/model/model_device.h"

static uint8_t workspace[{workspace_bytes}]
    __attribute__((section(".bss.pl_arena.{memory}"), aligned(16)));

static ethos_u_device *simulator(void) {{
  static ethos_u_model_device model;
  ethos_u_model_device_init(&model, workspace, sizeof workspace, NULL);
  return &model.device;
}}
"""

_FAST = """
static uint8_t fast[{fast_bytes}]
    __attribute__((section(".bss.pl_arena.{fast_memory}"), aligned(32)));
"""

_USE_FAST = """\
  npu->npu.fast = fast;
  npu->npu.fast_size = sizeof fast;
"""

_WORKSPACE_BYTES = 4 << 20  # the model's memory for the largest operation, ten times MobileNetV2's
_RESET_TICKS = 100_000  # polls
_RUN_TICKS = 10_000_000  # microseconds


def source(board: Board) -> str:
    """Return the text of the C file.

    Raises:
      ValueError: the board has no NPU, no name for its interrupt, or no memory that is
        large enough for the model's buffers.
    """
    npu = board.npu
    if npu is None:
        raise ValueError(f"board {board.name} has no NPU: its `npu` is None")
    model = ""
    if npu.simulated:
        most = max(board.arena, key=lambda pool: pool.bytes)
        if most.bytes < _WORKSPACE_BYTES:
            raise ValueError(
                f"board {board.name}: the NPU's functional model needs {_WORKSPACE_BYTES} bytes "
                f"of memory, but {most.name}, the largest of its `arena`, has {most.bytes}"
            )
        model = _MODEL.format(workspace_bytes=_WORKSPACE_BYTES, memory=most.name)
    interrupt, opened = "", _OPEN_AND_POLL
    if board.timer is not None:  # the build machine has neither timer nor interrupts
        name = _interrupt_of(board, npu.irq)
        interrupt = _INTERRUPT.format(name=name)
        opened = _OPEN_AND_SLEEP.format(name=name, reset=_RESET_TICKS, run=_RUN_TICKS)
    return _SOURCE.format(
        description=board.description,
        interrupt=interrupt,
        model=model,
        fast=_FAST.format(**vars(npu)) if npu.fast_bytes else "",
        use_fast=_USE_FAST if npu.fast_bytes else "",
        simulator="simulator()" if npu.simulated else "NULL",
        configuration=npu.configuration,
        open=opened,
    )


def _interrupt_of(board: Board, irq: int) -> str:
    for name, number in board.irqs.items():
        if number == irq:
            return name
    raise ValueError(
        f"board {board.name}: its NPU's interrupt {irq} has no name among the `irqs` of its chip"
    )
