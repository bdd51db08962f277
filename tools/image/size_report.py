# SPDX-License-Identifier: Apache-2.0
"""Write size.json: an image's memory use on its board, by origin.

    size_report --board=board.json --elf=program.elf --map=program.map --objdump=PROGRAM \\
        --output=size.json

The schema is size.schema.json. The stack bound includes the core's exception frame.

A stack bound above the board's stack size is an error: exit status 3.
"""

import bisect
import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from absl import app, flags

from boards.board import Board, load_board
from boards.does_not_fit import STATUS_DOES_NOT_FIT
from tools.image.link_map import read_link_map
from tools.image.stack_bound import Bound, handlers_bound, stack_bound
from tools.simulator.elf import Elf, ElfSection

_BOARD = flags.DEFINE_string("board", None, "The board's board.json.", required=True)
_ELF = flags.DEFINE_string("elf", None, "The program.", required=True)
_MAP = flags.DEFINE_string("map", None, "The linker's map file.", required=True)
_OBJDUMP = flags.DEFINE_string("objdump", None, "objdump for Arm.", required=True)
_OUTPUT = flags.DEFINE_string("output", None, "size.json.", required=True)

FORMAT = 2

# Exception frame the core pushes on the program's stack (Armv8-M Architecture Reference Manual,
# "Exception entry"): 8 words, one to align, and 18 of floating point state.
_EXCEPTION_FRAME = 36
_EXCEPTION_FRAME_FLOAT = 108


def _loaded(elf: Elf) -> list[ElfSection]:
    return [section for section in elf.sections if section.allocated and section.size]


def _memories(board: Board, elf: Elf, link_map: str) -> list[dict[str, Any]]:
    used: Counter[str] = Counter()
    origins: dict[str, Counter[str]] = {memory.name: Counter() for memory in board.memories}
    copied: dict[int, int] = {}
    for section in _loaded(elf):
        used[board.memory_at(section.address).name] += section.size
        if section.stored and section.load != section.address:
            used[board.memory_at(section.load).name] += section.size
            copied |= {section.address + i: section.load + i for i in range(section.size)}
    for piece in read_link_map(link_map):
        origins[board.memory_at(piece.address).name][piece.origin] += piece.size
        if piece.address in copied:
            origins[board.memory_at(copied[piece.address]).name][piece.origin] += piece.size
    return [
        {
            "name": memory.name,
            "kind": memory.kind,
            "size": memory.size,
            "used": used[memory.name],
            "by_origin": dict(origins[memory.name].most_common()),
        }
        for memory in board.memories
    ]


def _sections(board: Board, elf: Elf) -> list[dict[str, Any]]:
    return [
        {
            "name": section.name,
            "memory": board.memory_at(section.address).name,
            "stored_in": board.memory_at(section.load).name if section.stored else None,
            "size": section.size,
        }
        for section in _loaded(elf)
    ]


def _symbols(board: Board, elf: Elf, link_map: str) -> list[dict[str, Any]]:
    """Return every function and object, the largest first; aliases of the same bytes once."""
    pieces = sorted(read_link_map(link_map), key=lambda piece: piece.address)
    starts = [piece.address for piece in pieces]
    stored = {s.name: board.memory_at(s.load).name for s in _loaded(elf) if s.stored}
    found = []
    end = 0
    # Among names at the same address, prefer the largest, and then one not of the compiler.
    for symbol in sorted(
        elf.symbols, key=lambda s: (s.address, -s.size, s.name.startswith("_"), s.name)
    ):
        size = symbol.address + symbol.size - max(end, symbol.address)
        piece = pieces[max(0, bisect.bisect_right(starts, symbol.address) - 1)] if pieces else None
        inside = piece and piece.address <= symbol.address < piece.address + piece.size
        if size > 0 and piece and inside:
            end = symbol.address + symbol.size
            memory = board.memory_at(symbol.address).name
            found.append(
                {
                    "name": symbol.name,
                    "memory": memory,
                    "stored_in": stored.get(piece.target),
                    "size": size,
                    "origin": piece.origin,
                    "source": piece.source,
                }
            )
    return sorted(found, key=lambda row: (-row["size"], row["name"]))


def _stack(bound: Bound, size: int) -> dict[str, Any]:
    return {
        "size": size,
        "bound": bound.bytes,
        "path": bound.path,
        "problem": bound.problem,
        "once": bound.once,
    }


def size_report(board: Board, elf: Elf, link_map: str, objdump: Path) -> dict[str, Any]:
    """Return the contents of size.json."""
    has_float = board.core not in ("cortex-m0", "cortex-m0plus", "cortex-m3")
    frame = _EXCEPTION_FRAME_FLOAT if has_float else _EXCEPTION_FRAME
    program = stack_bound(elf, objdump, "pl_start")
    if program.bytes is not None:
        program = replace(program, bytes=program.bytes + frame)
    return {
        "format": FORMAT,
        "name": elf.path.stem,
        "board": board.name,
        "core": board.core,
        "memories": _memories(board, elf, link_map),
        "sections": _sections(board, elf),
        "symbols": _symbols(board, elf, link_map),
        "stack": _stack(program, board.stack),
        "handler_stack": _stack(
            handlers_bound(elf, objdump, "pl_fault", frame), board.handler_stack
        ),
    }


def too_small_stacks(report: dict[str, Any]) -> list[str]:
    """Return a text for each stack smaller than the program's possible use."""
    found = []
    for name in ("stack", "handler_stack"):
        stack = report[name]
        if stack["bound"] is not None and stack["bound"] > stack["size"]:
            more = -(-stack["bound"] // 32) * 32
            found.append(
                f"{report['name']}: the {name.replace('_', ' ')} may take {stack['bound']} bytes, "
                f"the board {report['board']} gives it {stack['size']}; "
                f"firmware_image({name} = {more}) gives it enough\n"
                f"  {' > '.join(stack['path'])}"
            )
    return found


def main(argv: list[str]) -> int:
    del argv
    board = load_board(Path(_BOARD.value))
    link_map = Path(_MAP.value).read_text()
    report = size_report(board, Elf(Path(_ELF.value)), link_map, Path(_OBJDUMP.value))
    Path(_OUTPUT.value).write_text(json.dumps(report, indent=1) + "\n")
    problems = too_small_stacks(report)
    if problems:
        print("\n".join(problems), file=sys.stderr)
    return STATUS_DOES_NOT_FIT if problems else 0


if __name__ == "__main__":
    app.run(main)
