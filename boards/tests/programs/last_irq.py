# SPDX-License-Identifier: Apache-2.0
"""Writes last_irq.h: the chip's interrupt of the highest number, the last in the vector table.

last_irq board.json last_irq.h
"""

from pathlib import Path

from absl import app

from boards.board import load_board


def main(argv: list[str]) -> None:
    source, output = map(Path, argv[1:])
    irqs = load_board(source).irqs
    name = max(irqs, key=lambda name: irqs[name])
    output.write_text(f"#define LAST_IRQ PL_IRQ_{name}\n#define LAST_HANDLER {name}_IRQHandler\n")


if __name__ == "__main__":
    app.run(main)
