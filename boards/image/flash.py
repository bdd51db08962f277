# SPDX-License-Identifier: Apache-2.0
"""Writes an image to a board that is connected, by the board's flash method.

flash --board=board.json program.hex [further arguments of the method's tool]
"""

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
    return ["pyocd", "flash", "--target", method["target"], str(hex_file)]


_METHODS: dict[str, Callable[[dict[str, Any], Path], list[str]]] = {"pyocd": _pyocd}
_INSTALL = {"pyocd": "pip install pyocd"}


def flash_command(board: Board, hex_file: Path) -> list[str]:
    """The command that flashes a board, its tool with the whole path.

    Raises:
        FlashError: the board names no method, or the method's tool is not installed.
    """
    if board.flash is None:
        raise FlashError(
            f"the board {board.name} names no flash method (flash_method in its BUILD.bazel): "
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
        command = flash_command(load_board(Path(_BOARD.value)), Path(argv[1]))
    except (BoardError, FlashError) as error:
        print(error, file=sys.stderr)
        return 1
    return subprocess.run([*command, *argv[2:]], check=False).returncode


if __name__ == "__main__":
    app.run(main)
