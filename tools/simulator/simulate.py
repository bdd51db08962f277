# SPDX-License-Identifier: Apache-2.0
"""Runner of a program on a simulated board, or on the host; it reports the result."""

from tools.text.signal_handling import held, leaving

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
from tools.python.runfile import runfile
from tools.simulator.counts import Counts, plugin_arguments, read_counts
from tools.simulator.elf import Elf
from tools.simulator.fault import explain, find_fault, find_lockup
from tools.simulator.stuck import Monitor, StuckWatch

PASS = "PL:PASS"
FAIL = "PL:FAIL"

_KEPT_LINES = 20
_SECONDS_TO_START = 3  # until a silent program is checked, and between checks

_STAT = re.compile(r"^PL:STAT (?P<name>\S.*) (?P<value>-?\d+)$", re.MULTILINE)


class SimulatorError(Exception):
    """Program that cannot be run at all; the text gives the remedy."""


@dataclass(frozen=True)
class Tools:
    """Programs of the simulation; None for missing ones."""

    qemu: Path | None = None
    plugin: Path | None = None
    addr2line: Path | None = None

    @staticmethod
    def of_build() -> "Tools":
        """Return the tools provided by Bazel."""
        return Tools(
            qemu=runfile("qemu/qemu-system-arm"),
            plugin=runfile("pilotlight/tools/simulator/plugin/libcount.so"),
            addr2line=runfile("arm_gnu_toolchain/bin/arm-none-eabi-addr2line"),
        )


@dataclass(frozen=True)
class Run:
    """Result of a program's run.

    Attributes:
        console: its output.
        exit_status: None if it had to be stopped.
        problem: "" if it ended with status 0 and PL:PASS as the last line; else the
            difference.
        counts: executed instructions, if requested and the program ended well.
        seconds: run time on this machine.
    """

    console: str
    exit_status: int | None
    problem: str
    counts: Counts | None
    seconds: float

    @property
    def stats(self) -> dict[str, int]:
        """Return the values in the program's lines `PL:STAT <name> <number>`, in order."""
        return {name: int(value) for name, value in _STAT.findall(self.console)}


def simulate(
    elf: Path,
    board: Board,
    *,
    time_limit: float = 60,
    silence: float = math.inf,
    count: bool = False,
    loads: bool = False,
    echo: TextIO | None = None,
    listen: bool = False,
    tools: Tools | None = None,
) -> Run:
    """Run a program until it ends.

    Args:
        elf: the program, linked for the board.
        board: its data select the simulator.
        time_limit: seconds until the program is stopped.
        silence: seconds without console output until the program is stopped.
        count: count instructions (QEMU only; slower).
        loads: count reads of flash, too (slower still).
        echo: receives the console's text while it appears.
        listen: forward standard input to the board's console.
        tools: programs to use; those of the build if not given.

    Raises:
        SimulatorError: no simulator for the board, or it is not installed.
        CountsError: the program ended well, but its region marks do not match.
    """
    tools = tools or Tools.of_build()
    with tempfile.TemporaryDirectory() as folder, Monitor() as monitor:
        output = Path(folder) / "counts"
        if board.simulator is None:
            raise SimulatorError(
                f"QEMU has no machine for the board {board.name}"
                + ("; `.fvp` starts Arm's model of it" if board.fvp else "")
                + ("; `bazel test --config=hardware` runs tests on one" if board.flash else "")
            )
        if board.simulator.kind == "native":
            if count:
                raise SimulatorError("only QEMU counts instructions; the host does not")
            command = [str(elf)]
            watch = None
        else:
            command = [*qemu_command(elf, board, tools), *monitor.arguments]
            watch = StuckWatch(elf, board, monitor, tools.addr2line)
            if count:
                if tools.plugin is None:
                    raise SimulatorError("the plugin that counts instructions was not built")
                flash = [m for m in board.memories if loads and m.kind == "flash"]
                arguments = plugin_arguments(Elf(elf), output, flash)
                command += ["-plugin", f"{tools.plugin}{arguments}"]
        start = time.monotonic()
        ended = _execute(command, time_limit, silence, echo, listen, watch, monitor.passed)
        seconds = time.monotonic() - start
        problem = _problem(elf, board, ended, tools)
        # Only a program that ends well has closed its regions and let the plugin write its file.
        counts = read_counts(output) if count and not problem else None
    return Run(ended.console, ended.status, problem, counts, seconds)


def qemu_command(elf: Path, board: Board, tools: Tools) -> list[str]:
    """Return the command to run a program in QEMU with the console on standard output.

    Raises:
        SimulatorError: QEMU is missing, or lacks features the image needs.
    """
    if board.slot is not None:
        raise SimulatorError(
            f"images of the board {board.name} are for a slot of MCUboot, and the simulator has "
            "no MCUboot to start them. Simulate the image of a board without `slot`"
        )
    if tools.qemu is None:
        raise SimulatorError("QEMU is missing; start this program with Bazel, which provides @qemu")
    assert board.simulator is not None
    if board.console.kind == "rtt":
        raise SimulatorError(
            "the console of this image is RTT, which needs a debug probe; the simulator has none"
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
        *(
            part
            for item in board.simulator.properties.items()
            for part in ("-global", "=".join(item))
        ),
        *("-display", "none", "-monitor", "none"),
        *("-serial", "null") * board.simulator.serial,
        *console,
        *("-semihosting-config", semihosting),
        *("-kernel", str(elf)),
    ]


@dataclass(frozen=True)
class _Ended:
    """End of a simulator: `status` is None if it was stopped; `stopped` is then the reason."""

    status: int | None
    console: str
    messages: str
    stopped: str


def _execute(
    command: Sequence[str],
    time_limit: float,
    silence: float,
    echo: TextIO | None,
    listen: bool,
    watch: StuckWatch | None,
    passed: int,
) -> _Ended:
    # QEMU reads a terminal character by character, and leaves it so when it is stopped.
    terminal = termios.tcgetattr(0) if listen and os.isatty(0) else None
    process = None
    with leaving():
        try:
            with held():
                process = subprocess.Popen(
                    command,
                    stdin=None if listen else subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    pass_fds=(passed,),
                )
            with process:
                try:
                    return _follow(process, time_limit, silence, echo, watch)
                finally:
                    process.kill()  # also where nobody reads on
        except OSError as error:
            if process is not None:
                raise
            raise SimulatorError(f"{command[0]} does not start: {error}") from error
        finally:
            if process is not None:
                process.kill()
            if terminal is not None:
                termios.tcsetattr(0, termios.TCSANOW, terminal)


def _follow(
    process: "subprocess.Popen[bytes]",
    time_limit: float,
    silence: float,
    echo: TextIO | None,
    watch: StuckWatch | None,
) -> _Ended:
    """Collect a simulator's output until it ends, or must be stopped."""
    assert process.stdout is not None and process.stderr is not None
    received = {process.stdout: bytearray(), process.stderr: bytearray()}
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")  # letters of several bytes
    heard = time.monotonic()
    deadline = heard + time_limit
    look = math.inf if watch is None else heard + _SECONDS_TO_START
    stopped = ""
    with selectors.DefaultSelector() as selector:
        for stream in received:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map() and not stopped:
            until = min(deadline, heard + silence, look)
            ready = selector.select(max(0.0, until - time.monotonic()))
            now = time.monotonic()
            if now >= deadline:
                stopped = f"no end after {time_limit:g} s"
            elif not ready and now >= heard + silence:
                stopped = f"no end, and nothing on the console for {silence:g} s"
            elif watch is not None and not ready and now >= look:
                stopped = watch.hopeless()
                look = now + _SECONDS_TO_START
            for key, _ in ready:
                chunk = os.read(key.fd, 65536)
                if not chunk:
                    selector.unregister(key.fileobj)
                elif key.fileobj is process.stdout:
                    received[process.stdout] += chunk
                    heard, look = time.monotonic(), math.inf
                    if echo is not None:
                        echo.write(decoder.decode(chunk))
                        echo.flush()
                else:
                    received[process.stderr] += chunk
    if echo is not None:
        echo.write(decoder.decode(b"", final=True))
        echo.flush()
    console, messages = (text.decode(errors="replace") for text in received.values())
    if stopped:
        stopped += f"; the console ended with:\n{_tail(console.splitlines())}"
        stopped += watch.place() if watch is not None else ""
    return _Ended(None if stopped else process.wait(), console, messages, stopped)


def _problem(elf: Path, board: Board, ended: _Ended, tools: Tools) -> str:
    """Return the difference between a run and a successful one, "" if there is none."""
    is_native = board.simulator is not None and board.simulator.kind == "native"
    fault = None if is_native else find_lockup(ended.messages) or find_fault(ended.console)
    lines = ended.console.splitlines()
    failed = [line for line in lines if line.startswith(FAIL)]
    if fault is not None:
        return explain(fault, Elf(elf), tools.addr2line)
    if ended.status is None:
        return ended.stopped
    if failed:
        return failed[0]
    if ended.status != 0:
        # Sanitizers and QEMU print the most important text first.
        return "\n".join(
            [f"exit status {ended.status}", *ended.messages.splitlines()[:_KEPT_LINES]]
        )
    if not lines or lines[-1] != PASS:
        return f"the last line is not {PASS}; the console ended with:\n" + _tail(lines)
    return ""


def _tail(lines: Sequence[str]) -> str:
    return "\n".join(f"  {line}" for line in lines[-_KEPT_LINES:]) or "  (nothing)"
