# SPDX-License-Identifier: Apache-2.0
"""An image in a slot of MCUboot: imgtool signs and verifies it, it starts as a loader has it."""

import dataclasses
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from boards.board import Slot, load_board
from boards.tests.not_simulated.expected import BOARDS
from boards.tests.not_simulated.image import Images
from boards.tests.not_simulated.machine import Machine
from boards.tests.not_simulated.uarts import Line
from tools.image.binary_files import contents
from tools.image.sign import SignError, sign
from tools.python.scripts import python_script

_FOLDER = Path("boards/tests/not_simulated")
# One board's ROM reads a block before a program: that of the boot loader.
_BOARDS = {
    name: load_board(_FOLDER / f"{name}_slot/{name}_slot.data.json")
    for name in ("nrf52840dk", "pico")
}
_BOARD = _BOARDS["nrf52840dk"]
_MAGIC = 0x96F3B83D
_RUN = "from imgtool.main import imgtool; imgtool()"


def _imgtool(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _RUN, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a key and another one, and put imgtool on PATH."""
    made = tmp_path_factory.mktemp("signed")
    python_script(made / "imgtool", "-c", _RUN)
    for name in ("key", "other"):
        assert _imgtool("keygen", "-t", "ed25519", "-k", str(made / name)).returncode == 0
    return made


@pytest.fixture(scope="module", params=_BOARDS)
def name(request: pytest.FixtureRequest) -> str:
    """A board's."""
    given: str = request.param
    return given


@pytest.fixture(scope="module")
def image(folder: Path, name: str) -> Path:
    """Return hello, linked for the slot, and signed."""
    board = _BOARDS[name]
    elf = Images(folder).link(board, Path("boards/tests/programs/hello.c"))
    plain, signed = folder / f"{name}.bin", folder / f"{name}.signed.bin"
    plain.write_bytes(contents(board, elf)["flash"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder}:/usr/bin:/bin")
        sign(board, folder / "key", "1.2.3", plain, signed, [])
    return signed


def test_imgtool_verifies_it_with_the_right_key_only(folder: Path, image: Path) -> None:
    assert _imgtool("verify", "-k", str(folder / "key"), str(image)).returncode == 0
    assert _imgtool("verify", "-k", str(folder / "other"), str(image)).returncode != 0
    damaged = bytearray(image.read_bytes())
    damaged[1000] ^= 1
    (folder / "damaged.bin").write_bytes(damaged)
    assert _imgtool("verify", "-k", str(folder / "key"), str(folder / "damaged.bin")).returncode


def test_it_starts_where_the_boot_loader_jumps(name: str, image: Path) -> None:
    board = _BOARDS[name]
    assert board.slot is not None
    data = image.read_bytes()
    magic, _, header_size, _, _, _ = struct.unpack_from("<IIHHII", data)
    assert (magic, header_size) == (_MAGIC, board.slot.header)
    assert len(data) <= board.slot.size

    (kind,) = (label.partition(":")[2] for label in board.startup if ":console_" in label)
    expected = BOARDS[name]
    line = Line(kind, expected.uart)
    machine = Machine(board, {**expected.reads, **line.reads()})
    line.listen(machine)
    entry = expected.flash + board.slot.offset + header_size
    machine.store(entry, data[header_size:])
    machine.start(entry)
    assert line.sent.endswith(b"PL:PASS\n")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nrf52840dk", "--align 4 --header-size"),
        ("nucleo_l476rg", "--align 8 --header-size"),
        ("nucleo_u575zi", "--align 16 --header-size"),
        ("nucleo_h743zi", "--align 32 --header-size"),
        ("lpc55s69_evk", "--align 1 --overwrite-only --header-size"),
        ("frdm_mcxn947", "--align 1 --overwrite-only --header-size"),
    ],
)
def test_it_is_signed_for_what_the_flash_memory_is_written_with(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, told: str
) -> None:
    """MCUboot's notes after a swapped image have a minimum size; some are too small."""
    tool = tmp_path / "imgtool"
    tool.write_text(f'#!/bin/sh\necho "$@" >"{tmp_path}/called"\nexec {folder}/imgtool "$@"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    board = load_board(Path(f"boards/{name}/{name}.data.json"))
    board = dataclasses.replace(board, slot=Slot(0x10000, 0x30000, 512))
    (tmp_path / "app.bin").write_bytes(bytes(512))
    sign(board, folder / "key", "1.2.3", tmp_path / "app.bin", tmp_path / "signed.bin", [])
    assert told in (tmp_path / "called").read_text()


def test_what_cannot_be_signed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = load_board(Path("boards/nrf52840dk/nrf52840dk.data.json"))
    files = (folder / "key", "1.2.3", tmp_path / "app.bin", tmp_path / "signed.bin")
    with pytest.raises(SignError, match="the board nrf52840dk has no `slot`"):
        sign(without, *files, [])
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SignError, match="pip install imgtool"):
        sign(_BOARD, *files, [])
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    (tmp_path / "app.bin").write_bytes(b"x" * _BOARD.slot.size if _BOARD.slot else b"")
    with pytest.raises(SignError, match="ended with status"):
        sign(_BOARD, *files, [])
