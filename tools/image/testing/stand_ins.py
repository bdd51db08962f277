# SPDX-License-Identifier: Apache-2.0
"""A board and an image for tests of flashing."""

import dataclasses
from pathlib import Path

from boards.board import Board, load_board
from tools.image.flash_tools import Image

IMAGE = Image(Path("app.hex"), Path("app.bin"))

# 16 bytes at 0x10000000, 4 at 0x100001fe: of two pages.
HEX = """\
:020000041000EA
:10000000000102030405060708090A0B0C0D0E0F78
:0401FE00AABBCCDDEF
:00000001FF
"""


def board_with(*methods: dict[str, object]) -> Board:
    """Return a board with these flash methods."""
    board = load_board(Path("boards/corstone300/corstone300.json"))
    return dataclasses.replace(board, flash=methods)


def connect(usb: Path, vendor: str, name: str, serial: str, product: str = "0001") -> None:
    """Add a device to the USB data reported by Linux."""
    device = usb / f"1-{serial}"
    device.mkdir(parents=True)
    says = {"idVendor": vendor, "idProduct": product, "product": name, "serial": serial}
    for file, text in says.items():
        (device / file).write_text(f"{text}\n")
