# SPDX-License-Identifier: Apache-2.0
"""Readers of the flash tools' command lines, following the tools' manuals. They refuse the same
arguments as the tools.

Each reader takes the arguments and the text of their script. It returns the content to flash and
the chosen probe or port ("" for the only one).
"""

import argparse
import re
from collections.abc import Callable, Sequence
from typing import NoReturn

from pyocd.__main__ import PyOCDTool


class UsageError(Exception):
    """Invalid command line for a tool; the text gives the reason."""


class _Parser(argparse.ArgumentParser):
    def __init__(self, flags: str = "", values: str = "", prog: str = "") -> None:
        super().__init__(prog, add_help=False, allow_abbrev=False)
        for names, action in ((flags, "store_true"), (values, "store")):
            for name in names.split():
                self.add_argument(*name.split("/"), action=action)

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def _expect(holds: object, message: str) -> None:
    if not holds:
        raise UsageError(message)


def _pyocd(words: Sequence[str], script: str) -> tuple[str, str]:
    del script
    try:
        read = PyOCDTool()._parser.parse_args(words)
    except SystemExit as error:
        raise UsageError("pyOCD refuses it") from error
    _expect(read.cmd == "flash" and len(read.file) == 1, "no file to flash")
    _expect(read.no_wait and read.target_override and not read.no_reset, "waits, or does not reset")
    return read.file[0], read.unique_id or ""


def _openocd(words: Sequence[str], script: str) -> tuple[str, str]:
    del script
    stage, probe, file = "options", "", ""
    _expect(len(words) % 2 == 0, "an option without a value")
    for option, value in zip(words[::2], words[1::2], strict=True):
        _expect(option in ("-f", "-c") and stage != "end", f"{option} {value}")
        if option == "-f":
            _expect(stage == "options", "a file after commands")
            _expect(re.fullmatch(r"(interface|target|board)/[\w-]+\.cfg", value), value)
        elif serial := re.fullmatch(r"adapter serial (\S+)", value):
            stage, probe = "commands", serial[1]
        else:
            program = re.fullmatch(r"program (?:\{([^{}]+)\}|(\S+)) verify reset exit", value)
            _expect(program, value)
            assert program is not None
            stage, file = "end", program[1] or program[2]
    _expect(file, "no program")
    return file, probe


_JLINK_VALUES = "device if speed autoconnect exitonerror nogui selectemubysn usb commandfile"


def _jlink(words: Sequence[str], script: str) -> tuple[str, str]:
    _expect(len(words) % 2 == 0, "an option without a value")
    read: dict[str, str] = {}
    for option, value in zip(words[::2], words[1::2], strict=True):
        name = option.removeprefix("-").lower()
        _expect(option.startswith("-") and name in _JLINK_VALUES.split(), f"unknown: {option}")
        _expect(not value.startswith("-") and name not in read, f"{option} {value}")
        read[name] = value
    _expect({"device", "if", "speed", "commandfile"} <= read.keys(), "it would ask")
    _expect(read["if"].lower() in ("swd", "jtag") and read["speed"].isdigit(), "if, speed")
    load, *after = script.splitlines()
    file = re.fullmatch(r'loadfile "([^"]+)"', load, re.IGNORECASE)
    _expect(file and after == ["r", "g", "exit"], f"script: {script}")
    assert file is not None
    return file[1], read.get("selectemubysn", "")


def _stm32_programmer(words: Sequence[str], script: str) -> tuple[str, str]:
    """Read commands with their arguments, in order of execution."""
    del script
    commands: list[list[str]] = []
    for word in words:
        if word.startswith("-"):
            commands.append([word])
        else:
            _expect(commands, f"{word} without a command")
            commands[-1].append(word)
    _expect([c[0] for c in commands] == ["-c", "-w", "-v", "-rst"], f"commands: {commands}")
    connect, write, *others = commands
    fields = dict(word.partition("=")[::2] for word in connect[1:])
    _expect(fields.keys() <= {"port", "mode", "sn", "freq", "ap", "reset"}, f"connect: {connect}")
    _expect(fields.get("port") in ("SWD", "JTAG"), "port")
    _expect(fields.get("mode") in (None, "NORMAL", "UR", "HOTPLUG", "POWERDOWN"), "mode")
    _expect(len(write) == 2 and write[1].endswith((".hex", ".elf")), "a file, with its addresses")
    _expect(all(len(command) == 1 for command in others), f"too much: {others}")
    return write[1], fields.get("sn", "")


def _st_flash(words: Sequence[str], script: str) -> tuple[str, str]:
    """Return a command line: first options, then the command, then its arguments."""
    del script
    rest, serial, form = list(words), "", "binary"
    while rest and rest[0].startswith("--"):
        option = rest.pop(0)
        _expect(option in ("--reset", "--format", "--serial"), f"unknown: {option}")
        if option != "--reset":
            _expect(rest, f"{option} without a value")
            value = rest.pop(0)
            form, serial = (value, serial) if option == "--format" else (form, value)
    _expect(form == "ihex" and len(rest) == 2 and rest[0] == "write", f"not a command: {rest}")
    _expect(not rest[1].startswith("-"), "an option after the command")
    return rest[1], serial


def _dfu_util(words: Sequence[str], script: str) -> tuple[str, str]:
    del script
    read = _Parser("-v -w -R", "-d -p -c -i -a -S -t -Z -s -U -D").parse_args(words)
    _expect(read.D and not read.U, "no file")
    _expect(re.fullmatch(r"[0-9a-f]{4}:[0-9a-f]{4}", read.d or ""), "not vendor:product")
    _expect(re.fullmatch(r"0x[0-9a-f]{8}(:(leave|force|mass-erase))*", read.s or ""), "address")
    _expect(not read.D.endswith((".hex", ".elf")), "it writes files as they are")
    return read.D, read.S or ""


def _bossac(words: Sequence[str], script: str) -> tuple[str, str]:
    del script
    parser = _Parser("-e/--erase -w/--write -v/--verify -i/--info -d/--debug -R/--reset")
    parser.add_argument("-o", "--offset", type=lambda word: int(word, 0))
    parser.add_argument("-p", "--port")
    parser.add_argument("file")
    read = parser.parse_args(words)
    _expect(read.write and (read.offset or 0) % 0x1000 == 0, "not at a page")
    _expect(not read.file.endswith((".hex", ".elf")), "it writes files as they are")
    return read.file, read.port or ""


def _linkserver(words: Sequence[str], script: str) -> tuple[str, str]:
    del script
    parser = _Parser()
    flash = parser.add_subparsers(required=True).add_parser("flash")
    for name in ("--probe", "-o"):
        flash.add_argument(name)
    flash.add_argument("device")
    load = flash.add_subparsers(required=True).add_parser("load")
    load.add_argument("--addr")
    load.add_argument("file")
    read = parser.parse_args(words)
    _expect(re.fullmatch(r"\w+:[\w-]+", read.device), "not chip:board")
    _expect(read.addr or not read.file.endswith(".bin"), "a .bin without an address")
    return read.file, read.probe or ""


READERS: dict[str, Callable[[Sequence[str], str], tuple[str, str]]] = {
    "pyocd": _pyocd,
    "openocd": _openocd,
    "jlink": _jlink,
    "stm32_programmer": _stm32_programmer,
    "st_flash": _st_flash,
    "dfu_util": _dfu_util,
    "bossac": _bossac,
    "linkserver": _linkserver,
}
