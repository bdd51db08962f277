# SPDX-License-Identifier: Apache-2.0
"""Start a debugger on an image, stopped before the first instruction.

The image runs in its board's simulator. On a board, GDB connects to the server of the debug probe.

    bazel run //boards:corstone300_app.debug
    bazel run //boards:nrf52840dk_app.debug -- --server=localhost:3333
    debug --board=board.json program.elf [-- further arguments of GDB]

GDB is --gdb, or the build's: arm-none-eabi-gdb or gdb-multiarch of the machine, else a downloaded
one (tools/repositories/gdb.bzl). The board's console goes to standard output. The simulator ends
together with GDB. Paths are relative to the working folder of `bazel run`.
"""

from tools.text.signal_handling import leaving, run_main

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from boards.board import Board, BoardError, load_board
from tools.image.flash_tools import METHODS, environment
from tools.python.runfile import runfile
from tools.simulator.simulate import SimulatorError, Tools, qemu_command

_BOARD = flags.DEFINE_string("board", None, "The board's board.json.", required=True)
_GDB = flags.DEFINE_string("gdb", "", "The debugger's program.")
_SERVER = flags.DEFINE_string(
    "server", "", "host:port of a debug probe's server, in place of the simulator."
)


class DebugError(Exception):
    """Failed start of the debugger; the text gives the reason and the remedy."""


def find_gdb(given: str) -> str:
    """Return the debugger's path.

    Raises:
        DebugError: it is not installed, does not start, or knows no Arm.
    """
    if os.sep in given:
        given = str(Path(os.environ.get("BUILD_WORKING_DIRECTORY", ""), given).absolute())
    path = shutil.which(given) if given else str(runfile("gdb/arm-gdb"))
    if path is None:
        raise DebugError(f"{given} is not installed; without --gdb the build brings one")
    asked = [path, "-nx", "-batch", "-ex", "set architecture arm"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
    except OSError as error:
        raise DebugError(f"{path} does not start: {error.strerror}") from error
    if done.returncode != 0 or "Undefined item" in done.stderr:
        raise DebugError(
            f"{path} does not support Arm. Without --gdb, the build provides one that does"
        )
    return path


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _sources(elf: Path) -> list[str]:
    """Return GDB's arguments for sources outside of the workspace.

    They cover the folder of the image's configuration (compiled as bazel-out/cfg) and other
    repositories. Pilotlight is one of them if the workspace only uses it.
    """
    for folder in elf.resolve().parents:
        if folder.parent.name == "bazel-out":
            base = folder.parents[3]  # <base>/execroot/<workspace>/bazel-out/<configuration>
            places = {"bazel-out/cfg": folder, "external": base / "external"}
            paths = [f"set substitute-path {name} {place}" for name, place in places.items()]
            return [word for path in paths for word in ("-ex", path)]
    return []


def on_the_board(board: Board) -> str:
    """Return instructions to replace `.debug` for a board without a simulator."""
    text = f"no simulator with a debugger's port runs the board {board.name}"
    for method in board.flash:
        used = METHODS.get(method["method"])
        if used is not None and used.server is not None:
            command, port = used.server(method)
            return (
                f"{text}. On the board itself: flash it, start its probe's server, "
                f"`{command}`, and beside that `.debug -- --server=localhost:{port}`"
            )
    return text


def _gdb(elf: Path, gdb: str, connect: str, further: Sequence[str]) -> int:
    """Run GDB until it ends, and return its exit status. GDB itself handles Ctrl-C."""
    interrupted = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return subprocess.run(
            [gdb, "-q", str(elf), *_sources(elf), "-ex", connect, *further],
            cwd=os.environ.get("BUILD_WORKSPACE_DIRECTORY"),
            env=environment(),
            check=False,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ).returncode
    finally:
        signal.signal(signal.SIGINT, interrupted)


def debug(elf: Path, simulator: Sequence[str], gdb: str, further: Sequence[str]) -> int:
    """Run the debugger to its end and return its exit status."""
    port = _free_port()
    command = [*simulator, "-S", "-gdb", f"tcp:127.0.0.1:{port}"]
    # The simulator has its own session: Ctrl-C stops the program in GDB, not the simulator. The
    # simulator must also end with us if the terminal is closed.
    with (
        leaving(),
        subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True) as running,
    ):
        try:
            return _gdb(elf, gdb, f"target remote 127.0.0.1:{port}", further)
        finally:
            running.kill()


def main(argv: Sequence[str]) -> int:
    if len(argv) < 2:
        raise app.UsageError("give the program")
    elf = Path(argv[1]).resolve()
    try:
        board = load_board(Path(_BOARD.value))
        if _SERVER.value:
            connect = f"target extended-remote {_SERVER.value}"
            return _gdb(elf, find_gdb(_GDB.value), connect, argv[2:])
        if board.simulator is None or board.simulator.kind != "qemu":
            raise SimulatorError(on_the_board(board))
        return debug(
            elf, qemu_command(elf, board, Tools.of_build()), find_gdb(_GDB.value), argv[2:]
        )
    except (BoardError, DebugError, SimulatorError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    run_main(main)
