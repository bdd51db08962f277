# SPDX-License-Identifier: Apache-2.0
"""Model packages on the host: makes them from a compiled plan, signs and reads them.

firmware/slot/package.h documents the format. The same input gives the same bytes.
"""

import hashlib
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from aot.plan.emit_c import PACKAGE_ARENA
from aot.slot.abi import io_hash, kernel_abi, plan_abi
from aot.slot.object_file import ObjectFile, ObjectRelocation, ObjectSection
from tools.text.malformed import malformed

MAGIC = 0x4B504C50
FORMAT = 2
ALIGNMENT = 16
PLAN = "pl_package_plan"

_HEADER = struct.Struct("<8I10II32s32s64s")
_KERNEL = struct.Struct("<I60s")
SIGNATURE = 64
HEADER = _HEADER.size + SIGNATURE
_TABLES, _PACKAGE, _ARENA, _KERNEL_NUMBER = range(4)
_RUN = "run_"

Arrays = Mapping[str, npt.NDArray[Any]]


class PackageError(ValueError):
    """A package cannot be made, or is invalid. The text has the reason."""


@dataclass(frozen=True)
class Package:
    """Contents of a package header."""

    name: str
    version: str
    io: int
    core: str
    bytes: int
    arena_bytes: int
    table_bytes: int
    constant_bytes: int
    vectors: int
    kernels: tuple[str, ...]


def version_number(text: str) -> int:
    """Return a version such as "1.2.3" as a number for comparisons."""
    match = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", text)
    parts = [int(part) for part in match.groups()] if match else []
    if not parts or parts[0] > 255 or parts[1] > 255 or parts[2] > 65535:
        raise PackageError(f"the version must be like 1.2.3, 255.255.65535 at most; got {text!r}")
    return parts[0] << 24 | parts[1] << 16 | parts[2]


def version_text(number: int) -> str:
    return f"{number >> 24}.{number >> 16 & 255}.{number & 65535}"


def private_key(pem: bytes) -> Ed25519PrivateKey:
    """Read an Ed25519 private key from a PEM file without a password.

    Raise PackageError otherwise.
    """
    try:
        key = load_pem_private_key(pem, None)
    except (TypeError, ValueError) as error:
        raise PackageError(
            f"the file is not a private key in PEM without a password: {error}"
        ) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise PackageError("the key is not an Ed25519 key: see docs/updates.md to make one")
    return key


def public_key(pem: bytes) -> bytes:
    """Return the 32-byte public key for firmware, from a PEM file with either half of a key."""
    if b"PRIVATE" in pem:
        key = private_key(pem).public_key()
    else:
        try:
            loaded = load_pem_public_key(pem)
        except ValueError as error:
            raise PackageError(f"the file is not a public key in PEM: {error}") from error
        if not isinstance(loaded, Ed25519PublicKey):
            raise PackageError("the key is not an Ed25519 key: see docs/updates.md to make one")
        key = loaded
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def make_package(
    compiled: ObjectFile,
    plan: Mapping[str, Any],
    core: str,
    vectors: Arrays,
    name: str,
    version: str,
    key: Ed25519PrivateKey,
) -> bytes:
    """Make a signed package.

    Args:
      compiled: the plan's C, compiled for the board.
      plan: plan.json.
      core: of the board.
      vectors: `input_<i>` and `output_<i>` of the self-test, at least one of each.
      name: of the model, 31 bytes at most.
      version: like 1.2.3.
      key: the signing key.

    Raises:
      PackageError: one of them is invalid.
    """
    image = _Image(compiled)
    tests, count = _vectors(plan, vectors)
    parts = [
        b"".join(_KERNEL.pack(kernel_abi(k), k.encode()) for k in image.kernels),
        struct.pack(f"<{len(image.relocations)}I", *image.relocations),
        b"",
        image.constants,
        tests,
    ]
    offsets, at = [], HEADER
    for index, part in enumerate(parts):
        at = -(-at // ALIGNMENT) * ALIGNMENT
        offsets.append(at)
        at += len(image.tables) if index == 2 else len(part)
    parts[2] = image.resolved(offsets[3])
    body = b""
    for offset, part in zip(offsets, parts, strict=True):
        body += bytes(offset - HEADER - len(body)) + part
    counts = [len(image.kernels), len(image.relocations), *(len(part) for part in parts[2:])]
    header = _HEADER.pack(
        *(MAGIC, FORMAT, plan_abi(), HEADER + len(body), version_number(version)),
        *(plan["arena"]["bytes"], image.plan, count),
        *(number for pair in zip(offsets, counts, strict=True) for number in pair),
        io_hash(plan),
        *(_text(core, "core"), _text(name, "name"), hashlib.sha512(body).digest()),
    )
    return header + key.sign(header) + body


def read_package(data: bytes, key: bytes) -> Package:
    """Read a package, and check its form and signature. Raise PackageError if one is wrong.

    Args:
      data: of the file.
      key: the 32 bytes of the public key.
    """
    with malformed(PackageError, "the package"):
        return _read(data, key)


def _read(data: bytes, key: bytes) -> Package:
    if len(data) < HEADER:
        raise PackageError("is truncated")
    fields = _HEADER.unpack_from(data)
    if fields[0] != MAGIC:
        raise PackageError("is not a model package")
    if fields[1] != FORMAT:
        raise PackageError(f"has package format {fields[1]}; this version reads format {FORMAT}")
    if fields[2] != plan_abi():
        raise PackageError(
            f"holds a plan of layout {fields[2]:#010x}; this version reads {plan_abi():#010x}: "
            "make the package with the version that built the firmware"
        )
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(
            data[_HEADER.size : HEADER], data[: _HEADER.size]
        )
    except InvalidSignature as error:
        raise PackageError("is not signed by this key, or its header was changed") from error
    if fields[3] != len(data):
        raise PackageError(f"is truncated: it has {len(data)} bytes, its header states {fields[3]}")
    if hashlib.sha512(data[HEADER:]).digest() != fields[21]:
        raise PackageError("does not match its signature: its contents were changed")
    kernels = [_KERNEL.unpack_from(data, fields[8] + i * _KERNEL.size) for i in range(fields[9])]
    return Package(
        name=fields[20].rstrip(b"\0").decode(),
        version=version_text(fields[4]),
        io=fields[18],
        core=fields[19].rstrip(b"\0").decode(),
        bytes=fields[3],
        arena_bytes=fields[5],
        table_bytes=fields[13],
        constant_bytes=fields[15],
        vectors=fields[7],
        kernels=tuple(kernel.rstrip(b"\0").decode() for _, kernel in kernels),
    )


def _text(text: str, what: str) -> bytes:
    encoded = text.encode()
    if len(encoded) > 31:
        raise PackageError(f"the {what} {text!r} has more than 31 bytes")
    return encoded


class _Image:
    """Layout of a plan's data: tables, which contain addresses, and constants.

    Attributes:
      tables: with the compiler's content at the positions of addresses.
      constants: all else.
      kernels: called by steps, by name.
      relocations: words of the package.
      plan: offset of the plan in the tables.
    """

    def __init__(self, compiled: ObjectFile) -> None:
        self._word = compiled.word
        self._at: dict[int, tuple[int, int]] = {}  # kind and offset of a section
        self.tables = self._lay([s for s in compiled.sections if s.relocations], _TABLES)
        self.constants = self._lay([s for s in compiled.sections if not s.relocations], _PACKAGE)
        places = [
            (self._at[section.number][1] + relocation.place, relocation)
            for section in compiled.sections
            for relocation in section.relocations
        ]
        self._places = sorted(places, key=lambda pair: pair[0])
        self.kernels = sorted(
            {r.name.removeprefix(_RUN) for _, r in self._places if self._kind(r) == _KERNEL_NUMBER}
        )
        self.relocations = [place | self._kind(relocation) for place, relocation in self._places]
        section, offset = compiled.symbols[PLAN]
        kind, start = self._at[section]
        assert kind == _TABLES
        self.plan = start + offset

    def _lay(self, sections: Sequence[ObjectSection], kind: int) -> bytes:
        data = b""
        for section in sections:
            data += bytes(-len(data) % max(section.alignment, self._word))
            self._at[section.number] = kind, len(data)
            data += section.contents
        return data

    def _kind(self, relocation: ObjectRelocation) -> int:
        if relocation.section is not None:
            return self._at[relocation.section][0]
        if relocation.name == PACKAGE_ARENA:
            return _ARENA
        if relocation.name.startswith(_RUN):
            return _KERNEL_NUMBER
        raise PackageError(f"the plan refers to {relocation.name}, which a package cannot hold")

    def resolved(self, constants: int) -> bytes:
        """Return the tables with offsets in place of addresses; constants are at `constants`."""
        tables = bytearray(self.tables)
        for place, relocation in self._places:
            kind, value = self._kind(relocation), relocation.addend
            if kind == _KERNEL_NUMBER:
                value = self.kernels.index(relocation.name.removeprefix(_RUN))
            elif relocation.section is not None:
                value += self._at[relocation.section][1] + (constants if kind == _PACKAGE else 0)
            tables[place : place + self._word] = value.to_bytes(self._word, "little")
        return bytes(tables)


def _vectors(plan: Mapping[str, Any], arrays: Arrays) -> tuple[bytes, int]:
    """Return the inputs and outputs of all vectors, concatenated, and the number of vectors."""
    columns = []
    for side in ("input", "output"):
        for index, tensor in enumerate(plan[f"{side}s"]):
            array = arrays.get(f"{side}_{index}")
            if array is None:
                raise PackageError(f"the test vectors lack {side}_{index}")
            shape = tuple(tensor["shape"])
            if array.dtype.name != tensor["dtype"] or array.shape[1:] != shape:
                raise PackageError(
                    f"{side}_{index} has vectors of {array.dtype.name} {list(array.shape[1:])}; "
                    f"the model needs {tensor['dtype']} {list(shape)}"
                )
            columns.append(np.ascontiguousarray(array))
    count = min(map(len, columns))
    if count == 0:
        raise PackageError("a package needs at least one vector for its self-test")
    return b"".join(c[i].tobytes() for i in range(count) for c in columns), count
