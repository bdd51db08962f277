# SPDX-License-Identifier: Apache-2.0
"""Flashing, with stand-ins for the tools. They parse their command line like the tools."""

import json
import re
from pathlib import Path

import pytest
from absl.testing import flagsaver
from pyocd.__main__ import PyOCDTool

from tools.image.flash import FlashError, chosen_method, flash, main, visible_path
from tools.image.flash_tools import METHODS
from tools.image.testing.stand_ins import HEX, IMAGE, board_with, connect
from tools.image.usb import UsbDevice

_BOARDS = Path("boards")
_WITH_TOOLS = _BOARDS / "microbit" / "microbit.json"
_WITHOUT = _BOARDS / "corstone300" / "corstone300.json"

# Board data, and the expected command of each tool with a chosen probe.
_CALLS: list[tuple[dict[str, object], str]] = [
    (
        {"method": "pyocd", "target": "nrf51"},
        "flash --no-wait -O auto_unlock=false --target nrf51 -L pyocd.*=info --uid 42 app.hex",
    ),
    (
        {"method": "openocd", "files": ["interface/stlink.cfg", "target/stm32f4x.cfg"]},
        "-f interface/stlink.cfg -f target/stm32f4x.cfg -c adapter serial 42 "
        "-c program {app.hex} verify reset exit",
    ),
    (
        {"method": "jlink", "device": "STM32F405RG"},
        "-device STM32F405RG -if SWD -speed 4000 -autoconnect 1 -ExitOnError 1 -NoGui 1 "
        "-SelectEmuBySN 42 -CommandFile SCRIPT",
    ),
    ({"method": "stm32_programmer"}, "-c port=SWD mode=UR sn=42 -w app.hex -v -rst"),
    ({"method": "st_flash"}, "--reset --format ihex --serial 42 write app.hex"),
    (
        {"method": "dfu_util", "usb": "0483:df11", "address": 0x08000000},
        "-d 0483:df11 -S 42 -a 0 -s 0x08000000:leave -D app.bin",
    ),
    ({"method": "bossac", "offset": 0}, "--port=42 -e -w -v -R app.bin"),
    ({"method": "bossac", "offset": 0x2000}, "--port=42 -e -w -v --offset=0x2000 -R app.bin"),
    (
        {"method": "linkserver", "device": "LPC55S69:LPCXpresso55S69"},
        "flash --probe 42 LPC55S69:LPCXpresso55S69 load app.hex",
    ),
]


def _tool(folder: Path, name: str = "pyocd", status: int = 0, says: str = "") -> None:
    """Create a tool to record its arguments, its working folder, and its command file."""
    tool = folder / name
    tool.write_text(
        f'#!/bin/sh\necho "$@" >"{folder}/called"\npwd >"{folder}/in"\n'
        "for last; do :; done\n"
        f'case "$last" in */script) cat "$last" >"{folder}/script.seen";; esac\n'
        f"echo '{says}'\nexit {status}\n"
    )
    tool.chmod(0o755)


@pytest.fixture(autouse=True)
def usb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of connected devices: empty, except for the devices a test adds."""
    monkeypatch.setattr("tools.image.flash.DEVICES", tmp_path / "usb")
    return tmp_path / "usb"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a workspace with a built image, seen from the runfiles like in `bazel run`."""
    output = tmp_path / "cache" / "execroot" / "bazel-out"
    built = output / "a-board" / "bin" / "pkg" / "app.hex"
    built.parent.mkdir(parents=True)
    built.write_text(HEX)
    built.with_suffix(".bin").write_bytes(b"app")
    runfiles = tmp_path / "cache" / "app.flash.runfiles"
    (runfiles / "pkg").mkdir(parents=True)
    for kind in ("hex", "bin"):
        (runfiles / "pkg" / f"app.{kind}").symlink_to(built.with_suffix(f".{kind}"))
    (runfiles / "boards").symlink_to(_BOARDS.resolve())
    folder = tmp_path / "workspace"
    (folder / "pkg").mkdir(parents=True)
    (folder / "bazel-out").symlink_to(output)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("BUILD_WORKSPACE_DIRECTORY", str(folder))
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(folder))
    monkeypatch.chdir(runfiles)
    return folder


def _main(*further: str) -> int:
    return main(["flash", "pkg/app.hex", "pkg/app.bin", *further])


@pytest.mark.parametrize("status", [0, 3])
def test_the_tool_runs_and_its_failure_is_ours(
    tmp_path: Path, workspace: Path, capfd: pytest.CaptureFixture[str], status: int
) -> None:
    _tool(tmp_path, status=status, says="No available debug probes are connected")
    with flagsaver.as_parsed(board=str(_WITH_TOOLS), flash_tool="", probe=""):
        assert _main("--frequency=1m") == (1 if status else 0)
    image = "bazel-out/a-board/bin/pkg/app.hex"
    called = (tmp_path / "called").read_text()
    options = "--no-wait -O auto_unlock=false --target nrf51 -L pyocd.*=info"
    assert called == f"flash {options} {image} --frequency=1m\n"
    assert (tmp_path / "in").read_text() == f"{workspace}\n"
    printed = capfd.readouterr()
    assert f"flashing {image} to microbit with pyocd\n" in printed.out
    assert "No available debug probes" in printed.out
    ended = (
        f"{tmp_path}/pyocd ended with status 3; the image is {image}\n"
        "no board was found: is its debug probe, or its boot loader, connected by USB?\n"
    )
    assert printed.err == (ended if status else "")


@pytest.mark.parametrize(("method", "expected"), _CALLS, ids=lambda value: str(value)[:30])
def test_what_each_tool_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: dict[str, object], expected: str
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    _tool(tmp_path, METHODS[str(method["method"])].program)
    flash(board_with(method), IMAGE, "", "42", [])
    called = (tmp_path / "called").read_text().strip()
    assert re.sub(r"\S+/script$", "SCRIPT", called) == expected
    if method["method"] == "jlink":
        commands = (tmp_path / "script.seen").read_text().splitlines()
        assert commands == ['loadfile "app.hex"', "r", "g", "exit"]


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ({"method": "openocd", "files": ["interface/stlink.cfg"]}, "STM32 STLink"),
        ({"method": "openocd", "files": ["interface/cmsis-dap.cfg"]}, "BBC micro:bit CMSIS-DAP"),
        ({"method": "jlink", "device": "nRF52840_xxAA"}, "J-Link"),
        ({"method": "stm32_programmer"}, "STLINK-V3"),
        ({"method": "st_flash"}, "STM32 STLink"),
        ({"method": "linkserver", "device": "LPC55S69:LPCXpresso55S69"}, "MCU-LINK on-board"),
    ],
)
def test_of_several_probes_the_tool_does_not_take_any(
    tmp_path: Path,
    usb: Path,
    monkeypatch: pytest.MonkeyPatch,
    method: dict[str, object],
    name: str,
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    _tool(tmp_path, METHODS[str(method["method"])].program)
    connect(usb, "046d", "Mouse", "1")
    connect(usb, "0483", name, "A1")
    flash(board_with(method), IMAGE, "", "", [])
    connect(usb, "0483", name, "B2")
    with pytest.raises(FlashError) as error:
        flash(board_with(method), IMAGE, "", "", [])
    assert str(error.value).splitlines() == [
        "several boards are connected: say which one with",
        f"  --probe=A1  {name}",
        f"  --probe=B2  {name}",
    ]
    flash(board_with(method), IMAGE, "", "B2", [])


def test_of_several_arduinos_bossac_does_not_take_any(
    tmp_path: Path, usb: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    _tool(tmp_path, "bossac")
    board = board_with({"method": "bossac", "offset": 0})
    for number in range(2):
        connect(usb, "2341", "Arduino Nano 33 BLE", f"A{number}")
    flash(board, IMAGE, "", "", [])  # without ports they are not waited for
    assert "--port" not in (tmp_path / "called").read_text()
    for number, device in enumerate(sorted(usb.iterdir())):
        (device / f"{device.name}:1.0" / "tty" / f"ttyACM{number}").mkdir(parents=True)
        if number == 0:  # not the first port
            flash(board, IMAGE, "", "", [])
            assert "--port=ttyACM0 " in (tmp_path / "called").read_text()
    with pytest.raises(FlashError) as error:
        flash(board, IMAGE, "", "", [])
    assert str(error.value).splitlines() == [
        "several boards are connected: say which one with",
        "  --probe=ttyACM0  Arduino Nano 33 BLE",
        "  --probe=ttyACM1  Arduino Nano 33 BLE",
    ]
    flash(board, IMAGE, "", "ttyACM1", [])


def test_the_rule_names_the_vendor_of_the_probe(
    tmp_path: Path, usb: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    _tool(tmp_path, "st-flash", 1, "libusb_open() failed with LIBUSB_ERROR_ACCESS")
    connect(usb, "046d", "Mouse", "1")
    connect(usb, "0483", "STM32 STLink", "A1")
    with pytest.raises(FlashError) as error:
        flash(board_with({"method": "st_flash"}), IMAGE, "", "", [])
    assert str(error.value).splitlines()[1:] == [
        "you may not use the probe. As root, write to /etc/udev/rules.d/70-debug-probe.rules,",
        "then `udevadm control --reload`, and plug the board in again:",
        '  SUBSYSTEM=="usb", ATTRS{idVendor}=="0483", TAG+="uaccess"',
    ]


class _Terminal:
    def __init__(self, is_one: bool) -> None:
        self._is_one = is_one

    def isatty(self) -> bool:
        return self._is_one


def test_pyocd_asks_which_probe_where_somebody_is_there(
    tmp_path: Path, usb: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    _tool(tmp_path)
    board = board_with({"method": "pyocd", "target": "nrf51"})
    connect(usb, "0d28", "BBC micro:bit CMSIS-DAP", "A1")
    connect(usb, "1366", "J-Link", "B2")
    monkeypatch.setattr("sys.stdin", _Terminal(True))
    flash(board, IMAGE, "", "", [])
    monkeypatch.setattr("sys.stdin", _Terminal(False))
    with pytest.raises(
        FlashError, match=r"which one with\n  --probe=A1  BBC (.|\n)*--probe=B2  J-L"
    ):
        flash(board, IMAGE, "", "", [])
    flash(board, IMAGE, "", "B2", [])


def test_a_port_that_may_not_be_used_is_not_one_without_a_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    _tool(tmp_path, "bossac", 1, "No device found on ttyACM0")
    port = tmp_path / "ttyACM0"
    port.touch()
    board = board_with({"method": "bossac", "offset": 0})
    with pytest.raises(FlashError, match="was found: press the board's button twice"):
        flash(board, IMAGE, "", str(port), [])
    monkeypatch.setattr("tools.image.flash.os.access", lambda path, mode: path != port)
    with pytest.raises(FlashError, match=f"you may not use {port}: `sudo usermod -aG dialout"):
        flash(board, IMAGE, "", str(port), [])


def test_a_probe_that_may_not_be_used_is_not_one_that_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some tools do not see it, and report none."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    _tool(
        tmp_path, "JLinkExe", 1, "Connecting to J-Link via USB...FAILED: Cannot connect to J-Link."
    )
    node = tmp_path / "node"
    node.touch()
    connected = [
        UsbDevice("046d", "c077", "Mouse", "", (), node),
        UsbDevice("1366", "1051", "J-Link", "A1", (), node),
    ]
    monkeypatch.setattr("tools.image.flash.usb_devices", lambda folder: connected)
    board = board_with({"method": "jlink", "device": "nRF5340_xxAA_APP"})
    with pytest.raises(FlashError, match="no board was found"):
        flash(board, IMAGE, "", "", [])
    monkeypatch.setattr("tools.image.usb.os.access", lambda path, mode: path != node)
    with pytest.raises(FlashError) as error:
        flash(board, IMAGE, "", "", [])
    assert str(error.value).splitlines()[1].startswith("you may not use the probe. As root, ")
    assert re.findall(r'idVendor}=="(\w+)"', str(error.value)) == ["1366"]


_LEFT = """\
Download\t[=========================] 100%         4316 bytes
Download done.
File downloaded successfully
Transitioning to dfuMANIFEST state
dfu-util: Error during download get_status
"""


@pytest.mark.parametrize(
    ("says", "told"),
    [
        (_LEFT, ""),
        ("dfu-util: Error during download get_status", "ended with status 74"),
        ("dfu-util: No DFU capable USB device available", "reset it while BOOT0 is high"),
    ],
)
def test_a_chip_that_has_left_its_boot_loader_has_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, told: str
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    _tool(tmp_path, "dfu-util", 74, says)
    board = board_with({"method": "dfu_util", "usb": "0483:df11", "address": 0x08000000})
    if told:
        with pytest.raises(FlashError, match=told):
            flash(board, IMAGE, "", "", [])
    else:
        flash(board, IMAGE, "", "", [])


def test_the_rule_for_a_boot_loader_is_not_one_for_a_probe(
    tmp_path: Path, usb: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    _tool(tmp_path, "dfu-util", 74, "Cannot open DFU device 0483:df11 (LIBUSB_ERROR_ACCESS)")
    connect(usb, "1366", "J-Link", "A1")
    connect(usb, "0483", "STM32  BOOTLOADER", "B2", "df11")
    board = board_with({"method": "dfu_util", "usb": "0483:df11", "address": 0x08000000})
    with pytest.raises(FlashError) as error:
        flash(board, IMAGE, "", "", [])
    assert re.findall(r'idVendor}=="(\w+)"', str(error.value)) == ["0483"]


def test_a_tool_that_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    tool = tmp_path / "JLinkExe"
    tool.write_bytes(b"\x7fELF of another machine")
    tool.chmod(0o755)
    with pytest.raises(FlashError, match="JLinkExe does not start: Exec format error"):
        flash(board_with({"method": "jlink", "device": "R7FA8M1AH"}), IMAGE, "", "", [])


def test_pyocd_reads_its_command_line_so() -> None:
    (told,) = [told for method, told in _CALLS if method["method"] == "pyocd"]
    read = PyOCDTool()._parser.parse_args(told.split())
    assert read.cmd == "flash"
    assert read.file == ["app.hex"]
    assert (read.target_override, read.unique_id, read.no_wait) == ("nrf51", "42", True)
    assert not read.no_reset
    assert read.options == ["auto_unlock=false"]


def test_the_number_of_a_j_link_has_no_zeros_in_front() -> None:
    """The format is used by USB and by lists of several probes."""
    for method, tool in (({"target": "nrf52840"}, "pyocd"), ({"device": "R7FA8M1AH"}, "jlink")):
        assert "1050226191" in METHODS[tool].arguments(method, IMAGE, "001050226191")


def test_every_tool_is_tried() -> None:
    assert {str(method["method"]) for method, _ in _CALLS} == set(METHODS)


def test_the_first_that_is_installed_or_the_one_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    board = board_with(*(method for method, _ in _CALLS))
    with pytest.raises(FlashError, match=r"nothing is installed that flashes (.|\n)*pip install"):
        chosen_method(board, "", IMAGE)
    for name in ("dfu-util", "st-flash"):
        _tool(tmp_path, name)
    assert chosen_method(board, "", IMAGE)["method"] == "st_flash"
    assert chosen_method(board, "dfu_util", IMAGE)["method"] == "dfu_util"
    with pytest.raises(FlashError, match="  openocd: on Debian: apt install openocd"):
        chosen_method(board, "openocd", IMAGE)
    with pytest.raises(FlashError, match="has no flash method uf2. Choices: pyocd, openocd"):
        chosen_method(board, "uf2", IMAGE)


@pytest.mark.parametrize("folder", [".", "pkg"])
def test_the_image_is_named_as_it_is_seen_from_the_users_folder(
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    folder: str,
) -> None:
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(workspace / folder))
    with flagsaver.as_parsed(board=str(_WITHOUT), flash_tool="", probe=""):
        assert _main() == 1
    named = re.search(r"copy (\S+app\.hex) to it as its maker describes$", capsys.readouterr().err)
    assert named is not None
    assert not Path(named[1]).is_absolute()
    assert (workspace / folder / named[1]).read_text() == HEX


@pytest.mark.parametrize("variable", ["BUILD_WORKSPACE_DIRECTORY", None])
def test_where_the_workspace_has_no_link_the_path_is_whole(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, variable: str | None
) -> None:
    """Without `bazel run`, or with its links switched off."""
    if variable:
        monkeypatch.delenv(variable)
    else:
        (workspace / "bazel-out").unlink()
    path = visible_path(Path("pkg/app.hex"))
    assert path.is_absolute() and path.exists()


def test_boards_name_methods_that_there_are() -> None:
    for path in (_WITH_TOOLS, _WITHOUT):
        methods = [method["method"] for method in json.loads(path.read_text())["flash"]]
        assert set(methods) <= {*METHODS, "uf2"}
