# SPDX-License-Identifier: Apache-2.0
"""Reads GNU ld's map file: which library brought how many bytes to which address."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

_START = "Linker script and memory map"

# ` .text.f  0x00000040  0x1c path/of/lib.a(member.o)` for what an object brings, and the same
# without the object and without the space before it for an output section.
_LINE = re.compile(r"^( ?)([.\w]\S*)\s+0x(\w+)\s+0x(\w+)(?: (\S.*))?$")
# A long name stands on a line of its own.
_LONG_NAME = re.compile(r"^( ?[.\w]\S*)\n {16,}(?=0x)", re.MULTILINE)
_OUTPUT_FOLDER = re.compile(r"^(?:.*/)?bazel-out/[^/]+/bin/")
_NOT_LOADED = (".debug", ".comment", ".ARM.attributes")


@dataclass(frozen=True)
class Piece:
    """Bytes that one object file brought to one place.

    Attributes:
        origin: the object's package or library.
        section: of the object.
        target: section of the program that it became a part of.
        source: the object: its source without suffix, or library and member.
    """

    address: int
    size: int
    origin: str
    section: str
    target: str
    source: str


def _origin(source: str) -> str:
    """Returns `kernels/conv2d` for an object of that package and `libc.a` for one of a library."""
    path, _, _ = source.partition("(")
    if _OUTPUT_FOLDER.match(path):
        parts = PurePosixPath(_OUTPUT_FOLDER.sub("", path)).parent.parts
        return "/".join(parts[: parts.index("_objs")] if "_objs" in parts else parts)
    return PurePosixPath(path).name


def _source(source: str) -> str:
    """Returns `pkg/main` for an object made of pkg/main.c and `libc.a(exit.o)` for a library's."""
    path, _, member = source.rstrip(")").partition("(")
    if member and not _OUTPUT_FOLDER.match(path):
        return f"{PurePosixPath(path).name}({member})"
    name = re.sub(r"(\.pic)?\.o$", "", PurePosixPath(member or path).name)
    return f"{_origin(source)}/{name}" if _OUTPUT_FOLDER.match(path) else name


def _without_overlap(pieces: list[Piece], end: int) -> Iterator[Piece]:
    """Of strings that ld merged the first has all; the others keep a size they do not take."""
    ends = [*(piece.address for piece in pieces), end][1:]
    for piece, following in zip(pieces, ends, strict=True):
        size = min(piece.size, following - piece.address)
        if size > 0:
            yield replace(piece, size=size)


def read_link_map(text: str) -> Iterator[Piece]:
    """Yields the pieces that a program consists of."""
    _, _, body = text.partition(_START)
    pieces: list[Piece] = []
    target = ""
    end = 0
    for line in _LONG_NAME.sub(r"\1 ", body).splitlines():
        match = _LINE.match(line)
        if match is None or match[2].startswith(_NOT_LOADED):
            continue
        indent, section, address, size, source = match.groups()
        if not indent:
            yield from _without_overlap(pieces, end)
            pieces = []
            target = section
            end = int(address, 16) + int(size, 16)
        elif source:
            pieces.append(
                Piece(
                    address=int(address, 16),
                    size=int(size, 16),
                    origin=_origin(source),
                    section=section,
                    target=target,
                    source=_source(source),
                )
            )
    yield from _without_overlap(pieces, end)
