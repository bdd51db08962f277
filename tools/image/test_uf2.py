# SPDX-License-Identifier: Apache-2.0
"""UF2: blocks, the Intel hex input, and drives of boot loaders."""

import errno
import os
import threading
from pathlib import Path

import pytest

from tools.image.flash import FlashError, flash
from tools.image.testing.stand_ins import HEX, IMAGE, board_with
from tools.image.uf2 import HexError, drives, read_hex, uf2


def test_uf2_says_where_each_page_belongs() -> None:
    memory = read_hex(HEX)
    assert memory[0x10000000] == 0 and memory[0x100001FE] == 0xAA and len(memory) == 20
    data = uf2(memory, 0xE48BFF56)
    blocks = [data[at : at + 512] for at in range(0, len(data), 512)]
    for index, (block, page) in enumerate(zip(blocks, (0, 1, 2), strict=True)):
        words = [int.from_bytes(block[at : at + 4], "little") for at in range(0, 32, 4)]
        assert words == [
            *(0x0A324655, 0x9E5D5157, 0x2000),
            *(0x10000000 + 256 * page, 256, index, 3, 0xE48BFF56),
        ]
        assert block[-4:] == bytes.fromhex("306fb10a")
    assert blocks[0][32 : 32 + 17] == bytes(range(16)) + b"\xff"
    assert blocks[1][32 + 254 : 32 + 256] == b"\xaa\xbb"
    assert blocks[2][32 : 32 + 3] == b"\xcc\xdd\xff"


@pytest.mark.parametrize("line", [":0401FE00AABBCCDDEE", ":04", "hello", ":020000041000"])
def test_a_damaged_hex_file(line: str) -> None:
    with pytest.raises(HexError, match="line 2"):
        read_hex(f":00000001FF\n{line}\n")


def test_a_boot_loaders_drive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    method = {
        "method": "uf2",
        "board_id": "RPI-RP2",
        "family": 0xE48BFF56,
        "hint": "hold BOOTSEL while you plug it in",
    }
    places = [tmp_path / name for name in ("stick", "loader", "other")]
    for place in places:
        place.mkdir()
    (places[1] / "INFO_UF2.TXT").write_text("UF2 Bootloader v3.0\nBoard-ID: RPI-RP2\n")
    (places[2] / "INFO_UF2.TXT").write_text("Board-ID: SAMD51\n")
    assert drives("RPI-RP2", places) == [places[1]]

    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(tmp_path))
    (tmp_path / "app.hex").write_text(HEX)
    board = board_with(method, {"method": "pyocd", "target": "rp2040"})
    monkeypatch.setattr("tools.image.uf2._mounted", lambda: places[:1])
    with pytest.raises(
        FlashError, match="no drives .* RPI-RP2 .*: hold BOOTSEL .* mount it"
    ) as none:
        flash(board, IMAGE, "", "", [])
    assert str(none.value).endswith("; --flash_tool=pyocd with a debug probe")
    again = tmp_path / "mounted again"
    again.symlink_to(places[1])
    monkeypatch.setattr("tools.image.uf2._mounted", lambda: [*places, again])
    with pytest.raises(FlashError, match="takes no further arguments; got --verbose"):
        flash(board, IMAGE, "", "", ["--verbose"])
    flash(board, IMAGE, "", "", [])
    assert (places[1] / "image.uf2").read_bytes() == uf2(read_hex(HEX), 0xE48BFF56)
    (places[2] / "INFO_UF2.TXT").write_text("Board-ID: RPI-RP2\n")
    with pytest.raises(FlashError) as several:
        flash(board, IMAGE, "", "", [])
    assert str(several.value).splitlines()[1:] == [f"  --probe={place}" for place in places[1:]]
    assert not (places[2] / "image.uf2").exists()
    flash(board, IMAGE, "", str(places[2]), [])
    assert (places[2] / "image.uf2").exists()
    with pytest.raises(FlashError, match="are mounted at /elsewhere: hold"):
        flash(board, IMAGE, "", "/elsewhere", [])


@pytest.mark.parametrize("call", ["fsync", "write"])
@pytest.mark.parametrize("says_disks", [True, False])
@pytest.mark.parametrize("is_gone", [True, False])
def test_a_board_that_restarts_before_the_system_has_noted_the_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    is_gone: bool,
    says_disks: bool,
    call: str,
) -> None:
    """The drive is gone then, but its files may stay cached. A damaged drive is different."""
    info = tmp_path / "INFO_UF2.TXT"
    info.write_text("Board-ID: RP2350\n")
    (tmp_path / "app.hex").write_text(HEX)
    device = tmp_path.stat().st_dev
    disk = tmp_path / "disks" / f"{os.major(device)}:{os.minor(device)}"
    if says_disks:
        disk.mkdir(parents=True)

    def fails(descriptor: int, data: bytes = b"") -> int:
        del descriptor, data
        if is_gone:
            threading.Timer(0.3, disk.rmdir if says_disks else info.unlink).start()
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(f"tools.image.uf2.os.{call}", fails)
    monkeypatch.setattr("tools.image.uf2._DISKS", disk.parent)
    monkeypatch.setattr("tools.image.uf2._SECONDS_TO_GO", 10 if is_gone else 0.2)
    monkeypatch.setattr("tools.image.uf2._mounted", lambda: [tmp_path])
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(tmp_path))
    method = {"method": "uf2", "board_id": "RP2350", "family": 0xE48BFF59, "hint": ""}
    if is_gone:
        flash(board_with(method), IMAGE, "", "", [])
        assert "the drive is gone, as it is when the board has all" in capsys.readouterr().out
    else:
        with pytest.raises(FlashError, match="could not be copied to .*Input/output error"):
            flash(board_with(method), IMAGE, "", "", [])
