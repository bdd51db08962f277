# SPDX-License-Identifier: Apache-2.0
"""Show the output of a connected board; optionally flash the image first.

    bazel run //boards:nrf52840dk_app.run -- --port=/dev/ttyACM0
    bazel run //boards:nrf52840dk_app.monitor
    on_board --board=board.json --elf=program.elf [--size=size.json] [--facts=facts.json ...] \\
        [--port=/dev/ttyACM0] [--flash_tool=..] [--probe=..] program.hex program.bin \\
        [-- further arguments of the flash tool]
    on_board --monitor [--port=..] [--baud=..]

An image run ends at the program's last line (PL:PASS or PL:FAIL), at a fault, or after --silence
seconds without output. A fault is explained like in the simulator. If --size is given, the run ends
with the tables of `.sim`. They have no instructions, but the cycles of the steps if the image marks
them and the core counts them.

Option --profile writes these cycles for machines, in the format of profile.schema.json. Option
--trace writes them for ui.perfetto.dev. Paths are relative to Bazel's working folder. If --monitor
is given, the program only shows output, until Ctrl-C. The board's console receives the standard
input.
"""

from tools.text.signal_handling import run_main

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from absl import app, flags

from boards.board import Board, BoardError, load_board
from tools.image.flash import FlashError, chosen_method, flash, visible_path
from tools.image.flash_tools import METHODS, Image
from tools.image.listener import Listener
from tools.image.profile import cycles_of_inference, profile, steps_table, write_profile
from tools.image.serial_port import (
    BAUD,
    PortError,
    PortGoneError,
    SeveralPortsError,
    find_port,
    open_port,
    open_when_there,
    read_chunks,
)
from tools.image.summary import summary
from tools.simulator.elf import Elf
from tools.simulator.fault import explain, find_fault
from tools.simulator.simulate import FAIL, PASS, Run, Tools

_ELF = flags.DEFINE_string("elf", "", "The program, for what faults mean.")
_SIZE = flags.DEFINE_string("size", "", "The image's size.json, for the tables.")
_FACTS = flags.DEFINE_multi_string("facts", [], "JSON files with more rows, for the top.")
_PLAN = flags.DEFINE_spaceseplist("plan", [], "JSON of plans, for the names of their steps.")
_PROFILE = flags.DEFINE_string("profile", None, "The profile to write.")
_TRACE = flags.DEFINE_string("trace", None, "The same to write for ui.perfetto.dev.")
_MONITOR = flags.DEFINE_bool("monitor", False, "Only show what the board prints.")
_PORT = flags.DEFINE_string(
    "port",
    "",
    "The serial port: a path, or vendor:product or serial number of a USB device; the probe's, or "
    "the only one of USB, if not given.",
)
_BAUD = flags.DEFINE_integer(
    "baud", BAUD, "Of the port, for programs that change their UART's.", lower_bound=1
)
_SILENCE = flags.DEFINE_float(
    "silence", 30, "Seconds without a character until it is stopped.", lower_bound=0
)

_USE_THE_PORT = ("bossac",)
_RESTART = ("dfu_util", "uf2")
_APPEARS = 10  # seconds until a restarted board's port appears

_STANDARD_INPUT = 0

_ENDED_BADLY = 1
_NOT_RUN = 2


@dataclass(frozen=True)
class Shown:
    """Output of a program, and a flag for a lost output channel."""

    text: str
    is_gone: bool = False


def until_the_end(
    descriptor: int, silence: float, typed: int | None = _STANDARD_INPUT, received: bytes = b""
) -> Shown:
    """Show and return received and arriving output up to the program's last line. Meanwhile input
    from `typed` is sent to the board.
    """
    lines: list[str] = []
    begun = ""
    try:
        for chunk in read_chunks(descriptor, silence, typed, received):
            sys.stdout.write(chunk)
            sys.stdout.flush()
            *whole, begun = (begun + chunk.replace("\r", "")).split("\n")
            lines += whole
            if any(line == PASS or line.startswith((FAIL, "PL:FAULT")) for line in whole):
                break
    except PortGoneError:
        return Shown("\n".join([*lines, begun]), is_gone=True)
    return Shown("\n".join([*lines, begun]))


def problem(shown: Shown, elf: Path, tools: Tools, silence: float, gone: str) -> str:
    """Return the difference from a successful run, "" if there is none. `gone` is the explanation
    for a lost output channel.
    """
    fault = find_fault(shown.text)
    if fault is not None:
        return explain(fault, Elf(elf), tools.addr2line)
    lines = shown.text.splitlines()
    failed = [line for line in lines if line.startswith(FAIL)]
    if failed:
        return failed[0]
    if PASS in lines:
        return ""
    ended = gone if shown.is_gone else f"nothing came for {silence:g} s"
    # Half of the characters received at a wrong rate are invalid text.
    if shown.text.count("\N{REPLACEMENT CHARACTER}") * 4 > len(shown.text):
        return f"{ended}, and what came is no text: is it this board's port, at this rate (--baud)?"
    return f"{ended}, and no {PASS} before that"


def _port_before_flashing(method: str, probe: str) -> int | None:
    """Open the port early, so that the program's first line is not missed.

    A board that is its own probe has no port while its boot loader runs or the flash tool uses it.
    The result is then None, and the port is opened after the board's restart.

    Raises:
        PortError: it cannot be opened, or there are several already.
    """
    try:
        port = find_port(_PORT.value, probe)
    except SeveralPortsError:
        raise
    except PortError:
        if method in (*_RESTART, *_USE_THE_PORT):
            return None
        raise
    return None if method in _USE_THE_PORT else open_port(port, _BAUD.value)


def _flash(board: Board, image: Image, further: Sequence[str]) -> tuple[int, bytes]:
    """Flash, and return the port's descriptor and the received output of the new program."""
    tool, probe = flags.FLAGS.flash_tool, flags.FLAGS.probe
    method = chosen_method(board, tool, image)["method"]
    port = _port_before_flashing(method, probe)
    if port is None:
        flash(board, image, tool, probe, further)
        return open_when_there(_PORT.value, probe, _BAUD.value, _APPEARS), b""
    if method in _RESTART:  # the boot loader runs, and no program prints
        flash(board, image, tool, probe, further)
        return port, b""
    listener = Listener(port, METHODS[method].stopped)
    flash(board, image, tool, probe, further, listener)
    if listener.may_have_lost:
        print(
            f"{METHODS[method].program} did not say when it stopped the program that was on the "
            "board: what came until it ended is dropped. Reset the board to see all",
            file=sys.stderr,
        )
    return port, listener.text


def expect_uart(board: Board) -> None:
    """Raise PortError if an image has its console elsewhere."""
    if board.console.kind != "uart":
        raise PortError(
            f"the console of this image is {board.console.kind}, not a serial port. `.flash` "
            "writes the image, and a debug probe shows its text (RTT: J-Link's RTT Viewer, "
            "`pyocd rtt`, OpenOCD's `rtt`; semihosting: the output of a debugger)"
        )


def _run(
    board: Board, image: Image, elf: Path, facts: dict[str, Any], further: Sequence[str]
) -> int:
    expect_uart(board)
    descriptor, received = _flash(board, image, further)
    shown = until_the_end(descriptor, _SILENCE.value, received=received)
    found = problem(shown, elf, Tools.of_build(), _SILENCE.value, str(PortGoneError()))
    if found:
        print(f"{elf.name}: {found}", file=sys.stderr)
        return _ENDED_BADLY
    if not _SIZE.value:
        return 0
    run = Run(shown.text, None, "", None, 0)
    size = json.loads(Path(_SIZE.value).read_text())
    plans = [json.loads(Path(path).read_text()) for path in _PLAN.value]
    linked = Elf(elf).addresses if plans else {}
    counted = profile(run, size, plans, linked)
    write_profile(counted, _PROFILE.value, _TRACE.value)
    cycles = cycles_of_inference(counted)
    tables = [steps_table(counted), summary(run, size, facts, None, cycles=cycles)]
    print("".join(f"\n{text}\n" for text in tables if text), end="")
    if cycles is None and plans and not counted["steps"]:
        print(
            "  cycles: build with --//firmware/runtime:profile_steps, for a core that counts them"
        )
    return 0


def _monitor() -> int:
    port = find_port(_PORT.value, flags.FLAGS.probe)
    descriptor = open_port(port, _BAUD.value)
    print(f"{port} at {_BAUD.value} baud, until Ctrl-C", file=sys.stderr)
    try:
        for chunk in read_chunks(descriptor, 0, _STANDARD_INPUT):
            sys.stdout.write(chunk)
            sys.stdout.flush()
    except KeyboardInterrupt:
        print()
    return 0


def main(argv: Sequence[str]) -> int:
    try:
        if _MONITOR.value:
            expect_uart(load_board(Path(flags.FLAGS.board)))
            return _monitor()
        if len(argv) < 3:
            raise app.UsageError("give the image's .hex and .bin")
        facts: dict[str, Any] = {}
        for path in _FACTS.value:
            facts |= json.loads(Path(path).read_text())
        return _run(
            load_board(Path(flags.FLAGS.board)),
            Image(visible_path(Path(argv[1])), visible_path(Path(argv[2]))),
            Path(_ELF.value),
            facts,
            argv[3:],
        )
    except (BoardError, FlashError, PortError) as error:
        print(error, file=sys.stderr)
        return _NOT_RUN


if __name__ == "__main__":
    run_main(main)
