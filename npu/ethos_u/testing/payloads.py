# SPDX-License-Identifier: Apache-2.0
"""Payloads written by hand, for tests."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from npu.ethos_u.isa import COMMANDS, Family

_KEYS = {command.name: key for family in Family for key, command in COMMANDS[family].items()}
U55_128 = 0x00001807

# Name, parameter, payload word: a copy of 2x3 pixels of 4 int8 channels, NHWC, in region 1.
COPY: tuple[tuple[str, int, int], ...] = (
    ("SET_IFM_REGION", 1, 0),
    ("SET_IFM_BASE0", 0, 16),
    ("SET_IFM_BASE1", 0, 0),
    ("SET_IFM_BASE2", 0, 0),
    ("SET_IFM_BASE3", 0, 0),
    ("SET_IFM_HEIGHT0_M1", 1, 0),
    ("SET_IFM_HEIGHT1_M1", 1, 0),
    ("SET_IFM_WIDTH0_M1", 2, 0),
    ("SET_IFM_DEPTH_M1", 3, 0),
    ("SET_IFM_STRIDE_Y", 0, 12),
    ("SET_IFM_STRIDE_X", 0, 4),
    ("SET_IFM_STRIDE_C", 0, 1),
    ("SET_IFM_ZERO_POINT", 0, 0),
    ("SET_IFM_PRECISION", 1, 0),
    ("SET_IFM_UPSCALE", 0, 0),
    ("SET_IFM_PAD_TOP", 0, 0),
    ("SET_IFM_PAD_LEFT", 0, 0),
    ("SET_IFM_PAD_BOTTOM", 0, 0),
    ("SET_IFM_PAD_RIGHT", 0, 0),
    ("SET_OFM_REGION", 1, 0),
    ("SET_OFM_BASE0", 0, 64),
    ("SET_OFM_BASE1", 0, 0),
    ("SET_OFM_BASE2", 0, 0),
    ("SET_OFM_BASE3", 0, 0),
    ("SET_OFM_HEIGHT_M1", 1, 0),
    ("SET_OFM_WIDTH_M1", 2, 0),
    ("SET_OFM_HEIGHT0_M1", 1, 0),
    ("SET_OFM_HEIGHT1_M1", 1, 0),
    ("SET_OFM_WIDTH0_M1", 2, 0),
    ("SET_OFM_DEPTH_M1", 3, 0),
    ("SET_OFM_STRIDE_Y", 0, 12),
    ("SET_OFM_STRIDE_X", 0, 4),
    ("SET_OFM_STRIDE_C", 0, 1),
    ("SET_OFM_ZERO_POINT", 0, 0),
    ("SET_OFM_PRECISION", 0x101, 0),
    ("SET_KERNEL_HEIGHT_M1", 0, 0),
    ("SET_KERNEL_WIDTH_M1", 0, 0),
    ("SET_KERNEL_STRIDE", 0, 0),
    ("SET_ACTIVATION", 0, 0),
    ("SET_ACTIVATION_MIN", 0xFF80, 0),
    ("SET_ACTIVATION_MAX", 127, 0),
    ("SET_OFM_SCALE", 0, 1),
    ("SET_OFM_BLK_HEIGHT_M1", 1, 0),
    ("SET_OFM_BLK_WIDTH_M1", 3, 0),
    ("SET_OFM_BLK_DEPTH_M1", 7, 0),
    ("SET_ACC_FORMAT", 0, 0),
    ("OP_POOL", 1, 0),
    ("OP_STOP", 0xFFFF, 0),
)


def words(commands: Iterable[tuple[str, int, int]]) -> list[int]:
    """Return command words."""
    stream = []
    for name, parameter, payload in commands:
        key = _KEYS[name]
        stream.append(key | parameter << 16)
        if key >> 14 == 1:
            stream.append(payload)
    return stream


def block(name: str, data: bytes) -> bytes:
    """Return a block of a payload, with its header and padding."""
    return struct.pack("<16sI12x", name.encode(), len(data)) + data + bytes(-len(data) % 16)


def _tensor(offset: int) -> bytes:
    return struct.pack("<10i", 1, 1, 1, 1, 2, 3, 4, 1, offset, 1)


def payload(
    commands: Iterable[tuple[str, int, int]] = COPY,
    config: int = U55_128,
    blocks: dict[str, bytes] | None = None,
) -> bytes:
    """Return a whole payload; `blocks` replaces some of its blocks."""
    stream = words(commands)
    actions = [0x31504F43, 0x00100001, config, 0x10066001, 5, 5, 5, 2 | len(stream) << 16]
    contents = {
        "vela_bin_stream": b"",
        "cmd_data": struct.pack(f"<{len(actions) + len(stream)}I", *actions, *stream),
        "weight_data": bytes(range(256)),
        "scratch_size": struct.pack("<I", 96),
        "inputs": _tensor(16),
        "outputs": _tensor(64),
        "vela_end_stream": b"",
    } | (blocks or {})
    return b"".join(block(name, data) for name, data in contents.items())


def changed(name: str, parameter: int, value: int = 0) -> list[tuple[str, int, int]]:
    """Return COPY with another parameter and payload word in the command of that name."""
    return [(n, parameter, value) if n == name else (n, p, v) for n, p, v in COPY]
