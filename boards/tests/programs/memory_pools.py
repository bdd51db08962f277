# SPDX-License-Identifier: Apache-2.0
"""Writes a header with the first and the last word of each pool of a board's arena.

memory_pools board.json output.h
"""

from pathlib import Path

from absl import app

from boards.board import load_board

_HEADER = """\
#include <stdint.h>

static const struct {{
  volatile uint32_t *first;
  volatile uint32_t *last;
}} memory_pools[] = {{
{rows}
}};
"""


def main(argv: list[str]) -> None:
    board = load_board(Path(argv[1]))
    rows = []
    for pool in board.arena:
        memory = board.memory(pool.name)
        end = memory.base + memory.size
        first, last = (f"(uint32_t *){a:#x}u" for a in (end - pool.bytes, end - 4))
        rows.append(f"    {{{first}, {last}}},  // {pool.name}")
    Path(argv[2]).write_text(_HEADER.format(rows="\n".join(rows)))


if __name__ == "__main__":
    app.run(main)
