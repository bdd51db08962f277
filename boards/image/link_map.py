# SPDX-License-Identifier: Apache-2.0
"""Reads GNU ld's map file: which library brought how many bytes to which address."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath

_START = "Linker script and memory map"

# ` .text.f  0x00000040  0x1c path/of/lib.a(member.o)` for what an object brings, and the same
# without the object and without the space before it for an output section.
_LINE = re.compile(r"^( ?)(\.\S+)\s+0x(\w+)\s+0x(\w+)(?: (\S.*))?$")
_OUTPUT_FOLDER = re.compile(r"^(?:.*/)?bazel-out/[^/]+/bin/")
_NOT_LOADED = (".debug", ".comment", ".ARM.attributes")


@dataclass(frozen=True)
class Piece:
    """Bytes that one object file brought to one place; `origin` is its package or library."""

    address: int
    size: int
    origin: str


def _origin(source: str) -> str:
    """Returns `kernels/conv2d` for an object of that package and `libc.a` for one of a library."""
    path, _, _ = source.partition("(")
    if _OUTPUT_FOLDER.match(path):
        parts = PurePosixPath(_OUTPUT_FOLDER.sub("", path)).parent.parts
        return "/".join(parts[: parts.index("_objs")] if "_objs" in parts else parts)
    return PurePosixPath(path).name


def _without_overlap(pieces: list[Piece], end: int) -> Iterator[Piece]:
    """Of strings that ld merged the first has all; the others keep a size they do not take."""
    for piece, following in pairwise([*pieces, Piece(end, 0, "")]):
        size = min(piece.size, following.address - piece.address)
        if size > 0:
            yield Piece(piece.address, size, piece.origin)


def read_link_map(text: str) -> Iterator[Piece]:
    """Yields the pieces that a program consists of."""
    _, _, body = text.partition(_START)
    pieces: list[Piece] = []
    end = 0
    # A long name stands on a line of its own.
    for line in re.sub(r"\n {16,}(?=0x)", " ", body).splitlines():
        match = _LINE.match(line)
        if match is None or match[2].startswith(_NOT_LOADED):
            continue
        indent, _, address, size, source = match.groups()
        if not indent:
            yield from _without_overlap(pieces, end)
            pieces = []
            end = int(address, 16) + int(size, 16)
        elif source:
            pieces.append(Piece(int(address, 16), int(size, 16), _origin(source)))
    yield from _without_overlap(pieces, end)
