# SPDX-License-Identifier: Apache-2.0
"""Reader of GNU ld's map file: bytes of each library and their addresses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

_START = "Linker script and memory map"

# Line for the bytes of an object: ` .text.f  0x00000040  0x1c path/of/lib.a(member.o)`. An output
# section has the same without the object and without the leading space.
_LINE = re.compile(r"^( ?)([.\w]\S*)\s+0x(\w+)\s+0x(\w+)(?: (\S.*))?$")
# Line for a number of the linker script: `                0x00000970  0x4 LONG 0x50000764`.
_NUMBER = re.compile(r"^ {16,}0x(\w+)\s+0x(\w+) (?:BYTE|SHORT|LONG|QUAD) ")
_SCRIPT = "boards/common"
"""Origin of the linker script's numbers: handlers' addresses, and tables of the start-up code."""
# A long name has its own line.
_LONG_NAME = re.compile(r"^( ?[.\w]\S*)\n {16,}(?=0x)", re.MULTILINE)
_OUTPUT_FOLDER = re.compile(r"^(?:.*/)?bazel-out/[^/]+/bin/")
_NOT_LOADED = (".debug", ".comment", ".ARM.attributes")


@dataclass(frozen=True)
class Piece:
    """Bytes of one object file at one address.

    Attributes:
        origin: the object's package or library.
        section: of the object.
        target: section of the program containing it.
        source: the object: its source without suffix, or library and member.
    """

    address: int
    size: int
    origin: str
    section: str
    target: str
    source: str


def _origin(source: str) -> str:
    """Return `kernels/conv2d` for an object of that package and `libc.a` for one of a library."""
    path, _, _ = source.partition("(")
    if _OUTPUT_FOLDER.match(path):
        parts = PurePosixPath(_OUTPUT_FOLDER.sub("", path)).parent.parts
        return "/".join(parts[: parts.index("_objs")] if "_objs" in parts else parts)
    return PurePosixPath(path).name


def _source(source: str) -> str:
    """Return `pkg/main` for an object made of pkg/main.c and `libc.a(exit.o)` for a library's."""
    path, _, member = source.rstrip(")").partition("(")
    if member and not _OUTPUT_FOLDER.match(path):
        return f"{PurePosixPath(path).name}({member})"
    name = re.sub(r"(\.pic)?\.o$", "", PurePosixPath(member or path).name)
    return f"{_origin(source)}/{name}" if _OUTPUT_FOLDER.match(path) else name


def _without_overlap(pieces: list[Piece], end: int) -> Iterator[Piece]:
    """Correct the sizes of strings merged by ld. The first piece has all of them; the others keep a
    size they do not use.
    """
    ends = [*(piece.address for piece in pieces), end][1:]
    for piece, following in zip(pieces, ends, strict=True):
        size = min(piece.size, following - piece.address)
        if size > 0:
            yield replace(piece, size=size)


def read_link_map(text: str) -> Iterator[Piece]:
    """Yield the pieces of a program."""
    _, _, body = text.partition(_START)
    pieces: list[Piece] = []
    target = ""
    end = 0
    for line in _LONG_NAME.sub(r"\1 ", body).splitlines():
        if number := _NUMBER.match(line):
            address, size = (int(text, 16) for text in number.groups())
            pieces.append(Piece(address, size, _SCRIPT, target, target, f"{_SCRIPT}/linker script"))
            continue
        match = _LINE.match(line)
        if match is None or match[2].startswith(_NOT_LOADED):
            continue
        indent, section, source = match[1], match[2], match[5]
        address, size = int(match[3], 16), int(match[4], 16)
        if not indent:
            yield from _without_overlap(pieces, end)
            pieces = []
            target = section
            end = address + size
        elif source:
            pieces.append(
                Piece(
                    address=address,
                    size=size,
                    origin=_origin(source),
                    section=section,
                    target=target,
                    source=_source(source),
                )
            )
    yield from _without_overlap(pieces, end)
