# SPDX-License-Identifier: Apache-2.0
"""Location of a program that does not end, from QEMU's monitor."""

import json
import re
import socket
from collections.abc import Sequence
from pathlib import Path

from boards.board import Board, Write
from tools.simulator.elf import Elf
from tools.simulator.fault import Fault, explain, registers_in

_SECONDS = 2  # for an answer: QEMU has no other work
_READ = re.compile(r": (0x[0-9a-f]{8})\s*$")
_START_UP = "write_registers"
"""Function of boards/common/startup.c; it may wait without a limit."""


class Monitor:
    """Connection to the monitor of a QEMU started with `arguments`."""

    def __init__(self) -> None:
        self._ours, self._theirs = socket.socketpair()
        self._ours.settimeout(_SECONDS)
        self._replies = self._ours.makefile("r", encoding="utf-8")

    def __enter__(self) -> "Monitor":
        return self

    def __exit__(self, *_: object) -> None:
        for end in (self._replies, self._ours, self._theirs):
            end.close()

    @property
    def passed(self) -> int:
        """Return the descriptor passed to QEMU."""
        return self._theirs.fileno()

    @property
    def arguments(self) -> Sequence[str]:
        """Return the arguments for QEMU."""
        chardev = f"socket,id=monitor,fd={self.passed}"
        return ("-chardev", chardev, "-mon", "chardev=monitor,mode=control")

    def _execute(self, command: str, **arguments: str) -> str:
        request = {"execute": command, "arguments": arguments}
        self._ours.sendall(json.dumps(request).encode())
        while True:
            reply = json.loads(self._replies.readline())
            if "return" in reply or "error" in reply:  # but for a greeting and events
                return str(reply.get("return", ""))

    def ask(self, *commands: str) -> list[str]:
        """Return QEMU's answers to monitor commands, empty if it does not answer."""
        try:
            self._execute("qmp_capabilities")
            return [
                self._execute("human-monitor-command", **{"command-line": command})
                for command in commands
            ]
        except (OSError, ValueError):
            return []


def _waited_for(write: Write, monitor: Monitor) -> str:
    """Return the value of a register start-up waits for, "" if it is already the expected one."""
    read = _READ.search("".join(monitor.ask(f"xp /1xw {write.address:#x}")))
    if read is None or int(read[1], 16) & write.clear == write.set:
        return ""
    return (
        f"the register {write.address:#010x} is {read[1]} in the simulator, and start-up waits "
        f"until of its bits {write.clear:#010x} those of {write.set:#010x} are 1"
    )


class StuckWatch:
    """Check of a silent program's location."""

    def __init__(self, elf: Path, board: Board, monitor: Monitor, addr2line: Path | None) -> None:
        self._elf, self._board = Elf(elf), board
        self._monitor, self._addr2line = monitor, addr2line

    def _registers(self) -> dict[str, int]:
        return registers_in("".join(self._monitor.ask("info registers")))

    def hopeless(self) -> str:
        """Return the reason why a program cannot start, "" if it may start."""
        function = self._elf.function_at(self._registers().get("pc", 0))
        if function is None or function.name != _START_UP:
            return ""
        waits = [write for write in self._board.writes if write.wait]
        why = next(filter(None, (_waited_for(write, self._monitor) for write in waits)), "")
        if not why:
            return ""
        return (
            f"{why}: QEMU's machine does not have what is behind it, such as the PLL of "
            '`clock = "max"` (simulate the image of a board without that)'
        )

    def place(self) -> str:
        """Return the program's location, in one or two lines, "" if it is unknown."""
        fault = Fault("", self._registers())
        lines = explain(fault, self._elf, self._addr2line).splitlines()
        return "".join(f"\n{line}" for line in lines if line.startswith(("  at ", "  from ")))
