# SPDX-License-Identifier: Apache-2.0
"""What is connected by USB, as Linux says it."""

from dataclasses import dataclass
from pathlib import Path

DEVICES = Path("/sys/bus/usb/devices")


@dataclass(frozen=True)
class UsbDevice:
    """A device: its vendor's number, in hexadecimal, what it calls itself, its serial number, the
    name of its serial port, "" if it has none.
    """

    vendor: str
    name: str
    serial: str
    port: str


def usb_devices(folder: Path) -> list[UsbDevice]:
    """All devices, in order; none where the system does not say."""
    found = []
    for device in sorted(folder.glob("*/idVendor")):
        vendor, name, serial = (
            path.read_text(errors="replace").strip() if path.exists() else ""
            for path in (device, device.with_name("product"), device.with_name("serial"))
        )
        ports = sorted(device.parent.glob("*:*/tty/tty*"))
        found.append(UsbDevice(vendor, name, serial, ports[0].name if ports else ""))
    return found
