# SPDX-License-Identifier: Apache-2.0
"""What is connected by USB, as Linux says it."""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

DEVICES = Path("/sys/bus/usb/devices")
_NODES = Path("/dev/bus/usb")


@dataclass(frozen=True)
class UsbDevice:
    """A device.

    Attributes:
        vendor: its vendor's number, in hexadecimal.
        product: its number among those of the vendor, likewise.
        name: what it calls itself.
        serial: its serial number.
        ports: names of its serial ports, in order.
        node: what programs open that use it; None where the system does not say.
    """

    vendor: str
    product: str
    name: str
    serial: str
    ports: tuple[str, ...]
    node: Path | None = None

    @property
    def may_be_used(self) -> bool:
        """Whether this user may open it, or nothing says that he may not."""
        return (
            self.node is None or not self.node.exists() or os.access(self.node, os.R_OK | os.W_OK)
        )


def _says(device: Path, name: str) -> str:
    try:
        return (device / name).read_text(errors="replace").strip()
    except OSError:  # it does not say, or is unplugged just now
        return ""


def _ports(device: Path) -> list[str]:
    """A serial adapter's port is a step further down than that of a modem (cdc_acm)."""
    ports = set()
    for place in ("tty/tty*", "ttyUSB*"):
        with contextlib.suppress(OSError):  # it is unplugged just now
            ports |= {port.name for port in device.glob(f"*:*/{place}")}
    return sorted(ports)


def usb_devices(folder: Path = DEVICES, nodes: Path = _NODES) -> list[UsbDevice]:
    """All devices, in order; none where the system does not say."""
    found = []
    for vendor in sorted(folder.glob("*/idVendor")):
        device = vendor.parent
        names = ("idVendor", "idProduct", "product", "serial", "busnum", "devnum")
        number, product, name, serial, bus, place = (_says(device, name) for name in names)
        node = nodes / f"{int(bus):03}" / f"{int(place):03}" if bus and place else None
        found.append(UsbDevice(number, product, name, serial, tuple(_ports(device)), node))
    return found
