# SPDX-License-Identifier: Apache-2.0
"""Flash tools: their command lines, and the meaning of their error messages.

A board lists its flash methods, the best first (`flash_method` of its chip, boards/board.bzl). They
are dicts with `method`, one of METHODS, and its parameters.
"""

import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Image:
    """Files of an image for the tools."""

    hex: Path
    bin: Path


@dataclass(frozen=True)
class Method:
    """Flash tool.

    Attributes:
        program: name to look for on PATH.
        install: installation instructions.
        arguments: function from the board's parameters, the image and a probe's serial
            number ("" for the only one) to the arguments.
        script: text of the file for `{script}` among the arguments.
        probes: function from the board's parameters to a pattern of USB device names
            accepted as probes; the tool takes any of several. "" if the tool itself asks
            or refuses.
        by_port: a serial port selects the probe; devices without a port are no probes.
        unlock: command to unlock a chip, if one works for all.
        learn: instructions to add support for a chip.
        enter: instructions to start the boot loader used by the tool.
        done: pattern in the output of a complete run, despite a failing exit status.
        stopped: pattern in the output after the tool has stopped the program on the
            board, and before it starts the new one; "" if there is none.
        server: start of its debug server, and the server's port.
    """

    program: str
    install: str
    arguments: Callable[[dict[str, Any], Image, str], list[str]]
    script: Callable[[Image], str] | None = None
    probes: Callable[[dict[str, Any]], str] = lambda method: ""
    by_port: bool = False
    unlock: str = ""
    learn: str = "a newer version does, or the one that the chip's maker gives"
    enter: str = ""
    done: str = ""
    stopped: str = ""
    server: Callable[[dict[str, Any]], tuple[str, int]] | None = None


def environment() -> dict[str, str]:
    """Return the environment for a user's program. Many programs bring their own Python, and our
    modules fit another version.
    """
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def _number(probe: str) -> str:
    """Return a serial number as SEGGER and pyOCD have it: USB's has zeros in front."""
    return probe.lstrip("0") or probe


def _pyocd(method: dict[str, Any], image: Image, probe: str) -> list[str]:
    # Without a probe, pyOCD would wait for one silently. A locked chip would be erased without a
    # question.
    arguments = ["flash", "--no-wait", "-O", "auto_unlock=false", "--target", method["target"]]
    arguments += ["-L", "pyocd.*=info"]  # prints a message at the start of writing
    return [*arguments, *(["--uid", _number(probe)] if probe else []), str(image.hex)]


def _openocd(method: dict[str, Any], image: Image, probe: str) -> list[str]:
    files = [word for name in method["files"] for word in ("-f", name)]
    serial = ["-c", f"adapter serial {probe}"] if probe else []
    return [*files, *serial, "-c", f"program {{{image.hex}}} verify reset exit"]


def _jlink(method: dict[str, Any], image: Image, probe: str) -> list[str]:
    del image
    return [
        *("-device", method["device"], "-if", "SWD", "-speed", "4000", "-autoconnect", "1"),
        *("-ExitOnError", "1", "-NoGui", "1"),
        *(["-SelectEmuBySN", _number(probe)] if probe else []),
        *("-CommandFile", "{script}"),
    ]


def _jlink_script(image: Image) -> str:
    return f'loadfile "{image.hex}"\nr\ng\nexit\n'  # loadfile verifies the written data


def _stm32_programmer(method: dict[str, Any], image: Image, probe: str) -> list[str]:
    del method
    connect = ["port=SWD", "mode=UR", *([f"sn={probe}"] if probe else [])]
    return ["-c", *connect, "-w", str(image.hex), "-v", "-rst"]


def _st_flash(method: dict[str, Any], image: Image, probe: str) -> list[str]:
    del method
    serial = ["--serial", probe] if probe else []
    return ["--reset", "--format", "ihex", *serial, "write", str(image.hex)]


def _dfu_util(method: dict[str, Any], image: Image, probe: str) -> list[str]:
    where = f"{method['address']:#010x}:leave"
    serial = ["-S", probe] if probe else []
    return ["-d", method["usb"], *serial, "-a", "0", "-s", where, "-D", str(image.bin)]


def _bossac(method: dict[str, Any], image: Image, probe: str) -> list[str]:
    port = [f"--port={probe}"] if probe else []
    offset = [f"--offset={method['offset']:#x}"] if method["offset"] else []
    return [*port, "-e", "-w", "-v", *offset, "-R", str(image.bin)]


def _linkserver(method: dict[str, Any], image: Image, probe: str) -> list[str]:
    chosen = ["--probe", probe] if probe else []
    return ["flash", *chosen, method["device"], "load", str(image.hex)]


# USB names of probes.
_ST_LINK, _J_LINK = r"ST-?LINK", "J-Link"
_DAP = r"CMSIS-DAP|DAPLink|MCU-Link|LPC-Link|Picoprobe|Debug ?probe"
PROBES = f"{_ST_LINK}|{_J_LINK}|{_DAP}"


def _openocd_probes(method: dict[str, Any]) -> str:
    return _ST_LINK if "stlink" in method["files"][0] else _DAP


def _pyocd_probes(method: dict[str, Any]) -> str:
    del method
    return "" if sys.stdin is not None and sys.stdin.isatty() else PROBES  # whom it could ask


METHODS = {
    "pyocd": Method(
        "pyocd",
        "pipx install pyocd, or pip install pyocd in an environment of Python",
        _pyocd,
        probes=_pyocd_probes,
        unlock="pyOCD does so with `-- -- -O auto_unlock=true`",
        learn="it does after `pyocd pack install <target>`",
        stopped=r"Erasing\.\.\.|Erased \w+",
        server=lambda method: (f"pyocd gdbserver --target {method['target']}", 3333),
    ),
    "openocd": Method(
        "openocd",
        "on Debian: apt install openocd",
        _openocd,
        probes=_openocd_probes,
        stopped=r"\*\* Programming Started \*\*",
        server=lambda method: (" ".join(["openocd", *(f"-f {f}" for f in method["files"])]), 3333),
    ),
    "jlink": Method(
        "JLinkExe",
        "SEGGER's J-Link software",
        _jlink,
        _jlink_script,
        probes=lambda method: _J_LINK,
        stopped=r"Downloading file \[",
        server=lambda method: (f"JLinkGDBServer -device {method['device']} -if SWD", 2331),
    ),
    "stm32_programmer": Method(
        "STM32_Programmer_CLI",
        "ST's STM32CubeProgrammer",
        _stm32_programmer,
        probes=lambda method: _ST_LINK,
        unlock="`STM32_Programmer_CLI -c port=SWD mode=UR -ob rdp=0xAA` does so",
        stopped="Opening and parsing file",
    ),
    "st_flash": Method(
        "st-flash",
        "on Debian: apt install stlink-tools",
        _st_flash,
        probes=lambda method: _ST_LINK,
        stopped=r"Attempting to write|Flash page at|Starting Flash write",
    ),
    "dfu_util": Method(
        "dfu-util",
        "on Debian: apt install dfu-util",
        _dfu_util,
        enter="connect the chip's own USB, and reset it while BOOT0 is high",
        # The chip leaves its boot loader before it can report that.
        done=r"File downloaded successfully(?s:.*)Error during download get_status",
    ),
    "bossac": Method(
        "bossac",
        "Arduino's own variant, which its IDE brings with the board",
        _bossac,
        probes=lambda method: "Arduino",
        by_port=True,
        enter="press the board's button twice",
    ),
    "linkserver": Method(
        "LinkServer",
        "NXP's LinkServer, 1.5.30 or newer",
        _linkserver,
        probes=lambda method: _DAP,
        server=lambda method: (f"LinkServer gdbserver {method['device']}", 3333),
    ),
}

_NO_PROBE = "no board was found: is its debug probe, or its boot loader, connected by USB?"
_SEVERAL = "several boards are connected: say which one with --probe=<serial number>"
_LOCKED = (
    "the chip is locked against reading: its maker's tool unlocks it, which erases all that it has"
)
_WRONG_CHIP = "the chip is another one than the board's, or has no power: is it this board?"
_NOT_KNOWN = "this program does not know the chip"
_NO_PERMISSION = """\
you may not use the probe. As root, write to /etc/udev/rules.d/70-debug-probe.rules,
then `udevadm control --reload`, and plug the board in again:
%s\
"""
_RULE = '  SUBSYSTEM=="usb", ATTRS{idVendor}=="%s", TAG+="uaccess"'

# Error messages of tools, and our explanations; the first match wins.
_COMPLAINTS = (
    (
        r"LIBUSB_ERROR_ACCESS|[Pp]ermission denied|[Aa]ccess denied|insufficient permissions",
        _NO_PERMISSION,
    ),
    (
        r"[Mm]ore than one|[Mm]ultiple (devices|debug probes|probes)|[Ss]everal (ST-LINK|J-Link)"
        r"|Enter the number of the debug probe",
        _SEVERAL,
    ),
    (
        r"[Nn]o (available )?(connected )?debug probe|No (J-Link|emulators|ST-LINK|STLink)"
        r"|Couldn't find any ST-Link|unable to find a matching CMSIS-DAP|No DFU capable"
        r"|No device found|No serial ports available|No probes? (detected|found)|open failed"
        r"|Cannot connect to (the )?(J-Link|probe)",
        _NO_PROBE,
    ),
    (
        r"AP lock|APPROTECT|[Rr]ead ?([Oo]ut)? [Pp]rotect|RDP|is (locked|secured)"
        r"|device (is )?protected|write protected|access port is disabled|Security Bit Set"
        r"|in secure state: |Flash sector \d+ is protected|memory protection mechanism is active"
        r"|it may be not erased or protected",
        _LOCKED,
    ),
    (r"Can't find (target|interface)/|Target type \S+ not recognized", _NOT_KNOWN),
    (
        r"(Unexpected|unexpected|UNEXPECTED) (idcode|IDCODE|AP)|Could not find (core|MEM-AP)"
        r"|[Uu]nknown chip|wrong (chip|device)|No STM32 target|init mode failed"
        r"|[Cc]annot identify target|Failed to enter SWD mode|Device unsupported"
        r"|cannot read IDR|C(annot|ould not) connect to (the )?(target|core)|Can not attach to CPU"
        r"|Failed to initialize DAP|No connection to chip's debug port",
        _WRONG_CHIP,
    ),
)


def advice(
    output: str, method: Method, vendors: Sequence[str], forbidden: Sequence[str] = ()
) -> str:
    """Return advice on a tool's output before it failed; "" if there is none.

    Args:
        output: the tool's output.
        method: the tool.
        vendors: vendor numbers of the connected probes.
        forbidden: those of them this user has no access to; some tools do not find them.
    """
    told = next((text for pattern, text in _COMPLAINTS if re.search(pattern, output)), "")
    if told == _NO_PROBE and forbidden:
        told, vendors = _NO_PERMISSION, forbidden
    if told == _NO_PROBE and method.enter:
        return f"no board in its boot loader was found: {method.enter}"
    if told == _LOCKED and method.unlock:
        return f"{told}. {method.unlock}"
    if told == _NOT_KNOWN:
        return f"{told}: {method.learn}. --flash_tool= takes another one"
    if told == _NO_PERMISSION:
        rules = [_RULE % vendor for vendor in vendors or ["<vendor, as lsusb shows it>"]]
        return told % "\n".join(rules)
    return told
