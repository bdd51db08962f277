# SPDX-License-Identifier: Apache-2.0
"""How an image gets into a chip's memory: the ways that boards name."""

def pyocd(target):
    """Flashed through a debug probe by pyOCD, which calls the chip `target`."""
    return {"method": "pyocd", "target": target}

def openocd(*files):
    """Flashed through a debug probe by OpenOCD, with its files for the probe and the chip."""
    return {"method": "openocd", "files": list(files)}

def jlink(device):
    """Flashed through a J-Link, whose software calls the chip `device`."""
    return {"method": "jlink", "device": device}

def st_link():
    """Flashed through an ST-LINK, by ST's program or by st-flash: a list of both."""
    return [{"method": "stm32_programmer"}, {"method": "st_flash"}]

def dfu_util(usb, address):
    """Flashed by the chip's own loader over USB, of that vendor:product, to an address."""
    return {"method": "dfu_util", "usb": usb, "address": address}

def uf2(board_id, family, hint):
    """Flashed by a boot loader that is a USB drive.

    Args:
      board_id: what its INFO_UF2.TXT has as Board-ID.
      family: the chip's number in UF2 files.
      hint: how the drive is made to appear.
    """
    return {"method": "uf2", "board_id": board_id, "family": family, "hint": hint}

def bossac(offset = 0):
    """Flashed by an Arduino's boot loader.

    Args:
      offset: where it is told to write; 0 if it puts what it gets behind itself.
    """
    return {"method": "bossac", "offset": offset}

def linkserver(device):
    """Flashed by NXP's LinkServer, which calls chip and board `device`."""
    return {"method": "linkserver", "device": device}
