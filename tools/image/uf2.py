# SPDX-License-Identifier: Apache-2.0
"""Images for boot loaders with a USB drive: UF2, and the drive.

A UF2 file is a sequence of 512-byte blocks. Each has the address of its 256 bytes, so blocks may
arrive in any order ("USB Flashing Format").
"""

import contextlib
import errno
import os
import re
import struct
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

_MAGIC = (0x0A324655, 0x9E5D5157)
_LAST_MAGIC = 0x0AB16F30
_HAS_FAMILY = 0x00002000
_BYTES = 256
_ERASED = 0xFF
_MOUNTS = Path("/proc/mounts")
_DISKS = Path("/sys/dev/block")
_SECONDS_TO_GO = 3
_GONE = (errno.EIO, errno.ENODEV, errno.ENXIO, errno.EROFS)
_HEX_BYTES = 16  # of a record; memories start at a multiple of it

INFO = "INFO_UF2.TXT"
"""File in the root of such a drive."""


class HexError(Exception):
    """File not in Intel hex format; the text gives the position."""


def read_hex(text: str) -> dict[int, int]:
    """Return the bytes of a file in Intel's hex format by address."""
    memory: dict[int, int] = {}
    base = 0
    for number, line in enumerate(text.splitlines(), 1):
        try:
            record = bytes.fromhex(line.removeprefix(":"))
        except ValueError as error:
            raise HexError(f"line {number}: {error}") from error
        if len(record) < 5 or len(record) != record[0] + 5 or sum(record) % 256 != 0:
            raise HexError(f"line {number} is damaged")
        address, kind, data = int.from_bytes(record[1:3], "big"), record[3], record[4:-1]
        if kind == 0:
            memory |= {base + address + i: byte for i, byte in enumerate(data)}
        elif kind in (2, 4):
            base = int.from_bytes(data, "big") << (4 if kind == 2 else 16)
    return memory


def hex_text(memories: Mapping[int, bytes]) -> str:
    """Return an Intel hex file of bytes by their start address."""
    records = []
    for start, data in memories.items():
        for at in range(0, len(data), _HEX_BYTES):
            address = start + at
            if at == 0 or address & 0xFFFF < _HEX_BYTES:
                records.append(bytes([2, 0, 0, 4]) + (address >> 16).to_bytes(2, "big"))
            part = data[at : at + _HEX_BYTES]
            records.append(
                bytes([len(part)]) + (address & 0xFFFF).to_bytes(2, "big") + b"\0" + part
            )
    records.append(bytes([0, 0, 0, 1]))
    return "".join(f":{(r + bytes([-sum(r) & 0xFF])).hex().upper()}\n" for r in records)


def uf2(memory: Mapping[int, int], family: int) -> bytes:
    """Return the file for bytes by address; `family` is the chip's number in UF2."""
    pages = sorted({address // _BYTES for address in memory})
    blocks = []
    for index, page in enumerate(pages):
        start = page * _BYTES
        data = bytes(memory.get(start + i, _ERASED) for i in range(_BYTES))
        head = (*_MAGIC, _HAS_FAMILY, start, _BYTES, index, len(pages), family)
        blocks.append(struct.pack("<8I", *head) + data.ljust(476, b"\0"))
        blocks[-1] += struct.pack("<I", _LAST_MAGIC)
    return b"".join(blocks)


def _mounted() -> Iterable[Path]:
    for line in _MOUNTS.read_text().splitlines():
        yield Path(re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), line.split()[1]))


def drives(board_id: str, mounted: Iterable[Path] | None = None) -> list[Path]:
    """Return the boot loader drives of a board: `board_id` is in their INFO_UF2.TXT.

    A drive mounted at several places appears once.
    """
    found: dict[tuple[int, int], Path] = {}
    for folder in _mounted() if mounted is None else mounted:
        try:
            info = (folder / INFO).read_text(errors="replace")
            file = (folder / INFO).stat()
        except OSError:
            continue
        if f"Board-ID: {board_id}" in (line.strip() for line in info.splitlines()):
            found.setdefault((file.st_dev, file.st_ino), folder)
    return list(found.values())


def _goes(drive: Path, disk: Path | None) -> bool:
    """Return True if a drive disappears in a moment. Its files stay cached while it is mounted.
    Therefore the disk is checked instead, if the system reports it.
    """
    deadline = time.monotonic() + _SECONDS_TO_GO
    while time.monotonic() < deadline:
        try:
            os.stat(disk or drive / INFO)
        except OSError:
            return True
        time.sleep(0.1)
    return False


def copy_to_drive(data: bytes, name: str, drive: Path) -> bool:
    """Write a file and wait until the board restarts: it does so once it has the whole file.

    The drive then disappears, perhaps before the system has recorded the file, causing an error.
    Return True if the drive disappeared.
    """
    device = drive.stat().st_dev
    disk = _DISKS / f"{os.major(device)}:{os.minor(device)}"
    told = disk if disk.exists() else None
    descriptor = os.open(drive / f"{name}.uf2", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(descriptor, left) :]
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _GONE or not _goes(drive, told):
            raise
        return False
    finally:
        with contextlib.suppress(OSError):
            os.close(descriptor)
    return True
