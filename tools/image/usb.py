# SPDX-License-Identifier: Apache-2.0
"""USB devices connected to this machine, reported by Linux."""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

DEVICES = Path("/sys/bus/usb/devices")
_NODES = Path("/dev/bus/usb")


@dataclass(frozen=True)
class UsbDevice:
    """USB device.

    Attributes:
        vendor: its vendor's number, in hexadecimal.
        product: its product number of this vendor, in hexadecimal.
        name: its own name.
        serial: its serial number.
        ports: names of its serial ports, in order.
        node: device file used by programs; None if the system does not report it.
    """

    vendor: str
    product: str
    name: str
    serial: str
    ports: tuple[str, ...]
    node: Path | None = None

    @property
    def may_be_used(self) -> bool:
        """Return True if this user may open the device, or no restriction is known."""
        return (
            self.node is None or not self.node.exists() or os.access(self.node, os.R_OK | os.W_OK)
        )


def _says(device: Path, name: str) -> str:
    try:
        return (device / name).read_text(errors="replace").strip()
    except OSError:  # missing information, or the device was just unplugged
        return ""


def _ports(device: Path) -> list[str]:
    """Return the serial ports. An adapter's port is one level deeper than a modem's (cdc_acm)."""
    ports = set()
    for place in ("tty/tty*", "ttyUSB*"):
        with contextlib.suppress(OSError):  # it is unplugged just now
            ports |= {port.name for port in device.glob(f"*:*/{place}")}
    return sorted(ports)


def usb_devices(folder: Path = DEVICES, nodes: Path = _NODES) -> list[UsbDevice]:
    """Return all devices, in order; none if the system does not report them."""
    found = []
    for vendor in sorted(folder.glob("*/idVendor")):
        device = vendor.parent
        names = ("idVendor", "idProduct", "product", "serial", "busnum", "devnum")
        number, product, name, serial, bus, place = (_says(device, name) for name in names)
        node = nodes / f"{int(bus):03}" / f"{int(place):03}" if bus and place else None
        found.append(UsbDevice(number, product, name, serial, tuple(_ports(device)), node))
    return found
