# SPDX-License-Identifier: Apache-2.0
"""Real flash tools without a board: each accepts the arguments of `.flash` and finds no probe. The
messages for errors are checked against the programs.

The requested probe does not exist, so that no board of this machine is written to.
"""

import dataclasses
import importlib.resources
import re
import subprocess
from pathlib import Path

import pytest
from pyocd.target.builtin import BUILTIN_TARGETS

from boards.board import load_board
from tools.image.flash import FlashError, flash
from tools.image.flash_tools import METHODS, Image, advice
from tools.python.runfile import runfile
from tools.python.scripts import python_script

_NOBODY = "00DEADBEEF00DEADBEEF0000"
_PACKED = ("openocd", "st_flash", "dfu_util", "bossac")
# The makers' own OpenOCD supports these chips; Debian's does not.
_UNKNOWN = ("target/max78000.cfg", "target/rp2350.cfg")
# pyOCD has to learn these: `pyocd pack install`.
_OF_PACKS = {"mcxn947vdf", "mimxrt798s", "stm32f405rgtx"}
# Distinct methods, each with a board.
_METHODS = {
    str(method): (load_board(file), method)
    for file in sorted(Path("boards").glob("*/*.data.json"))
    for method in load_board(file).flash
    if method["method"] in ("pyocd", *_PACKED)
}

_NO_BOARD = "no board was found"
_NO_LOADER = "no board in its boot loader was found: "
_SEVERAL = "several boards are connected"
_LOCKED = "is locked against reading"
_OTHER_CHIP = "another one than the board's"
_RULE = "70-debug-probe.rules"
_OLD = "does not know the chip"

# Messages of the tools: full text, the part contained in their program, and the resulting advice.
_SAID = [
    ("pyocd", "No available debug probes are connected", "", _NO_BOARD),
    ("pyocd", "No connected debug probes", "", _NO_BOARD),
    ("pyocd", "No connected debug probe matches unique ID '42'", "", _NO_BOARD),
    ("pyocd", "Enter the number of the debug probe or 'q' to quit", "", _SEVERAL),
    ("pyocd", "More than one debug probe matches unique ID '42':", "", _SEVERAL),
    ("pyocd", "nRF52840 APPROTECT enabled: not automatically unlocking", "", _LOCKED),
    ("pyocd", "MK64F in secure state: not automatically unlocking", "", _LOCKED),
    ("pyocd", "Target type foo not recognized. Use 'pyocd list --targets'", "", _OLD),
    ("pyocd", "[Errno 13] Access denied (insufficient permissions)", "", _RULE),
    ("openocd", "Error: unable to find a matching CMSIS-DAP device", "find a match", _NO_BOARD),
    ("openocd", "Error: open failed", "open failed", _NO_BOARD),
    ("openocd", "Error: libusb_open() failed with LIBUSB_ERROR_ACCESS", "libusb_open() f", _RULE),
    ("openocd", "Multiple devices found, specify the desired device", "Multiple dev", _SEVERAL),
    ("openocd", "nRF52 device has AP lock engaged (see UICR APPROTECT register).", "", _LOCKED),
    ("openocd", "stm32x device protected", "stm32x device protected", _LOCKED),
    ("openocd", "Device Security Bit Set", "Device Security Bit Set", _LOCKED),
    ("openocd", "Error: Flash sector 0 is protected", "Flash sector %d is protected", _LOCKED),
    ("openocd", "Warn : UNEXPECTED idcode: 0x1ba01477", "UNEXPECTED", _OTHER_CHIP),
    ("openocd", "Error: init mode failed (unable to connect to the target)", "init m", _OTHER_CHIP),
    ("openocd", "Error connecting DP: cannot read IDR", "cannot read IDR", _OTHER_CHIP),
    ("openocd", "Cannot identify target as a stm32x", "Cannot identify target", _OTHER_CHIP),
    ("openocd", "Could not find MEM-AP to control the core", "Could not find MEM", _OTHER_CHIP),
    ("openocd", "Error: Can't find target/rp2350.cfg", "", _OLD),
    ("st_flash", "usb.c: Couldn't find any ST-Link devices", "Couldn't find any", _NO_BOARD),
    ("st_flash", "Flash memory is write protected", "Flash memory is write", _LOCKED),
    ("st_flash", "unknown chip id! 0x1234", "unknown chip id!", _OTHER_CHIP),
    ("st_flash", "Failed to enter SWD mode", "Failed to enter SWD", _OTHER_CHIP),
    ("dfu_util", "dfu-util: No DFU capable USB device available", "No DFU cap", _NO_LOADER),
    ("dfu_util", "More than one DFU capable USB device found!", "More than one", _SEVERAL),
    (
        "dfu_util",
        "Cannot open DFU device 0483:df11 found on devnum 5 (LIBUSB_ERROR_ACCESS)",
        "Cannot open DFU device",
        _RULE,
    ),
    ("bossac", "No device found on /dev/ttyACM0", "No device found on", _NO_LOADER),
    ("bossac", "No serial ports available", "No serial ports available", _NO_LOADER),
    ("bossac", "Device unsupported", "Device unsupported", _OTHER_CHIP),
    ("stm32_programmer", "Error: No debug probe detected.", "", _NO_BOARD),
    ("stm32_programmer", "Error: No STM32 target found!", "", _OTHER_CHIP),
    ("stm32_programmer", "Warning: Device is under Read Out Protection", "", _LOCKED),
    ("stm32_programmer", "please check if any memory protection mechanism is active", "", _LOCKED),
    ("jlink", "Connecting to J-Link via USB...FAILED: Cannot connect to J-Link.", "", _NO_BOARD),
    ("jlink", "FAILED: Cannot connect to the probe/ programmer.", "", _NO_BOARD),
    ("jlink", "Could not find core in Coresight setup", "", _OTHER_CHIP),
    ("jlink", "Can not attach to CPU. Trying connect under reset.", "", _OTHER_CHIP),
    ("jlink", "Error occurred: Could not connect to the target device.", "", _OTHER_CHIP),
    ("linkserver", "No probes detected", "", _NO_BOARD),
    ("linkserver", "Ed:02: Failed on connect: Ee(42). Could not connect to core.", "", _OTHER_CHIP),
    ("linkserver", "Et:31: No connection to chip's debug port", "", _OTHER_CHIP),
    ("openocd", "Error: the disk is full", "", ""),
]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the tools. PATH has only them and the shell's programs."""
    folder = tmp_path / "bin"
    folder.mkdir()
    packed = runfile("flash_tools/openocd")
    assert packed is not None
    for name in _PACKED:
        program = METHODS[name].program
        (folder / program).symlink_to(packed.with_name(program).resolve())
    python_script(folder / "pyocd", "-m", "pyocd")
    scripts = packed.resolve().parent / "usr/share/openocd/scripts"
    monkeypatch.setenv("OPENOCD_SCRIPTS", str(scripts))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


@pytest.mark.parametrize("name", _METHODS)
def test_it_takes_what_it_is_told_and_finds_no_board(
    programs: Path, tmp_path: Path, name: str
) -> None:
    board, method = _METHODS[name]
    image = Image(tmp_path / "my app.hex", tmp_path / "my app.bin")
    image.hex.write_text(":0401FE00AABBCCDDEF\n:00000001FF\n")
    image.bin.write_bytes(bytes(64))
    probe = str(tmp_path / "ttyACM0") if method["method"] == "bossac" else _NOBODY
    is_unknown = any(file in _UNKNOWN for file in method.get("files", ()))
    only = dataclasses.replace(board, flash=(method,))
    missing = _NO_LOADER if METHODS[method["method"]].enter else _NO_BOARD
    with pytest.raises(FlashError, match=_OLD if is_unknown else missing):
        flash(only, image, "", probe, [])


@pytest.mark.parametrize("name", _PACKED)
def test_what_it_would_not_take(programs: Path, tmp_path: Path, name: str) -> None:
    """The tools do not report a missing probe for every argument."""
    board, method = next(pair for pair in _METHODS.values() if pair[1]["method"] == name)
    image = Image(tmp_path / "app.hex", tmp_path / "app.bin")
    image.hex.write_text(":00000001FF\n")
    only = dataclasses.replace(board, flash=(method,))
    with pytest.raises(FlashError) as error:
        flash(only, image, "", _NOBODY, ["--no-such-option"])
    assert _NO_BOARD not in str(error.value) and _NO_LOADER not in str(error.value)


def test_openocd_writes_both_banks(programs: Path) -> None:
    """STM32H743 has one controller per bank. OpenOCD finds the banks of other chips itself."""
    board = load_board(Path("boards/nucleo_h743zi/nucleo_h743zi.data.json"))
    (method,) = [method for method in board.flash if method["method"] == "openocd"]
    files = [word for file in method["files"] for word in ("-f", file)]
    asked = [str(programs / "openocd"), *files, "-c", "flash banks", "-c", "shutdown"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    memory = board.memory(board.code)
    banks = re.findall(r"stm32h7x\) at (0x\w+)", done.stdout + done.stderr)
    assert [int(bank, 0) for bank in banks] == [memory.base, memory.base + memory.size // 2]


@pytest.mark.parametrize(("name", "said", "of_the_program", "told"), _SAID)
def test_what_complaints_mean(name: str, said: str, of_the_program: str, told: str) -> None:
    text = advice(f"starting\n{said}\nbye\n", METHODS[name], [])
    assert told in text and bool(text) == bool(told)
    if of_the_program:
        packed = runfile("flash_tools/openocd")
        assert packed is not None
        folder = packed.resolve().parent / "usr"
        files = [*folder.glob(f"bin/{METHODS[name].program}*"), *folder.glob("lib/*/libstlink*")]
        assert any(of_the_program.encode() in file.read_bytes() for file in files)


@pytest.mark.parametrize(
    "text", [said for name, said, _, _ in _SAID if name == "pyocd" and "Errno" not in said]
)
def test_pyocd_says_so(text: str) -> None:
    """Numbers and names differ. Messages with an error number come from pyOCD's USB library."""
    fixed = max(re.split(r"'42'|nRF52840 |MK64F |foo |\. Use .*|:$", text), key=len)
    package = Path(str(importlib.resources.files("pyocd")))
    assert any(fixed in file.read_text() for file in package.glob("**/*.py"))


@pytest.mark.parametrize(
    ("said", "pattern"),
    [
        ("Erasing...", METHODS["pyocd"].stopped),
        ("Attempting to write", METHODS["st_flash"].stopped),
    ],
)
def test_what_is_said_when_the_chip_is_stopped(said: str, pattern: str) -> None:
    """The message of OpenOCD is tested in test_openocd."""
    assert re.search(pattern, said)
    loader = Path(str(importlib.resources.files("pyocd"))) / "flash" / "loader.py"
    packed = runfile("flash_tools/openocd")
    assert packed is not None
    libraries = (packed.resolve().parent / "usr").glob("lib/*/libstlink*")
    logs = f'LOG.info("{said}")'.encode() in loader.read_bytes()
    assert logs or any(said.encode() in library.read_bytes() for library in libraries)


def test_pyocd_knows_the_targets_or_can_get_to_know_them() -> None:
    targets = {m["target"] for _, m in _METHODS.values() if m["method"] == "pyocd"}
    assert targets - BUILTIN_TARGETS.keys() == _OF_PACKS
    told = advice("Target type mcxn947vdf not recognized.", METHODS["pyocd"], [])
    assert "after `pyocd pack install <target>`" in told
