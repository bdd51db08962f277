# SPDX-License-Identifier: Apache-2.0
"""Find handlers the linker cannot place: two for one vector, or one for none."""

import re
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

from boards.board import Board
from boards.common.linker_script import handler_names
from tools.simulator.elf import Elf

# Names of handlers in vendors' device headers. Pilotlight's older form has no small letters.
_HANDLER = re.compile(r"[A-Z]\w*_IRQHandler|[A-Z][A-Z0-9_]*_Handler")
# Vendors' functions that a handler calls: `HAL_TIM_IRQHandler(&timer)`.
_CALLED = ("BSP_", "HAL_", "LL_")

_DISCARDED = re.compile(
    r"^ \.text\.(?:[\w.]+\.)?(\w+)$(?=\s+0x)|^ \.text\.(?:[\w.]+\.)?(\w+) ", re.M
)

_ARCHIVE = b"!<arch>\n"
_MEMBER_BYTES = 60


def _looks_like_a_handler(name: str) -> bool:
    return _HANDLER.fullmatch(name) is not None and not name.startswith(_CALLED)


def _discarded(link_map: str) -> Iterator[str]:
    """Yield the functions the linker left out, by the names of their sections."""
    _, _, rest = link_map.partition("Discarded input sections")
    text, _, _ = rest.partition("Memory Configuration")
    for match in _DISCARDED.finditer(text):
        yield match[1] or match[2]


def _archive_symbols(path: Path) -> list[str]:
    """Return the symbols of an archive's members, from its index."""
    with path.open("rb") as file:
        head = file.read(len(_ARCHIVE) + _MEMBER_BYTES)
        if not head.startswith(_ARCHIVE) or head[len(_ARCHIVE) :][:16].strip() != b"/":
            return []
        index = file.read(int(head[len(_ARCHIVE) :][48:58]))
    (count,) = struct.unpack(">I", index[:4])
    return [name.decode() for name in index[4 + 4 * count :].split(b"\0") if name]


def _unreferenced(elf: Elf) -> Iterator[str]:
    called = {relocation.value & ~1 for relocation in elf.relocations}
    for symbol in elf.symbols:
        if symbol.is_function and symbol.address not in called:
            yield symbol.name


def wrong_handlers(board: Board, elf: Elf, link_map: str, archives: Iterable[Path] = ()) -> str:
    """Return a line for each handler without an interrupt, "" if there is none."""
    forms = handler_names(board)
    linked = {symbol.name for symbol in elf.symbols if symbol.is_function}
    lines = [
        f"{first} and {second} are both defined; keep {first}, the name of the vendor's headers\n"
        for first, second in (names for names in forms if len(names) > 1)
        if {first, second} <= linked
    ]
    found = {*_discarded(link_map), *_unreferenced(elf)}
    for archive in archives:
        found.update(set(_archive_symbols(archive)) - linked)
    known = {name for names in forms for name in names}
    for name in sorted(filter(_looks_like_a_handler, found - known)):
        lines.append(
            f"{name} is in no vector of {board.name}, and nothing calls it; boards/irqs.h has the "
            "names of its interrupts (`irqs` of the chip)\n"
        )
    return "".join(lines)
