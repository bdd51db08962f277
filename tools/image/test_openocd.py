# SPDX-License-Identifier: Apache-2.0
"""OpenOCD itself on simulated boards. `.flash` writes the flash memory of a micro:bit with
OpenOCD's own driver; QEMU has its controller. Boards with a program in RAM are loaded.

A JTAG probe of ours (testing/jtag_probe.py) connects OpenOCD and QEMU, in place of the board's
probe. Debian's OpenOCD supports no other probe without a device.
"""

import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from boards.board import Board, load_board
from tools.image.flash import FlashError, flash
from tools.image.flash_tools import METHODS, Image
from tools.image.listener import Listener
from tools.image.testing.gdb_remote import GdbRemote
from tools.image.testing.jtag_probe import JtagProbe
from tools.python.runfile import runfile
from tools.simulator.simulate import Tools, qemu_command

# CLENR0 of QEMU's nRF51 protects 8 KB of its flash; a new chip protects none.
_NOT_PROTECTED = {0x10000028: 0xFFFFFFFF}
_M0, _M4 = 0x0BB11477, 0x4BA00477

_PROBE = """\
adapter driver remote_bitbang
remote_bitbang host %s
remote_bitbang port 0
transport select jtag
gdb_port disabled
telnet_port disabled
tcl_port disabled
"""
# Chips with SWD alone do not give the length of their instruction register.
_JTAG = "proc swj_newdap {chip tag args} { eval jtag newtap $chip $tag -irlen 4 $args }\n"
_CORTEX_M = """\
source [find target/swj-dp.tcl]
swj_newdap chip cpu -expected-id %#x
dap create chip.dap -chain-position chip.cpu
target create chip.cpu cortex_m -dap chip.dap
chip.cpu configure -work-area-phys 0x20000000 -work-area-size 0x1000
cortex_m reset_config sysresetreq
"""


class _Connected:
    """A board without a program, and a probe on it."""

    def __init__(self, folder: Path, board: Board, identity: int, reads: dict[int, int]):
        elf = Path("none.elf")
        command = qemu_command(elf, board, Tools.of_build())
        assert command[-2:] == ["-kernel", str(elf)]
        debugger = folder / "gdb"
        server = ["-S", "-gdb", f"unix:{debugger},server=on,wait=off"]
        self.qemu = subprocess.Popen(
            [*command[:-2], *server], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )
        probe = JtagProbe(GdbRemote(debugger), folder / "jtag", identity, reads)
        threading.Thread(target=probe.serve, daemon=True).start()

    def says(self) -> str:
        """Return the board's console output up to the program's end."""
        return self.qemu.communicate(timeout=60)[0]


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Put OpenOCD alone on PATH, with its own files and the probe's in a folder with a
    short name.
    """
    program = runfile("flash_tools/openocd")
    assert program is not None
    its_own = program.resolve().parent / "usr/share/openocd/scripts"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind in ("bin", "interface", "target"):
            (folder / kind).mkdir()
        (folder / "bin" / "openocd").symlink_to(program.resolve())
        for file in (*its_own.glob("*.tcl"), *its_own.glob("target/*.cfg")):
            (folder / file.relative_to(its_own)).symlink_to(file)
        (folder / "target" / "swj-dp.tcl").write_text(_JTAG)
        (folder / "interface" / "cmsis-dap.cfg").write_text(_PROBE % (folder / "jtag"))
        monkeypatch.setenv("OPENOCD_SCRIPTS", str(folder))
        monkeypatch.setenv("HOME", name)
        monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/bin:/bin")
        yield folder


@contextmanager
def _connected(
    folder: Path, board: Board, identity: int, reads: dict[int, int]
) -> Iterator[_Connected]:
    connected = _Connected(folder, board, identity, reads)
    try:
        yield connected
    finally:
        connected.qemu.kill()
        connected.qemu.communicate()


def _microbit() -> tuple[Board, Image]:
    image = Path("boards/microbit_app")
    board = load_board(Path("boards/microbit/microbit.json"))
    return board, Image(image.with_suffix(".hex"), image.with_suffix(".bin"))


def test_flash_writes_verifies_and_starts_an_image(
    scripts: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    board, image = _microbit()
    with _connected(scripts, board, _M0, _NOT_PROTECTED) as connected:
        flash(board, image, "openocd", "", [])
        said = capfd.readouterr()
        assert "** Verified OK **" in said.out + said.err
        assert "error executing" not in said.out + said.err
        assert "PL:STAT equal to the reference 450\n" in (console := connected.says())
        assert console.endswith("PL:PASS\n")


def test_what_the_new_program_prints_is_told_from_what_was_there(scripts: Path) -> None:
    """The earlier program's output is still in transit when OpenOCD stops the program."""
    board, image = _microbit()
    with _connected(scripts, board, _M0, _NOT_PROTECTED) as connected:
        assert connected.qemu.stdout is not None
        port, earlier = os.pipe()
        os.set_blocking(port, False)
        os.write(earlier, b"PL:PASS\n")
        listener = Listener(port, METHODS["openocd"].stopped)

        def line() -> None:
            for text in connected.qemu.stdout or ():
                os.write(earlier, text.encode())
            os.close(earlier)

        thread = threading.Thread(target=line)
        thread.start()
        flash(board, image, "openocd", "", [], listener)
        assert not listener.may_have_lost
        os.set_blocking(port, True)
        with os.fdopen(port, "rb") as rest:
            console = listener.text + rest.read()
        thread.join()
    assert console.startswith(b"PL:STAT test images 450\n") and console.endswith(b"\nPL:PASS\n")
    assert console.count(b"PL:PASS") == 1


def test_flash_says_that_a_chip_is_locked(scripts: Path) -> None:
    board, image = _microbit()
    with _connected(scripts, board, _M0, {}), pytest.raises(FlashError, match="the chip is locked"):
        flash(board, image, "openocd", "", [])


def test_an_image_is_loaded_verified_and_resumed(
    scripts: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    elf = Path("boards/tests/hello.mps2_an386.elf").resolve()
    board = load_board(Path("boards/mps2_an386/mps2_an386.json"))
    (scripts / "target" / "cortex_m.cfg").write_text(_CORTEX_M % _M4)
    steps = ("init", "halt", f"load_image {elf}", f"verify_image {elf}", "reset halt", "resume")
    files = ("-f", "interface/cmsis-dap.cfg", "-f", "target/cortex_m.cfg")
    commands = [word for step in (*steps, "exit") for word in ("-c", step)]
    with _connected(scripts, board, _M4, {}) as connected:
        subprocess.run(["openocd", *files, *commands], check=True, env=os.environ)
        said = capfd.readouterr().err
        assert "downloaded" in said and "verified" in said
        assert connected.says().endswith("PL:STAT answers 42\nPL:PASS\n")
