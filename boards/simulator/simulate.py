# SPDX-License-Identifier: Apache-2.0
"""Runs a program on a simulated board, or on the host, and says how it ended."""

import codecs
import math
import os
import re
import selectors
import subprocess
import tempfile
import termios
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from boards.board import Board
from boards.simulator.counts import Counts, plugin_arguments, read_counts
from boards.simulator.elf import Elf
from boards.simulator.fault import explain, find_fault, find_lockup
from tools.python.runfile import runfile

PASS = "PL:PASS"
FAIL = "PL:FAIL"

_KEPT_LINES = 20

_STAT = re.compile(r"^PL:STAT (?P<name>\S.*) (?P<value>-?\d+)$", re.MULTILINE)


class SimulatorError(Exception):
    """A program could not be run at all; the text says what to do."""


@dataclass(frozen=True)
class Tools:
    """Programs that the simulation uses; None for what is not there."""

    qemu: Path | None = None
    plugin: Path | None = None
    addr2line: Path | None = None

    @staticmethod
    def of_build() -> "Tools":
        """Returns those that Bazel provides."""
        return Tools(
            qemu=runfile("qemu/qemu-system-arm"),
            plugin=runfile("pilotlight/boards/simulator/plugin/libcount.so"),
            addr2line=runfile("arm_gnu_toolchain/bin/arm-none-eabi-addr2line"),
        )


@dataclass(frozen=True)
class Run:
    """A program's end.

    Attributes:
        console: what it printed.
        exit_status: None if it had to be stopped.
        problem: "" if it ended with status 0 and the line PL:PASS last; else what happened instead.
        counts: executed instructions, if asked for and the program ended well.
        seconds: how long it took on this machine.
    """

    console: str
    exit_status: int | None
    problem: str
    counts: Counts | None
    seconds: float

    @property
    def stats(self) -> dict[str, int]:
        """What the program reported in lines `PL:STAT <name> <number>`, in order."""
        return {name: int(value) for name, value in _STAT.findall(self.console)}


def simulate(
    elf: Path,
    board: Board,
    *,
    time_limit: float = 60,
    silence: float = math.inf,
    count: bool = False,
    echo: TextIO | None = None,
    listen: bool = False,
    tools: Tools | None = None,
) -> Run:
    """Runs a program until it ends.

    Args:
        elf: the program, linked for the board.
        board: which board; its data name the simulator.
        time_limit: seconds after which the program is stopped.
        silence: seconds without a character on the console after which it is.
        count: count instructions (QEMU only; slower).
        echo: gets the console's text while it appears.
        listen: standard input is what the board's console receives.
        tools: programs to use; those of the build if not given.

    Raises:
        SimulatorError: no simulator for the board, or it is not installed.
        CountsError: the program ended well, but its marks of regions do not fit together.
    """
    tools = tools or Tools.of_build()
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "counts"
        if board.simulator is None:
            raise SimulatorError(
                f"nothing simulates the board {board.name}: no machine of QEMU's is like it"
                + ("; `.fvp` starts Arm's model of it" if board.fvp else "")
                + ("; `bazel test --config=hardware` runs tests on one" if board.flash else "")
            )
        if board.simulator.kind == "native":
            if count:
                raise SimulatorError("instructions are counted in QEMU, not on the host")
            command = [str(elf)]
        else:
            command = qemu_command(elf, board, tools)
            if count:
                if tools.plugin is None:
                    raise SimulatorError("the plugin that counts instructions is not built")
                command += ["-plugin", f"{tools.plugin}{plugin_arguments(Elf(elf), output)}"]
        start = time.monotonic()
        status, console, messages = _execute(command, time_limit, silence, echo, listen)
        seconds = time.monotonic() - start
        if seconds >= time_limit:
            stopped = f"no end after {time_limit:g} s"
        else:
            stopped = f"no end, and nothing on the console for {silence:g} s"
        problem = _problem(elf, board, status, console, messages, stopped, tools)
        # Only a program that ends well has closed its regions, and let the plugin write.
        counts = read_counts(output) if count and not problem else None
    return Run(console, status, problem, counts, seconds)


def qemu_command(elf: Path, board: Board, tools: Tools) -> list[str]:
    """Returns the command that runs a program in QEMU with the console on standard output.

    Raises:
        SimulatorError: QEMU is not there.
    """
    if tools.qemu is None:
        raise SimulatorError("QEMU is missing: run through Bazel, which provides @qemu")
    assert board.simulator is not None
    if board.console.kind == "rtt":
        raise SimulatorError(
            "the console of this image is RTT, which a debug probe reads: none is in the simulator"
        )
    console = ["-chardev", "stdio,id=console", "-serial", "chardev:console"]
    semihosting = "enable=on,target=native"
    if board.console.kind == "semihosting":
        console[-1] = "null"
        semihosting += ",chardev=console"
    vectors = board.simulator.vectors
    return [
        str(tools.qemu),
        *("-M", board.simulator.machine),
        *([] if vectors is None else ["-global", f"armv7m.init-nsvtor={vectors:#010x}"]),
        *("-display", "none", "-monitor", "none"),
        *("-serial", "null") * board.simulator.serial,
        *console,
        *("-semihosting-config", semihosting),
        *("-kernel", str(elf)),
    ]


def _execute(
    command: Sequence[str], time_limit: float, silence: float, echo: TextIO | None, listen: bool
) -> tuple[int | None, str, str]:
    """Returns exit status (None: stopped), standard output and standard error."""
    # QEMU reads a terminal character by character, and leaves it so when it is stopped.
    terminal = termios.tcgetattr(0) if listen and os.isatty(0) else None
    try:
        process = subprocess.Popen(
            command,
            stdin=None if listen else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        raise SimulatorError(f"{command[0]} does not start: {error}") from error
    assert process.stdout is not None and process.stderr is not None
    received = {process.stdout: bytearray(), process.stderr: bytearray()}
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")  # letters of several bytes
    deadline = time.monotonic() + time_limit
    heard = time.monotonic()
    stopped = False
    with process, selectors.DefaultSelector() as selector:
        for stream in received:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            until = min(deadline, heard + silence)
            ready = selector.select(max(0.0, until - time.monotonic()))
            now = time.monotonic()
            if now >= deadline or (not ready and now >= until):
                stopped = True
                process.kill()
                break
            for key, _ in ready:
                chunk = os.read(key.fd, 65536)
                if not chunk:
                    selector.unregister(key.fileobj)
                elif key.fileobj is process.stdout:
                    received[process.stdout] += chunk
                    heard = time.monotonic()
                    if echo is not None:
                        echo.write(decoder.decode(chunk))
                        echo.flush()
                else:
                    received[process.stderr] += chunk
        if echo is not None:
            echo.write(decoder.decode(b"", final=True))
            echo.flush()
        status = process.wait()
    if terminal is not None:
        termios.tcsetattr(0, termios.TCSANOW, terminal)
    console, messages = (text.decode(errors="replace") for text in received.values())
    return None if stopped else status, console, messages


def _problem(
    elf: Path,
    board: Board,
    status: int | None,
    console: str,
    messages: str,
    stopped: str,
    tools: Tools,
) -> str:
    """Returns how a run differs from one that ended well, "" if it does not; `stopped` is for one
    that had to be stopped.
    """
    is_native = board.simulator is not None and board.simulator.kind == "native"
    fault = None if is_native else find_lockup(messages) or find_fault(console)
    lines = console.splitlines()
    failed = [line for line in lines if line.startswith(FAIL)]
    if fault is not None:
        return explain(fault, Elf(elf), tools.addr2line)
    if status is None:
        return f"{stopped}; the console ended with:\n" + _tail(lines)
    if failed:
        return failed[0]
    if status != 0:
        # Sanitizers and QEMU say first what matters.
        return "\n".join([f"exit status {status}", *messages.splitlines()[:_KEPT_LINES]])
    if not lines or lines[-1] != PASS:
        return f"the last line is not {PASS}; the console ended with:\n" + _tail(lines)
    return ""


def _tail(lines: Sequence[str]) -> str:
    return "\n".join(f"  {line}" for line in lines[-_KEPT_LINES:]) or "  (nothing)"
