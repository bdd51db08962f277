# SPDX-License-Identifier: Apache-2.0
"""Ethos-U payloads as ExecuTorch stores them, one by one."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

MAGIC = b"vela_bin_stream"
_END = "vela_end_stream"
_BLOCKS = ("cmd_data", "weight_data", "scratch_size", "scratch_data", "inputs", "outputs")
_HEADER = struct.Struct("<16sI12x")
_TENSOR = struct.Struct("<9i")
_COP1 = 0x31504F43
_ALIGNMENT = 16
_MOST_BYTES = 2**31 - 1  # limit per tensor
FAST_SCRATCH = 2
_SCRATCH_REGIONS = (1, FAST_SCRATCH)


class PayloadError(ValueError):
    """A payload that is truncated, corrupt or not Vela's."""


@dataclass(frozen=True)
class PayloadTensor:
    """An input or output: `shape` is padded in front with 1 to six dimensions."""

    shape: tuple[int, ...]
    element_size: int  # bytes
    offset: int  # bytes from the start of the region
    region: int

    @property
    def bytes(self) -> int:
        """Bytes of the whole tensor."""
        return math.prod(self.shape) * self.element_size

    @property
    def end(self) -> int:
        """End of its bytes in the region."""
        return self.offset + self.bytes


@dataclass(frozen=True)
class Payload:
    """The parts of a payload."""

    words: tuple[int, ...]  # words of the command stream
    config: int  # CONFIG register of the NPU it is for
    id: int  # architecture it is for
    weights: bytes  # region 0
    scratch_size: int  # bytes of region 1, inputs and outputs included
    inputs: tuple[PayloadTensor, ...]
    outputs: tuple[PayloadTensor, ...]


# This code and payload.c accept the same payloads: test_payload.py compares them.


def _blocks(data: bytes) -> dict[str, bytes]:
    """Return the blocks between the first and the last one, by name."""
    blocks: dict[str, bytes] = {}
    at = 0
    while True:
        if len(data) - at < _HEADER.size:
            raise PayloadError(f"truncated at byte {len(data)}: no {_END}")
        raw, size = _HEADER.unpack_from(data, at)
        name = raw.split(b"\0")[0].decode("ascii", "replace")
        start = at + _HEADER.size
        at = start + (size + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT
        if at > len(data):
            raise PayloadError(
                f"block {name!r} needs {size} bytes and padding, but {len(data) - start} bytes "
                "are left"
            )
        if name == _END:
            return blocks
        if start == _HEADER.size:
            if name.encode() != MAGIC:
                raise PayloadError("no vela_bin_stream at the start")
        elif name not in _BLOCKS:
            raise PayloadError(f"unknown block {name!r}")
        elif name in blocks:
            raise PayloadError(f"block {name!r} comes twice")
        else:
            blocks[name] = data[start : start + size]


def _check_tensor(name: str, tensor: PayloadTensor, scratch_size: int) -> None:
    problem = ""
    if min(tensor.shape) < 1:
        problem = f"shape {tensor.shape}: dimensions are 1 or more"
    elif tensor.element_size not in (1, 2, 4, 8):
        problem = f"elements of {tensor.element_size} bytes, not 1, 2, 4 or 8"
    elif tensor.bytes > _MOST_BYTES:
        problem = f"{tensor.bytes} bytes, {_MOST_BYTES} are the most"
    elif tensor.region not in _SCRATCH_REGIONS:
        problem = f"region {tensor.region}, not 1 (scratch) or 2 (fast scratch)"
    elif tensor.offset < 0:
        problem = f"offset {tensor.offset} is negative"
    elif tensor.region == 1 and tensor.end > scratch_size:
        problem = f"ends at byte {tensor.end} of a scratch of {scratch_size}"
    if problem:
        raise PayloadError(f"{name}: {problem}")


def _tensors(kind: str, data: bytes, scratch_size: int) -> tuple[PayloadTensor, ...]:
    """Return the entries of block `kind`, "inputs" or "outputs"."""
    if len(data) < 4:
        raise PayloadError(f"block {kind!r} is truncated: {len(data)} bytes")
    (count,) = struct.unpack_from("<I", data)
    if count > (len(data) - 4) // _TENSOR.size:
        raise PayloadError(f"block {kind!r} is truncated: {count} entries in {len(data)} bytes")
    tensors = []
    for index in range(count):
        entry = _TENSOR.unpack_from(data, 4 + _TENSOR.size * index)
        tensor = PayloadTensor(tuple(entry[:6]), *entry[6:])
        _check_tensor(f"{kind.removesuffix('s')} {index}", tensor, scratch_size)
        tensors.append(tensor)
    return tuple(tensors)


def _parse_commands(data: bytes) -> tuple[tuple[int, ...], int, int]:
    """Return words, config and id of a block of driver actions ("COP1")."""
    if len(data) % 4 != 0:
        raise PayloadError(f"the commands are {len(data)} bytes, which is not a multiple of 4")
    words = struct.unpack(f"<{len(data) // 4}I", data)
    if not words or words[0] != _COP1:
        raise PayloadError("the commands do not start with COP1")
    config: tuple[int, ...] = ()
    at = 1
    while at < len(words):
        tag = words[at]
        at += 1
        action = tag & 0xFF
        if action == 1 and at + 2 <= len(words):
            config = words[at : at + 2]
            at += 2
        elif action == 2:
            count = tag >> 16 | (tag >> 8 & 0xFF) << 16
            if not config:
                raise PayloadError("the command words come before their configuration")
            if at + count > len(words):
                raise PayloadError(
                    f"{count} command words are announced, but {len(words) - at} follow"
                )
            if 4 * at % _ALIGNMENT != 0:
                raise PayloadError(
                    f"the command words start at byte {4 * at} of their block, which is not "
                    f"aligned to {_ALIGNMENT} bytes"
                )
            return words[at : at + count], config[0], config[1]
        elif action != 5:
            raise PayloadError(f"unknown or truncated driver action {tag:#x}")
    raise PayloadError("no command stream")


def _scratch_size(blocks: dict[str, bytes]) -> int:
    """Return the scratch size, from a number or from the count of bytes."""
    if "scratch_data" in blocks:
        if "scratch_size" in blocks:
            raise PayloadError("it has both scratch_size and scratch_data")
        return len(blocks["scratch_data"])
    number = blocks["scratch_size"]
    if len(number) != 4:
        raise PayloadError(f"scratch_size has {len(number)} bytes, not 4")
    return int.from_bytes(number, "little")


def _as_bytes(data: object) -> bytes:
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(
            f"a payload must be bytes; got {type(data).__name__}. read_payloads(path) reads a "
            "file's"
        )
    return bytes(data)


def parse_payload(data: bytes) -> Payload:
    """Parse a payload. Raise PayloadError, or TypeError for objects other than bytes."""
    blocks = _blocks(_as_bytes(data))
    try:
        words, config, identity = _parse_commands(blocks["cmd_data"])
        scratch_size = _scratch_size(blocks)
        return Payload(
            words=words,
            config=config,
            id=identity,
            weights=blocks["weight_data"],
            scratch_size=scratch_size,
            inputs=_tensors("inputs", blocks["inputs"], scratch_size),
            outputs=_tensors("outputs", blocks["outputs"], scratch_size),
        )
    except KeyError as error:
        raise PayloadError(f"block {error} is missing") from error
