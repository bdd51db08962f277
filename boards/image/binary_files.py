# SPDX-License-Identifier: Apache-2.0
"""Writes what a program stores in each memory that keeps an image, as raw bytes.

    binary_files board.json program.elf [memory=output.bin ...]

A file starts at its memory's base and ends with the last byte stored there; gaps are 0xff, as
erased flash is. Something stored in a memory that has no output is an error.
"""

import sys
from pathlib import Path

from boards.board import Board, load_board
from tools.qemu.elf import Elf


class StoredElsewhereError(Exception):
    """The program stores something where no file was asked for."""


def contents(board: Board, elf: Elf) -> dict[str, bytes]:
    """Returns the bytes to store in each memory, by its name."""
    images: dict[str, bytearray] = {}
    for section in elf.sections:
        if not (section.allocated and section.stored and section.size):
            continue
        memory = board.memory_at(section.load)
        image = images.setdefault(memory.name, bytearray())
        start = section.load - memory.base
        image.extend(b"\xff" * (start + section.size - len(image)))
        image[start : start + section.size] = section.contents
    return {name: bytes(image) for name, image in images.items()}


def main() -> None:
    board = load_board(Path(sys.argv[1]))
    images = contents(board, Elf(Path(sys.argv[2])))
    for argument in sys.argv[3:]:
        memory, _, output = argument.partition("=")
        Path(output).write_bytes(images.pop(memory, b""))
    if images:
        raise StoredElsewhereError(f"{sys.argv[2]} stores something in {', '.join(images)}")


if __name__ == "__main__":
    main()
