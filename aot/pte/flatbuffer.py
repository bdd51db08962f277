# SPDX-License-Identifier: Apache-2.0
"""Flatbuffer reader that decodes into dataclasses. Their fields define the positions in the buffer.

Every offset is checked: a damaged buffer raises FlatbufferError. An absent number takes its default
and an absent list is empty. Any other absent field counts as damage unless it is optional.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

_FIELD = "flatbuffer"
_T = TypeVar("_T")


class FlatbufferError(ValueError):
    """The buffer is damaged. The text has the position."""


@dataclass(frozen=True)
class _Field:
    """A table field: its number, its reader, and the value used if it is absent.

    None as that value: the field is required.
    """

    number: int
    read: Callable[[_Buffer, int], Any]
    absent: Callable[[], Any] | None
    kinds: tuple[type, ...] = ()  # for a union


def number(index: int, code: str) -> Any:
    """Define a number field; `code` is that of the struct module."""
    size = struct.calcsize(f"<{code}")
    kind = {"?": bool, "d": float}.get(code, int)
    return _field(index, lambda b, at: b.numbers(at, code, size, 1)[0], kind)


def numbers(index: int, code: str) -> Any:
    """Define a field with a vector of numbers, read as a list."""
    size = struct.calcsize(f"<{code}")
    return _field(index, lambda b, at: list(b.numbers(*b.vector(at, code, size))), list)


def octets(index: int) -> Any:
    """Define a field with bytes."""
    return _field(index, lambda b, at: b.octets(at), bytes)


def text(index: int) -> Any:
    """Define a field with a string."""
    return _field(index, lambda b, at: b.octets(at).decode(), None)


def table(index: int, kind: type, optional: bool = False) -> Any:
    """Define a field with another table."""
    return _field(index, lambda b, at: b.table(at, kind), (lambda: None) if optional else None)


def tables(index: int, kind: type) -> Any:
    """Define a field with a vector of tables, read as a list."""
    return _field(index, lambda b, at: b.tables(at, kind), list)


def union(index: int, kinds: Sequence[type]) -> Any:
    """Define a field with a table of one of these kinds. The field before has its type, from 1."""
    return _field(index, lambda b, at: None, None, tuple(kinds))


def _field(
    index: int,
    read: Callable[[_Buffer, int], Any],
    absent: Callable[[], Any] | None,
    kinds: tuple[type, ...] = (),
) -> Any:
    return field(metadata={_FIELD: _Field(index, read, absent, kinds)})


def read_root(data: bytes, kind: type[_T]) -> _T:
    """Return the root table of a buffer. Raise FlatbufferError if it is damaged."""
    buffer = _Buffer(data)
    return buffer.table(0, kind)


class _Buffer:
    """Buffer with checked reads: a negative position, or one past the end, is damage."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def numbers(self, at: int, code: str, size: int, count: int) -> tuple[Any, ...]:
        if at < 0 or at + count * size > len(self._data):
            raise FlatbufferError(
                f"{count * size} bytes at {at} are beyond the end of {len(self._data)} bytes"
            )
        return struct.unpack_from(f"<{count}{code}", self._data, at)

    def _follow(self, at: int) -> int:
        """Return the target position of the offset stored here."""
        return at + int(self.numbers(at, "I", 4, 1)[0])

    def vector(self, at: int, code: str, size: int) -> tuple[int, str, int, int]:
        start = self._follow(at)
        return start + 4, code, size, int(self.numbers(start, "I", 4, 1)[0])

    def octets(self, at: int) -> bytes:
        start = self._follow(at)
        size = int(self.numbers(start, "I", 4, 1)[0])
        if start + 4 + size > len(self._data):
            raise FlatbufferError(
                f"{size} bytes at {start + 4} are beyond the end of {len(self._data)} bytes"
            )
        return self._data[start + 4 : start + 4 + size]

    def tables(self, at: int, kind: type[_T]) -> list[_T]:
        start, _, size, count = self.vector(at, "I", 4)
        self.numbers(start, "I", size, count)
        return [self.table(start + size * index, kind) for index in range(count)]

    def table(self, at: int, kind: type[_T]) -> _T:
        start = self._follow(at)
        vtable = start - int(self.numbers(start, "i", 4, 1)[0])
        (size,) = self.numbers(vtable, "H", 2, 1)
        offsets = self.numbers(vtable, "H", 2, size // 2)[2:]

        def place(index: int) -> int:
            offset = int(offsets[index]) if index < len(offsets) else 0
            return start + offset if offset else 0

        values: dict[str, Any] = {}
        for item in fields(kind):  # type: ignore[arg-type]
            how: _Field = item.metadata[_FIELD]
            at = place(how.number)
            if not at:
                if how.absent is None:
                    raise FlatbufferError(f"{kind.__name__} has no {item.name}")
                values[item.name] = how.absent()
            elif how.kinds:
                values[item.name] = self._union(place(how.number - 1), at, how.kinds)
            else:
                values[item.name] = how.read(self, at)
        return kind(**values)

    def _union(self, type_at: int, at: int, kinds: tuple[type, ...]) -> Any:
        chosen = int(self.numbers(type_at, "B", 1, 1)[0]) if type_at else 0
        if not 1 <= chosen <= len(kinds):
            raise FlatbufferError(f"a union of {len(kinds)} kinds has kind {chosen}")
        return self.table(at, kinds[chosen - 1])
