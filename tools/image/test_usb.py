# SPDX-License-Identifier: Apache-2.0
"""USB devices reported by Linux."""

from pathlib import Path
from typing import Any

import pytest

from tools.image.testing.stand_ins import connect
from tools.image.usb import usb_devices


def test_ports_and_nodes(tmp_path: Path) -> None:
    """Ports of a modem, an adapter, and a probe with two of them."""
    for serial, ports in {
        "A": ["1.0/tty/ttyACM0"],
        "B": ["1.0/ttyUSB0/tty/ttyUSB0"],
        "C": ["1.1/tty/ttyACM1", "1.3/tty/ttyACM2"],
        "D": [],
    }.items():
        connect(tmp_path, "1366", "J-Link", serial)
        for port in ports:
            (tmp_path / f"1-{serial}" / f"1-{serial}:{port}").mkdir(parents=True)
    (tmp_path / "1-A" / "busnum").write_text("3\n")
    (tmp_path / "1-A" / "devnum").write_text("12\n")
    found = usb_devices(tmp_path)
    assert [one.ports for one in found] == [("ttyACM0",), ("ttyUSB0",), ("ttyACM1", "ttyACM2"), ()]
    assert [one.node for one in found] == [Path("/dev/bus/usb/003/012"), None, None, None]


def test_a_device_that_is_unplugged_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A board's device disappears like this when it restarts while we wait for its port."""
    for serial in "AB":
        connect(tmp_path, "1366", "J-Link", serial)
        (tmp_path / f"1-{serial}" / f"1-{serial}:1.0" / "tty" / f"ttyACM{serial}").mkdir(
            parents=True
        )
    read_text, glob = Path.read_text, Path.glob

    def gone(path: Path, *arguments: Any, **named: Any) -> Any:
        if "1-A" in path.parts:
            raise FileNotFoundError(path)
        return (glob if arguments else read_text)(path, *arguments, **named)

    monkeypatch.setattr(Path, "read_text", gone)
    monkeypatch.setattr(Path, "glob", gone)
    found = usb_devices(tmp_path)
    assert [(one.serial, one.ports) for one in found] == [("", ()), ("B", ("ttyACMB",))]
