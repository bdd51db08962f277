# SPDX-License-Identifier: Apache-2.0
"""Reads GNU ld's map file: which library brought how many bytes to which address."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

_START = "Linker script and memory map"
_END = "Cross Reference Table"
_PIECE = re.compile(r"^ (?P<section>[.\w*$-]+)?\s+0x(?P<address>\w+)\s+0x(?P<size>\w+) (?P<from>\S.*)$")
_OUTPUT_FOLDER = re.compile(r"^(?:.*/)?bazel-out/[^/]+/bin/")


@dataclass(frozen=True)
class Piece:
    """Bytes that one object file brought to one place; `origin` is its package or library."""

    address: int
    size: int
    origin: str


def _origin(source: str) -> str:
    """Returns `kernels/conv2d` for an object of that package and `libc.a` for one of a library."""
    path, member, _ = source.partition("(")
    if _OUTPUT_FOLDER.match(path):
        folder = PurePosixPath(_OUTPUT_FOLDER.sub("", path)).parent
        parts = folder.parts
        return "/".join(parts[: parts.index("_objs")] if "_objs" in parts else parts)
    return PurePosixPath(path).name


def read_link_map(text: str) -> Iterator[Piece]:
    """Yields the pieces that a program consists of."""
    _, _, body = text.partition(_START)
    body, _, _ = body.partition(_END)
    # A long section name stands on a line of its own.
    for line in re.sub(r"\n {16,}(?=0x)", " ", body).splitlines():
        match = _PIECE.match(line)
        if match is None or match["section"] is None:
            continue
        size = int(match["size"], 16)
        if size and not match["section"].startswith((".debug", ".comment", ".ARM.attributes")):
            yield Piece(int(match["address"], 16), size, _origin(match["from"]))
