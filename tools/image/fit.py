# SPDX-License-Identifier: Apache-2.0
"""Accept a program if it fits on its board; otherwise report the memories too small for it.

    fit board.json linked.elf program.map program.elf [library.a ...]

The linker has no memory limits (boards/common/linker_script.py). If the program fits, it is copied
to program.elf. Otherwise the exit status is 3, with a table for each full memory. A handler of the
libraries or the program that no interrupt calls is an error (handlers.py).
"""

import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from boards.board import Board, Memory, load_board
from boards.common.linker_script import memory_of
from boards.does_not_fit import STATUS_DOES_NOT_FIT, does_not_fit_table
from tools.image.handlers import wrong_handlers
from tools.image.link_map import Piece, read_link_map
from tools.simulator.elf import Elf, ElfSection

_LARGEST = 5
_ALIGNMENT = 16

_VARIABLES = (".data", ".bss")

_FEWER_CONSTANTS = """\
Take smaller or fewer models, or give the board another memory for `weights`.
"""
_FEWER_ARENAS = """\
Take smaller or fewer models, or let more of them share an arena (`share` of the plan_library).
"""
_FEWER_VARIABLES = """\
Variables take {need:,} bytes, plans leave {have:,} to them: with `variables = {need}` of the
firmware_image they are made for what is left, and may take another memory. A buffer may
lie elsewhere too, in a section ".bss.pl_arena.<memory>": its contents start undefined.
"""


def _loaded(elf: Elf) -> list[ElfSection]:
    return [section for section in elf.sections if section.allocated and section.size]


def _need(board: Board, elf: Elf, memory: Memory) -> int:
    """Return the bytes from a memory's base to the end of its content."""
    ends = [memory.base]
    for section in _loaded(elf):
        if memory_of(board, section.name) == memory:
            ends.append(section.address + section.size)
        if section.name == ".data" and memory.name == board.code:
            ends.append(elf.values["pl_link_data_load"] + section.size)
    return max(ends) - memory.base


def _needed_variables(elf: Elf) -> int:
    sizes = [section.size for section in _loaded(elf) if section.name in _VARIABLES]
    return sum(-(-size // _ALIGNMENT) * _ALIGNMENT for size in sizes)


def _largest(
    pieces: Iterable[Piece], more: Iterable[tuple[str, int]] = ()
) -> list[tuple[str, int]]:
    found = [(f"{piece.section} of {piece.source}", piece.size) for piece in pieces]
    return sorted([*found, *more], key=lambda item: (-item[1], item[0]))[:_LARGEST]


def _memory_table(
    name: str, board: Board, memory: Memory, need: int, variables: int, pieces: list[Piece]
) -> str:
    def takes(target: str) -> bool:
        is_copied = target == ".data" and memory.name == board.code
        return is_copied or memory_of(board, target) == memory

    fixed = [
        ("`stack` and `handler_stack`", board.stack + board.handler_stack),
        ("`heap`", board.heap),
    ]
    table = does_not_fit_table(
        f"{name} does not fit on {board.name}: {memory.name} is too small.",
        need,
        memory.size,
        [],
        _largest(
            (piece for piece in pieces if takes(piece.target)),
            [(what, size) for what, size in fixed if size and memory.name == board.data],
        ),
    )
    if memory.name == board.data and variables > board.variables:
        return table + _FEWER_VARIABLES.format(need=variables, have=board.variables)
    return table + (_FEWER_ARENAS if memory.kind == "ram" else _FEWER_CONSTANTS)


def does_not_fit(name: str, board: Board, elf: Elf, link_map: str) -> str:
    """Return a table for each memory too small for the program, "" if everything fits."""
    needs = {memory.name: _need(board, elf, memory) for memory in board.memories}
    too_small = [memory for memory in board.memories if needs[memory.name] > memory.size]
    if not too_small:
        return ""
    variables = _needed_variables(elf)
    pieces = list(read_link_map(link_map))
    return "\n".join(
        _memory_table(name, board, memory, needs[memory.name], variables, pieces)
        for memory in too_small
    )


def main(argv: list[str]) -> int:
    board_json, linked, link_map, program, *archives = map(Path, argv[1:])
    board, elf, pieces = load_board(board_json), Elf(linked), link_map.read_text()
    wrong = wrong_handlers(board, elf, pieces, archives)
    if wrong:
        print(f"{program.stem}: {wrong}", file=sys.stderr, end="")
        return 1
    text = does_not_fit(program.stem, board, elf, pieces)
    if text:
        print(text, file=sys.stderr, end="")
        return STATUS_DOES_NOT_FIT
    shutil.copy(linked, program)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
