# SPDX-License-Identifier: Apache-2.0
"""An image in a slot of MCUboot runs: signed as `.sign` does it, started by a loader in QEMU."""

import subprocess
from pathlib import Path

import pytest

from boards.board import Board, load_board
from tools.image.binary_files import contents
from tools.image.sign import sign
from tools.python.scripts import python_script
from tools.simulator.elf import Elf
from tools.simulator.simulate import SimulatorError, Tools, qemu_command, simulate

_FOLDER = Path("boards/tests/mcuboot")
_RUN = "from imgtool.main import imgtool; imgtool()"


def _of_the_slot(name: str) -> Board:
    return load_board(_FOLDER / f"{name}_slot/{name}_slot.json")


def _signed(folder: Path, name: str) -> Path:
    """Return a signed program. It uses interrupts, so it needs the whole start-up."""
    tool = python_script(folder / "imgtool", "-c", _RUN)
    key, plain, signed = (folder / file for file in ("key", "plain.bin", "signed.bin"))
    subprocess.run([tool, "keygen", "-t", "ed25519", "-k", key], check=True)
    board = _of_the_slot(name)
    plain.write_bytes(contents(board, Elf(_FOLDER / f"irq.{name}.elf"))[board.code])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder}:/usr/bin:/bin")
        sign(board, key, "1.2.3", plain, signed, [])
    return signed


def _console(name: str, stored: Path) -> str:
    """Return the output of the loader with a file in its slot."""
    board = load_board(Path(f"boards/{name}/{name}.json"))
    slot = _of_the_slot(name).slot
    assert slot is not None
    at = board.memory(board.code).base + slot.offset
    command = qemu_command(_FOLDER / f"loader.{name}.elf", board, Tools.of_build())
    command += ["-device", f"loader,file={stored},addr={at:#x},force-raw=on"]
    nothing = subprocess.DEVNULL
    return subprocess.run(command, stdin=nothing, capture_output=True, text=True, timeout=60).stdout


@pytest.mark.parametrize("name", ["netduinoplus2", "mps2_an505"])
def test_the_loader_starts_it(tmp_path: Path, name: str) -> None:
    console = _console(name, _signed(tmp_path, name))
    assert console.startswith("the loader starts an image\n")
    assert console.endswith("PL:PASS\n")


def test_nothing_else_passes(tmp_path: Path) -> None:
    """The image itself prints the text."""
    (tmp_path / "none.bin").write_bytes(bytes(64))
    assert _console("netduinoplus2", tmp_path / "none.bin") == "PL:FAIL no image in the slot\n"


def test_without_a_loader_it_is_not_simulated() -> None:
    with pytest.raises(
        SimulatorError, match="for a slot of MCUboot, and the simulator has no MCUboot"
    ):
        simulate(_FOLDER / "irq.netduinoplus2.elf", _of_the_slot("netduinoplus2"))
