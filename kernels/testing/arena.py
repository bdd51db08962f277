# SPDX-License-Identifier: Apache-2.0
"""Writes the C file for the test runner's memory, located in a board's best memory.

arena board.json output.c
"""

from pathlib import Path

from absl import app

from boards.board import load_board


def main(argv: list[str]) -> None:
    board = load_board(Path(argv[1]))
    Path(argv[2]).write_text(
        "// SPDX-License-Identifier: Apache-2.0\n"
        "// Made by kernels/testing/arena.py.\n"
        '#include "kernels/testing/runner.h"\n\n'
        "_Alignas(16) uint8_t pl_test_arena[PL_TEST_ARENA_BYTES]\n"
        f'    __attribute__((section(".bss.pl_arena.{board.arena[0].name}")));\n'
    )


if __name__ == "__main__":
    app.run(main)
