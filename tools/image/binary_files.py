# SPDX-License-Identifier: Apache-2.0
"""Write the stored content of each memory that keeps an image, as raw bytes.

    binary_files board.json program.elf [memory=output.bin ...]

A file starts at its memory's base and ends with the last stored byte. Gaps are 0xff, like erased
flash. It is an error if a memory with stored content has no output.
"""

from collections.abc import Mapping
from pathlib import Path

from absl import app

from boards.board import Board, load_board
from tools.simulator.elf import Elf


class StoredElsewhereError(Exception):
    """The program stores something where no file was asked for."""


def contents(board: Board, elf: Elf) -> dict[str, bytes]:
    """Return the bytes to store in each memory, by its name."""
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


def write_files(board: Board, elf: Elf, outputs: Mapping[str, Path]) -> None:
    """Write a file for each memory named; an empty one if nothing is stored there.

    Raises:
        StoredElsewhereError: the program stores something in another memory.
    """
    images = contents(board, elf)
    for memory, output in outputs.items():
        output.write_bytes(images.pop(memory, b""))
    if images:
        raise StoredElsewhereError(f"{elf.path} has data in {', '.join(images)}")


def main(argv: list[str]) -> None:
    outputs = (argument.partition("=") for argument in argv[3:])
    write_files(
        load_board(Path(argv[1])),
        Elf(Path(argv[2])),
        {memory: Path(output) for memory, _, output in outputs},
    )


if __name__ == "__main__":
    app.run(main)
