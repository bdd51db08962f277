# SPDX-License-Identifier: Apache-2.0
"""Sign an image for the MCUboot slot of its board, with imgtool and your key.

    bazel run //:my_app.sign -- --key=key.pem --version=1.2.3 --output=app.signed.bin
    sign --board=board.json --key=key.pem --version=1.2.3 --output=app.signed.bin program.bin \\
        [further arguments of imgtool]

Flash the result to the start of the slot, or use it as an update for the second slot. Paths are
relative to the working folder of `bazel run`.
"""

from tools.text.signal_handling import run_main

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from boards.board import Board, BoardError, load_board
from tools.image.flash_tools import environment

_BOARD = flags.DEFINE_string("board", None, "The board's board.json.", required=True)
_KEY = flags.DEFINE_string("key", None, "Private key, as imgtool keygen makes it.", required=True)
_VERSION = flags.DEFINE_string("version", None, "Of the image: 1.2.3 or 1.2.3+4.", required=True)
_OUTPUT = flags.DEFINE_string("output", None, "The signed image.", required=True)

_MOST = 32  # largest write size for MCUboot's swap status of two slots, in bytes


class SignError(Exception):
    """Failed signing; the text gives the reason and the remedy."""


def sign(
    board: Board, key: Path, version: str, image: Path, output: Path, further: Sequence[str]
) -> None:
    """Write the signed image.

    Raises:
        SignError: the board has no slot, imgtool is not installed, or it failed.
    """
    if board.slot is None:
        raise SignError(f"the board {board.name} has no `slot` (mcuboot_slot in its BUILD.bazel)")
    imgtool = shutil.which("imgtool")
    if imgtool is None:
        raise SignError("imgtool is not installed: pip install imgtool")
    write = board.memory(board.code).write
    aligned = ["--align", str(write)] if write <= _MOST else ["--align", "1", "--overwrite-only"]
    command = [
        *(imgtool, "sign", "--key", str(key), "--version", version, *aligned),
        *("--header-size", str(board.slot.header), "--pad-header"),
        *("--slot-size", str(board.slot.size), *further, str(image), str(output)),
    ]
    status = subprocess.run(command, check=False, env=environment()).returncode
    if status != 0:
        raise SignError(f"{imgtool} ended with status {status}; the image is {image}")


def main(argv: Sequence[str]) -> int:
    if len(argv) < 2:
        raise app.UsageError("give the image's .bin")
    folder = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    try:
        sign(
            load_board(Path(_BOARD.value)),
            folder / _KEY.value,
            _VERSION.value,
            Path(argv[1]).resolve(),
            folder / _OUTPUT.value,
            argv[2:],
        )
    except (BoardError, SignError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    run_main(main)
