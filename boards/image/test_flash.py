# SPDX-License-Identifier: Apache-2.0
"""Flashing, with stand-ins for the tools that read their command line as the tools do."""

import dataclasses
import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from absl.testing import flagsaver
from pyocd.__main__ import PyOCDTool
from pyocd.utility.cmdline import convert_session_options

from boards.board import Board, load_board
from boards.image.flash import FlashError, chosen_method, flash, main, visible_path
from boards.image.flash_tools import METHODS, Image
from boards.image.uf2 import HexError, drives, read_hex, uf2
from boards.image.usb import UsbDevice, usb_devices

_BOARDS = Path("boards")
_WITH_TOOLS = _BOARDS / "microbit" / "microbit.json"
_WITHOUT = _BOARDS / "corstone300" / "corstone300.json"
_IMAGE = Image(Path("app.hex"), Path("app.bin"))

# 16 bytes at 0x10000000, 4 at 0x100001fe: of two pages.
_HEX = """\
:020000041000EA
:10000000000102030405060708090A0B0C0D0E0F78
:0401FE00AABBCCDDEF
:00000001FF
"""

# What the boards name, with what each tool is to be told, if a probe is chosen too.
_CALLS: list[tuple[dict[str, object], str]] = [
    (
        {"method": "pyocd", "target": "nrf51"},
        "flash --no-wait -O auto_unlock=false --target nrf51 --uid 42 app.hex",
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


def _board(*methods: dict[str, object]) -> Board:
    return dataclasses.replace(load_board(_WITHOUT), flash=methods)


def _tool(folder: Path, name: str = "pyocd", status: int = 0, says: str = "") -> None:
    """A tool that writes down its arguments, the folder it runs in, and its file of commands."""
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
    """What is connected: nothing, but for what a test adds."""
    monkeypatch.setattr("boards.image.flash.DEVICES", tmp_path / "usb")
    return tmp_path / "usb"


def _connect(usb: Path, vendor: str, name: str, serial: str, product: str = "0001") -> None:
    device = usb / f"1-{serial}"
    device.mkdir(parents=True)
    says = {"idVendor": vendor, "idProduct": product, "product": name, "serial": serial}
    for file, text in says.items():
        (device / file).write_text(f"{text}\n")


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace whose image was built, seen from among the runfiles, as `bazel run` does it."""
    output = tmp_path / "cache" / "execroot" / "bazel-out"
    built = output / "a-board" / "bin" / "pkg" / "app.hex"
    built.parent.mkdir(parents=True)
    built.write_text(_HEX)
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
    assert called == f"flash --no-wait -O auto_unlock=false --target nrf51 {image} --frequency=1m\n"
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
    flash(_board(method), _IMAGE, "", "42", [])
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
    _connect(usb, "046d", "Mouse", "1")
    _connect(usb, "0483", name, "A1")
    flash(_board(method), _IMAGE, "", "", [])
    _connect(usb, "0483", name, "B2")
    with pytest.raises(FlashError) as error:
        flash(_board(method), _IMAGE, "", "", [])
    assert str(error.value).splitlines() == [
        "several boards are connected: say which one with",
        f"  --probe=A1  {name}",
        f"  --probe=B2  {name}",
    ]
    flash(_board(method), _IMAGE, "", "B2", [])


def test_of_several_arduinos_bossac_does_not_take_any(
    tmp_path: Path, usb: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    _tool(tmp_path, "bossac")
    board = _board({"method": "bossac", "offset": 0})
    for number in range(2):
        _connect(usb, "2341", "Arduino Nano 33 BLE", f"A{number}")
    flash(board, _IMAGE, "", "", [])  # without ports they are not waited for
    for number, device in enumerate(sorted(usb.iterdir())):
        (device / f"{device.name}:1.0" / "tty" / f"ttyACM{number}").mkdir(parents=True)
    with pytest.raises(FlashError) as error:
        flash(board, _IMAGE, "", "", [])
    assert str(error.value).splitlines() == [
        "several boards are connected: say which one with",
        "  --probe=ttyACM0  Arduino Nano 33 BLE",
        "  --probe=ttyACM1  Arduino Nano 33 BLE",
    ]
    flash(board, _IMAGE, "", "ttyACM1", [])


def test_the_rule_names_the_vendor_of_the_probe(
    tmp_path: Path, usb: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    _tool(tmp_path, "st-flash", 1, "libusb_open() failed with LIBUSB_ERROR_ACCESS")
    _connect(usb, "046d", "Mouse", "1")
    _connect(usb, "0483", "STM32 STLink", "A1")
    with pytest.raises(FlashError) as error:
        flash(_board({"method": "st_flash"}), _IMAGE, "", "", [])
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
    board = _board({"method": "pyocd", "target": "nrf51"})
    _connect(usb, "0d28", "BBC micro:bit CMSIS-DAP", "A1")
    _connect(usb, "1366", "J-Link", "B2")
    monkeypatch.setattr("sys.stdin", _Terminal(True))
    flash(board, _IMAGE, "", "", [])
    monkeypatch.setattr("sys.stdin", _Terminal(False))
    with pytest.raises(
        FlashError, match=r"which one with\n  --probe=A1  BBC (.|\n)*--probe=B2  J-L"
    ):
        flash(board, _IMAGE, "", "", [])
    flash(board, _IMAGE, "", "B2", [])


def test_a_probe_that_may_not_be_used_is_not_one_that_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some tools do not see it, and say that there is none."""
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
    monkeypatch.setattr("boards.image.flash.usb_devices", lambda folder: connected)
    board = _board({"method": "jlink", "device": "nRF5340_xxAA_APP"})
    with pytest.raises(FlashError, match="no board was found"):
        flash(board, _IMAGE, "", "", [])
    monkeypatch.setattr("boards.image.usb.os.access", lambda path, mode: path != node)
    with pytest.raises(FlashError) as error:
        flash(board, _IMAGE, "", "", [])
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
    board = _board({"method": "dfu_util", "usb": "0483:df11", "address": 0x08000000})
    if told:
        with pytest.raises(FlashError, match=told):
            flash(board, _IMAGE, "", "", [])
    else:
        flash(board, _IMAGE, "", "", [])


def test_the_rule_for_a_boot_loader_is_not_one_for_a_probe(
    tmp_path: Path, usb: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    _tool(tmp_path, "dfu-util", 74, "Cannot open DFU device 0483:df11 (LIBUSB_ERROR_ACCESS)")
    _connect(usb, "1366", "J-Link", "A1")
    _connect(usb, "0483", "STM32  BOOTLOADER", "B2", "df11")
    board = _board({"method": "dfu_util", "usb": "0483:df11", "address": 0x08000000})
    with pytest.raises(FlashError) as error:
        flash(board, _IMAGE, "", "", [])
    assert re.findall(r'idVendor}=="(\w+)"', str(error.value)) == ["0483"]


def test_a_tool_that_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    tool = tmp_path / "JLinkExe"
    tool.write_bytes(b"\x7fELF of another machine")
    tool.chmod(0o755)
    with pytest.raises(FlashError, match="JLinkExe does not start: Exec format error"):
        flash(_board({"method": "jlink", "device": "R7FA8M1AH"}), _IMAGE, "", "", [])


def _program(folder: Path, script: str, *options: str, **popen: Any) -> "subprocess.Popen[bytes]":
    """`.flash` of a micro:bit as a program, in a session of its own, with a stand-in for pyOCD."""
    tool = folder / "pyocd"
    tool.write_text(f"#!/bin/sh\ncd '{folder}'\n{script}\n")
    tool.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{folder}:/usr/bin:/bin",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    files = (f"--board={_WITH_TOOLS}", "app.hex", "app.bin")
    return subprocess.Popen(
        [sys.executable, "-m", "boards.image.flash", *files, *options],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        **popen,
    )


def _wait_for(file: Path) -> None:
    end = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_what_follows_goes_to_the_tool(tmp_path: Path) -> None:
    """As `bazel run` appends it, after a second `--`."""
    options = ("--probe=42", "--", "-O", "auto_unlock=true")
    with _program(tmp_path, 'echo "$@" >called', *options) as program:
        program.communicate()
    assert program.returncode == 0
    words = (tmp_path / "called").read_text().split()
    assert words[-5:] == ["--uid", "42", str(Path("app.hex").resolve()), "-O", "auto_unlock=true"]
    read = PyOCDTool()._parser.parse_args(words)
    assert convert_session_options(read.options) == {"auto_unlock": True}


@pytest.mark.parametrize(
    "script",
    [
        "trap 'sleep 1; touch let_go; exit 2' INT; touch called; sleep 30 & wait",
        "trap '' INT; trap 'touch let_go; exit 2' TERM; touch called; sleep 30 & wait",
        "trap '' INT TERM; touch called let_go; exec sleep 30",
    ],
    ids=["it ends itself", "it is told to", "it is killed"],
)
def test_the_tool_ends_with_ctrl_c(tmp_path: Path, script: str) -> None:
    with _program(tmp_path, f"echo $$ >pid; {script}") as program:
        _wait_for(tmp_path / "called")
        os.killpg(program.pid, signal.SIGINT)
        _, errors = program.communicate(timeout=60)
    assert program.returncode == 128 + signal.SIGINT
    assert errors == b"stopped\n"
    assert (tmp_path / "let_go").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_board_gets_all_where_nobody_reads_on(tmp_path: Path) -> None:
    script = "echo writing; until test -e closed; do sleep 0.1; done; seq 100000; touch written"
    with _program(tmp_path, script) as program:
        assert program.stdout is not None
        shown = [program.stdout.readline() for _ in range(2)]
        program.stdout.close()
        (tmp_path / "closed").touch()
        program.wait(60)
    assert shown[0].startswith(b"flashing ") and shown[1] == b"writing\n"
    assert (tmp_path / "written").exists()
    assert program.returncode == 0


def test_pyocd_reads_its_command_line_so() -> None:
    (told,) = [told for method, told in _CALLS if method["method"] == "pyocd"]
    read = PyOCDTool()._parser.parse_args(told.split())
    assert read.cmd == "flash"
    assert read.file == ["app.hex"]
    assert (read.target_override, read.unique_id, read.no_wait) == ("nrf51", "42", True)
    assert not read.no_reset
    assert read.options == ["auto_unlock=false"]


def test_the_number_of_a_j_link_has_no_zeros_in_front() -> None:
    """As USB has it, and lists of several probes."""
    for method, tool in (({"target": "nrf52840"}, "pyocd"), ({"device": "R7FA8M1AH"}, "jlink")):
        assert "1050226191" in METHODS[tool].arguments(method, _IMAGE, "001050226191")


def test_every_tool_is_tried() -> None:
    assert {str(method["method"]) for method, _ in _CALLS} == set(METHODS)


def test_the_first_that_is_installed_or_the_one_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    board = _board(*(method for method, _ in _CALLS))
    with pytest.raises(FlashError, match=r"nothing is installed that flashes (.|\n)*pip install"):
        chosen_method(board, "", _IMAGE)
    for name in ("dfu-util", "st-flash"):
        _tool(tmp_path, name)
    assert chosen_method(board, "", _IMAGE)["method"] == "st_flash"
    assert chosen_method(board, "dfu_util", _IMAGE)["method"] == "dfu_util"
    with pytest.raises(FlashError, match="  openocd: on Debian: apt install openocd"):
        chosen_method(board, "openocd", _IMAGE)
    with pytest.raises(FlashError, match="has no flash method uf2; it has pyocd, openocd"):
        chosen_method(board, "uf2", _IMAGE)


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
    named = re.search(r"copy (\S+app\.hex) to it as its maker says$", capsys.readouterr().err)
    assert named is not None
    assert not Path(named[1]).is_absolute()
    assert (workspace / folder / named[1]).read_text() == _HEX


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


def test_uf2_says_where_each_page_belongs() -> None:
    memory = read_hex(_HEX)
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
    (tmp_path / "app.hex").write_text(_HEX)
    board = _board(method, {"method": "pyocd", "target": "rp2040"})
    monkeypatch.setattr("boards.image.uf2._mounted", lambda: places[:1])
    with pytest.raises(
        FlashError, match="no drives .* RPI-RP2 .*: hold BOOTSEL .* mount it"
    ) as none:
        flash(board, _IMAGE, "", "", [])
    assert str(none.value).endswith("; --flash_tool=pyocd with a debug probe")
    again = tmp_path / "mounted again"
    again.symlink_to(places[1])
    monkeypatch.setattr("boards.image.uf2._mounted", lambda: [*places, again])
    with pytest.raises(FlashError, match="no tool copies to a drive that would take --verbose"):
        flash(board, _IMAGE, "", "", ["--verbose"])
    flash(board, _IMAGE, "", "", [])
    assert (places[1] / "image.uf2").read_bytes() == uf2(read_hex(_HEX), 0xE48BFF56)
    (places[2] / "INFO_UF2.TXT").write_text("Board-ID: RPI-RP2\n")
    with pytest.raises(FlashError) as several:
        flash(board, _IMAGE, "", "", [])
    assert str(several.value).splitlines()[1:] == [f"  --probe={place}" for place in places[1:]]
    assert not (places[2] / "image.uf2").exists()
    flash(board, _IMAGE, "", str(places[2]), [])
    assert (places[2] / "image.uf2").exists()
    with pytest.raises(FlashError, match="are mounted at /elsewhere: hold"):
        flash(board, _IMAGE, "", "/elsewhere", [])


@pytest.mark.parametrize("is_gone", [True, False])
def test_a_board_that_restarts_before_the_system_has_noted_the_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    is_gone: bool,
) -> None:
    """The drive is gone then, unlike one that is damaged."""
    info = tmp_path / "INFO_UF2.TXT"
    info.write_text("Board-ID: RP2350\n")
    (tmp_path / "app.hex").write_text(_HEX)

    def fsync(descriptor: int) -> None:
        del descriptor
        if is_gone:
            info.unlink()
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("boards.image.uf2.os.fsync", fsync)
    monkeypatch.setattr("boards.image.uf2._mounted", lambda: [tmp_path])
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(tmp_path))
    method = {"method": "uf2", "board_id": "RP2350", "family": 0xE48BFF59, "hint": ""}
    if is_gone:
        flash(_board(method), _IMAGE, "", "", [])
        assert "the drive is gone, as it is when the board has all" in capsys.readouterr().out
    else:
        with pytest.raises(FlashError, match="could not be copied to .*Input/output error"):
            flash(_board(method), _IMAGE, "", "", [])


def test_the_ports_of_devices(usb: Path) -> None:
    """Of a modem, of an adapter, and of a probe that has two."""
    for serial, ports in {
        "A": ["1.0/tty/ttyACM0"],
        "B": ["1.0/ttyUSB0/tty/ttyUSB0"],
        "C": ["1.1/tty/ttyACM1", "1.3/tty/ttyACM2"],
        "D": [],
    }.items():
        _connect(usb, "1366", "J-Link", serial)
        for port in ports:
            (usb / f"1-{serial}" / f"1-{serial}:{port}").mkdir(parents=True)
    (usb / "1-A" / "busnum").write_text("3\n")
    (usb / "1-A" / "devnum").write_text("12\n")
    found = usb_devices(usb)
    assert [one.ports for one in found] == [("ttyACM0",), ("ttyUSB0",), ("ttyACM1", "ttyACM2"), ()]
    assert [one.node for one in found] == [Path("/dev/bus/usb/003/012"), None, None, None]


def test_boards_name_methods_that_there_are() -> None:
    for path in (_WITH_TOOLS, _WITHOUT):
        methods = [method["method"] for method in json.loads(path.read_text())["flash"]]
        assert set(methods) <= {*METHODS, "uf2"}
