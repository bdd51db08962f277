# SPDX-License-Identifier: Apache-2.0
"""Drive of a boot loader: a FAT16 volume, and a stand-in for the loader.

The program `.flash` finds the drive among the mounted ones and writes its file there. QEMU makes a
FAT16 volume of that folder. The stand-in reads its sectors by the rules of "USB Flashing Format"
and of the chips' datasheets.
"""

import json
import random
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest
from absl.testing import flagsaver
from intelhex import IntelHex

from boards.board import Board, load_board
from tools.image.flash import main
from tools.simulator.simulate import Tools

_SECTOR = 512
_BOARDS = ("pico", "pico2")
_FAMILIES = {"pico": 0xE48BFF56, "pico2": 0xE48BFF59}  # from the list of UF2's makers
_IDS = {"pico": "RPI-RP2", "pico2": "RP2350"}  # Board-ID of the datasheets
_SPOILED = {"magic": 0, "other magic": 4, "address": 12, "size": 16, "number": 20, "family": 28}


class Refused(Exception):
    """Data refused by the loader; the text gives the reason."""


def _board(name: str) -> Board:
    return load_board(Path(f"boards/{name}/{name}.data.json"))


def _fat16(folder: Path, volume: Path) -> None:
    """Write a disk with one FAT16 partition containing the folder's files."""
    command = [
        *(str(Tools.of_build().qemu), "-machine", "none", "-display", "none", "-serial", "none"),
        *("-monitor", "none", "-qmp", "stdio"),
        *("-drive", f"if=none,id=drive,format=raw,readonly=on,file=fat:16:{folder}"),
    ]
    backup = {"device": "drive", "target": str(volume), "sync": "full", "format": "raw"}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as qemu:
        assert qemu.stdin is not None and qemu.stdout is not None
        try:
            for name, arguments in (("qmp_capabilities", {}), ("drive-backup", backup)):
                line = json.dumps({"execute": name, "arguments": arguments})
                qemu.stdin.write(line.encode() + b"\n")
                qemu.stdin.flush()
            said = next(line for line in qemu.stdout if b"error" in line or b"_COMPLETED" in line)
        finally:
            qemu.kill()
    assert b"error" not in said, said


def _files(disk: BinaryIO) -> dict[str, bytes]:
    """The files in the root of the disk's first partition, whole sectors of them."""

    def sectors(at: int, count: int) -> bytes:
        disk.seek(at * _SECTOR)
        return disk.read(count * _SECTOR)

    entry = sectors(0, 1)[0x1BE:0x1CE]
    assert entry[4] == 6  # FAT16
    (start,) = struct.unpack_from("<I", entry, 8)
    boot = sectors(start, 1)
    size, cluster, reserved, fats, root = struct.unpack_from("<HBHBH", boot, 11)
    (per_fat,) = struct.unpack_from("<H", boot, 22)
    assert size == _SECTOR and boot[510:] == b"\x55\xaa"
    chain = struct.unpack(f"<{per_fat * 256}H", sectors(start + reserved, per_fat))
    root_at = start + reserved + fats * per_fat
    data = root_at + root * 32 // _SECTOR

    def contents(first: int) -> Iterator[bytes]:
        while first < 0xFFF8:
            yield sectors(data + (first - 2) * cluster, cluster)
            first = chain[first]

    found = {}
    directory = sectors(root_at, root * 32 // _SECTOR)
    for at in range(0, len(directory), 32):
        name, attributes = directory[at : at + 11], directory[at + 11]
        if name[0] in (0, 0xE5) or attributes & 8:  # none, deleted; a long name, the volume's
            continue
        first, length = struct.unpack_from("<HI", directory, at + 26)
        key = f"{name[:8].decode().rstrip()}.{name[8:].decode().rstrip()}"
        found[key] = b"".join(contents(first))[: -(-length // _SECTOR) * _SECTOR]
    return found


def _load(sectors: bytes, family: int, start: int, size: int) -> dict[int, bytes]:
    """Return the data a loader writes to a flash memory, by address.

    Raises:
        Refused: a block is not for it, or some blocks are missing.
    """
    pages: dict[int, bytes] = {}
    seen = set()
    total = len(sectors) // _SECTOR
    for at in range(0, len(sectors), _SECTOR):
        block = sectors[at : at + _SECTOR]
        first, second, flags, address, length, number, blocks, chip = struct.unpack_from(
            "<8I", block
        )
        (last,) = struct.unpack_from("<I", block, _SECTOR - 4)
        if (first, second, last) != (0x0A324655, 0x9E5D5157, 0x0AB16F30):
            raise Refused("magic words")
        if not flags & 0x2000 or flags & 1 or chip != family:
            raise Refused("another family, or not for the flash memory")
        if length != 256 or address % 256:
            raise Refused("not a page")
        if not start <= address <= start + size - length or address in pages:
            raise Refused("address")
        if blocks != total or number >= blocks or number in seen:
            raise Refused("number")
        seen.add(number)
        pages[address] = block[32 : 32 + length]
    return pages


@pytest.fixture(scope="module")
def image() -> IntelHex:
    """Return an image of two parts from address 0. They do not fill their pages, and
    cross 64 KB.
    """
    draw = random.Random(20)
    written = IntelHex()
    written.puts(0, draw.randbytes(70_003))
    written.puts(0x1FF7E, draw.randbytes(300))
    return written


def _drive(folder: Path, board_id: str) -> Path:
    folder.mkdir()
    (folder / "INFO_UF2.TXT").write_text(f"UF2 Bootloader v3.0\r\nBoard-ID: {board_id}\r\n")
    (folder / "INDEX.HTM").write_text("<html></html>")
    return folder


def _flashed(name: str, image: IntelHex, folder: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Flash a board whose drive is one of two, and return the sectors the drive received."""
    board = _board(name)
    drives = {each: _drive(folder / f"a drive {each}", _IDS[each]) for each in _BOARDS}
    mounts = folder / "mounts"
    escaped = [str(drive).replace(" ", r"\040") for drive in drives.values()]
    lines = [
        f"{what} vfat rw,nosuid 0 0\n" for what in ("proc /proc", *map("sd {}".format, escaped))
    ]
    mounts.write_text("".join(lines))
    monkeypatch.setattr("tools.image.uf2._MOUNTS", mounts)
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(folder))
    placed = IntelHex()
    base = board.memory(board.code).base
    for start, end in image.segments():
        placed.puts(base + start, image.gets(start, end - start))
    hex_file = folder / "app.hex"
    placed.write_hex_file(str(hex_file))
    data = Path(f"boards/{name}/{name}.data.json")
    with flagsaver.as_parsed(board=str(data), flash_tool="uf2", probe=""):
        assert main(["flash", str(hex_file), str(hex_file)]) == 0
    found = {}
    for each, drive in drives.items():
        volume = folder / f"{each}.img"
        _fat16(drive, volume)
        with volume.open("rb") as disk:
            found[each] = _files(disk)
        volume.unlink()
        assert {"INFO_UF2.TXT", "INDEX.HTM"} <= set(found[each])
    (other,) = set(_BOARDS) - {name}
    assert len(found[name]) == 3 and len(found[other]) == 2
    return found[name]["IMAGE.UF2"]


@pytest.mark.parametrize("name", _BOARDS)
def test_the_loader_gets_the_image(
    name: str, image: IntelHex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = _board(name).memory(_board(name).code)
    sectors = _flashed(name, image, tmp_path, monkeypatch)
    pages = _load(sectors, _FAMILIES[name], memory.base, memory.size)
    image.padding = 0xFF
    for address, page in pages.items():
        at = address - memory.base
        assert page == image.tobinstr(start=at, size=256)
    touched = {address // 256 for address in image.addresses()}
    assert {(address - memory.base) // 256 for address in pages} == touched

    for what, at in _SPOILED.items():
        spoiled = bytearray(sectors)
        spoiled[_SECTOR + at] ^= 0x80
        with pytest.raises(Refused):
            _load(bytes(spoiled), _FAMILIES[name], memory.base, memory.size)
            pytest.fail(what)
    with pytest.raises(Refused, match="number"):
        _load(sectors[:-_SECTOR], _FAMILIES[name], memory.base, memory.size)
