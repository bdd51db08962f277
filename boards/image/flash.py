# SPDX-License-Identifier: Apache-2.0
"""Writes an image to a board that is connected, by the board's flash method.

flash --board=board.json program.hex [further arguments of the method's tool]

The tool runs in the folder that `bazel run` was called in: its arguments may name files there.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from absl import app, flags

from boards.board import Board, BoardError, load_board

_BOARD = flags.DEFINE_string("board", None, "The board's board.json.", required=True)


class FlashError(Exception):
    """The image cannot be flashed; the text says why and what to do."""


def _pyocd(method: dict[str, Any], hex_file: Path) -> list[str]:
    # Without a probe it would wait for one and say nothing.
    return ["pyocd", "flash", "--no-wait", "--target", method["target"], str(hex_file)]


_METHODS: dict[str, Callable[[dict[str, Any], Path], list[str]]] = {"pyocd": _pyocd}
_INSTALL = {"pyocd": "pip install pyocd"}


def visible_path(file: Path) -> Path:
    """The path of a file that was built, as it is seen from where `bazel run` was called.

    This program runs among links to Bazel's outputs; the workspace has one to them too, bazel-out.
    """
    real = file.resolve()
    if "bazel-out" in real.parts and "BUILD_WORKSPACE_DIRECTORY" in os.environ:
        output = Path(*real.parts[real.parts.index("bazel-out") :])
        linked = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / output
        if linked.exists():
            return Path(os.path.relpath(linked, os.environ["BUILD_WORKING_DIRECTORY"]))
    return real


def flash_command(board: Board, hex_file: Path) -> list[str]:
    """The command that flashes a board, its tool with the whole path.

    Raises:
        FlashError: the board names no method, or the method's tool is not installed.
    """
    if board.flash is None:
        raise FlashError(
            f"the board {board.name} names no flash method (flash_method of its chip): "
            f"copy {hex_file} to it as its maker says"
        )
    name = board.flash["method"]
    tool, *arguments = _METHODS[name](board.flash, hex_file)
    path = shutil.which(tool)
    if path is None:
        raise FlashError(f"{tool} is not installed: {_INSTALL[name]}")
    return [path, *arguments]


def main(argv: Sequence[str]) -> int:
    if len(argv) < 2:
        raise app.UsageError("name the image's .hex")
    try:
        hex_file = visible_path(Path(argv[1]))
        command = flash_command(load_board(Path(_BOARD.value)), hex_file)
    except (BoardError, FlashError) as error:
        print(error, file=sys.stderr)
        return 1
    folder = os.environ.get("BUILD_WORKING_DIRECTORY")
    status = subprocess.run([*command, *argv[2:]], cwd=folder, check=False).returncode
    if status != 0:
        print(f"{command[0]} ended with status {status}; the image is {hex_file}", file=sys.stderr)
    return status


if __name__ == "__main__":
    app.run(main)
