# SPDX-License-Identifier: Apache-2.0
"""Ethos-U payloads as ExecuTorch stores them, from a file of their own or out of a .pte."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from firmware.ethos_u.pte_delegates import ethos_u_delegates

MAGIC = b"vela_bin_stream"
_HEADER = struct.Struct("<16sI12x")
_TENSOR = struct.Struct("<9i")
_COP1 = 0x31504F43


class PayloadError(ValueError):
    """A payload that is truncated, corrupt or not Vela's."""


@dataclass(frozen=True)
class Tensor:
    """An input or output: `shape` is padded in front with 1 to six dimensions."""

    shape: tuple[int, ...]
    element_size: int  # bytes
    offset: int  # bytes from the start of the region
    region: int


@dataclass(frozen=True)
class Payload:
    """The parts of a payload."""

    words: tuple[int, ...]  # of the command stream
    config: int  # CONFIG register of the NPU it is for
    id: int  # architecture it is for
    weights: bytes  # region 0
    scratch_size: int  # bytes of region 1
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]


def _tensors(data: bytes) -> tuple[Tensor, ...]:
    (count,) = struct.unpack_from("<i", data)
    entries = [_TENSOR.unpack_from(data, 4 + _TENSOR.size * i) for i in range(count)]
    return tuple(Tensor(tuple(e[:6]), e[6], e[7], e[8]) for e in entries)


def _parse_commands(data: bytes) -> tuple[tuple[int, ...], int, int]:
    """Words, config and id of a block of driver actions ("COP1")."""
    words = struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])
    if not words or words[0] != _COP1:
        raise PayloadError("the commands do not start with COP1")
    config = identity = 0
    at = 1
    while at < len(words):
        tag = words[at]
        at += 1
        action = tag & 0xFF
        if action == 1 and at + 2 <= len(words):
            config, identity = words[at : at + 2]
            at += 2
        elif action == 2:
            count = tag >> 16 | (tag >> 8 & 0xFF) << 16
            if at + count > len(words):
                raise PayloadError(f"{count} command words are announced, {len(words) - at} follow")
            return words[at : at + count], config, identity
        elif action != 5:
            raise PayloadError(f"unknown driver action {tag:#x}")
    raise PayloadError("no command stream")


def parse_payload(data: bytes) -> Payload:
    """Takes a payload apart. Raises PayloadError."""
    if not data.startswith(MAGIC):
        raise PayloadError("no vela_bin_stream at the start")
    blocks: dict[str, bytes] = {}
    at = 0
    while "vela_end_stream" not in blocks:
        if len(data) - at < _HEADER.size:
            raise PayloadError(f"truncated at byte {len(data)}: no vela_end_stream")
        name, size = _HEADER.unpack_from(data, at)
        at += _HEADER.size
        if len(data) - at < size:
            raise PayloadError(f"block {name!r} has {size} bytes, {len(data) - at} are left")
        blocks[name.rstrip(b"\0").decode("ascii", "replace")] = data[at : at + size]
        at += (size + 15) // 16 * 16
    try:
        words, config, identity = _parse_commands(blocks["cmd_data"])
        scratch = blocks.get("scratch_size")
        return Payload(
            words=words,
            config=config,
            id=identity,
            weights=blocks["weight_data"],
            scratch_size=(
                struct.unpack("<I", scratch)[0] if scratch else len(blocks["scratch_data"])
            ),
            inputs=_tensors(blocks["inputs"]),
            outputs=_tensors(blocks["outputs"]),
        )
    except KeyError as error:
        raise PayloadError(f"block {error} is missing") from error
    except struct.error as error:
        raise PayloadError(f"a block is truncated: {error}") from error


def read_payloads(path: Path) -> list[bytes]:
    """The payloads of a file: itself, if it is one, else the Ethos-U delegates of a .pte."""
    data = path.read_bytes()
    if data.startswith(MAGIC):
        return [data]
    if data[4:6] != b"ET":
        raise PayloadError(f"{path} is neither a payload nor a .pte file")
    try:
        return ethos_u_delegates(data)
    except ValueError as error:
        raise PayloadError(f"{path}: {error}") from error
