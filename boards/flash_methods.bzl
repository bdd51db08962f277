# SPDX-License-Identifier: Apache-2.0
"""Methods to write an image into a chip's memory, selected by boards."""

def pyocd(target):
    """Flashes with pyOCD and a debug probe. `target` is the chip's name there."""
    return {"method": "pyocd", "target": target}

def openocd(*files):
    """Flashes with OpenOCD and a debug probe, with its files for probe and chip."""
    return {"method": "openocd", "files": list(files)}

def jlink(device):
    """Flashes with a J-Link. `device` is the chip's name there."""
    return {"method": "jlink", "device": device}

def st_link():
    """Flashes with an ST-LINK, by ST's program or st-flash: a list of both."""
    return [{"method": "stm32_programmer"}, {"method": "st_flash"}]

def dfu_util(usb, address):
    """Flashes with the chip's own loader over USB, with this vendor:product, to an address."""
    return {"method": "dfu_util", "usb": usb, "address": address}

def uf2(board_id, family, hint):
    """Flashes with a boot loader that is a USB drive.

    Args:
      board_id: its Board-ID in INFO_UF2.TXT.
      family: number of the chip in UF2 files.
      hint: how to make the drive appear.
    """
    return {"method": "uf2", "board_id": board_id, "family": family, "hint": hint}

def bossac(offset = 0):
    """Flashes with an Arduino's boot loader.

    Args:
      offset: address for the tool. 0 if the loader writes data after itself.
    """
    return {"method": "bossac", "offset": offset}

def linkserver(device):
    """Flashes with NXP's LinkServer. `device` is the name of chip and board there."""
    return {"method": "linkserver", "device": device}
