# SPDX-License-Identifier: Apache-2.0
"""Writes irqs.h: a chip's interrupts by number, and the handlers of interrupts and the periodic
timer.

irq_numbers board.json irqs.h
"""

from pathlib import Path

from absl import app

from boards.board import Board, load_board

_HEADER = """\
// Generated from the board's data: do not edit.
#ifndef BOARDS_IRQS_H_
#define BOARDS_IRQS_H_

#include "boards/common/irq.h"

{lines}
#endif  // BOARDS_IRQS_H_
"""


_EXTERN_C = """\
#ifdef __cplusplus
extern "C" {{
#endif

{handlers}
#ifdef __cplusplus
}}
#endif

"""


def irqs_header(board: Board) -> str:
    """Return the text of the header."""
    numbers = [f"  PL_IRQ_{name} = {number},\n" for name, number in board.irqs.items()]
    lines = f"enum {{\n{''.join(numbers)}}};\n\n" if numbers else ""
    handlers = "".join(
        f"void {name}_IRQHandler(void);\nvoid {name}_Handler(void);\n" for name in board.irqs
    )
    lines += _EXTERN_C.format(handlers=handlers)
    if board.timer is not None:
        name = board.timer.handler
        number = board.irqs.get(name, "PL_IRQ_SYSTICK")
        suffix = "IRQHandler" if name in board.irqs else "Handler"
        lines += f"#define PL_TIMER_HANDLER {name}_{suffix}\n#define PL_TIMER_IRQ {number}\n"
    return _HEADER.format(lines=lines)


def main(argv: list[str]) -> None:
    source, output = map(Path, argv[1:])
    output.write_text(irqs_header(load_board(source)))


if __name__ == "__main__":
    app.run(main)
