# SPDX-License-Identifier: Apache-2.0
"""Board console, simulated by the other end of a pseudo-terminal."""

import json
import os
import pty
import subprocess
import threading
import time
from pathlib import Path

import pytest
from absl.testing import flagsaver
from jsonschema import Draft202012Validator

from boards.board import load_board
from tools.image.listener import Listener
from tools.image.on_board import Shown, main, problem, until_the_end
from tools.image.serial_port import PortGoneError, find_port, open_port, read_chunks
from tools.image.testing.serial_line import serial_line
from tools.simulator.simulate import Tools, qemu_command

_BOARD = Path("boards/microbit/microbit.json")
_SIZE = {
    "name": "app",
    "board": "microbit",
    "core": "cortex-m0",
    "memories": [{"name": "flash", "kind": "flash", "size": 262144, "used": 65536}],
    "stack": {"size": 2048, "bound": 700},
}
_STEPS = [
    {"step": 1, "id": "0", "op": "pl::conv2d", "module": "first", "function": "pl_conv2d_s8"},
    {"step": 2, "id": "3", "op": "pl::linear", "module": "head", "function": "pl_linear_s8"},
]


line = pytest.fixture(serial_line)


_SAYS_WHEN = "echo Erasing..."  # pyOCD has stopped the program on the board


def _run(
    folder: Path,
    line: tuple[int, str],
    prints: str,
    monkeypatch: pytest.MonkeyPatch,
    says: str = _SAYS_WHEN,
) -> int:
    """Flash a board with a stand-in for pyOCD. The old program prints PL:PASS until the tool stops
    it. The new one prints while the tool still runs.
    """
    stopped, cut, printed = folder / "stopped", folder / "cut", folder / "printed"
    tool = folder / "pyocd"
    wait = "until test -e '{}'; do sleep 0.01; done"
    tool.write_text(
        f"#!/bin/sh\nsleep 0.3; touch '{stopped}'; {wait.format(cut)}; {says}; "
        f"{wait.format(printed)}\n"
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    size = folder / "size.json"
    size.write_text(json.dumps(_SIZE))
    plan = folder / "plan.json"
    plan.write_text(json.dumps({"name": "plan", "steps": _STEPS}))
    facts = folder / "facts.json"
    facts.write_text('{"agreement": 0.99}')

    begun = threading.Event()  # all later output belongs to the new program
    hear = Listener.hear

    def heard(listener: Listener, text: bytes) -> None:
        hear(listener, text)
        if says.removeprefix("echo ").encode() in text:
            begun.set()

    monkeypatch.setattr(Listener, "hear", heard)

    def board() -> None:
        while not stopped.exists():
            os.write(line[0], b"an earlier program prints\nPL:PASS\n")
            time.sleep(0.001)
        os.write(line[0], b"PL:PASS\nand is cut off in the mid")
        cut.touch()
        begun.wait()
        time.sleep(0.1)
        for part in prints.splitlines(keepends=True):
            os.write(line[0], part.encode())
        printed.touch()

    thread = threading.Thread(target=board)
    thread.start()
    with flagsaver.as_parsed(
        board=str(_BOARD),
        elf="boards/tests/hello.microbit.elf",
        size=str(size),
        facts=[str(facts)],
        port=line[1],
        silence="1",
        baud="115200",
        monitor="false",
        plan=str(plan),
        profile=str(folder / "profile.json"),
        trace=str(folder / "trace.json"),
        flash_tool="",
        probe="",
    ):
        status = main(["run", "app.hex", "app.bin"])
    thread.join()
    return status


def test_a_program_that_ends_well(
    tmp_path: Path,
    line: tuple[int, str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert _run(tmp_path, line, "hello\nPL:STAT images 450\r\nPL:PASS\r\n", monkeypatch) == 0
    assert json.loads((tmp_path / "profile.json").read_text())["steps"] == []
    printed = capfd.readouterr().out
    assert "earlier" not in printed and "mid" not in printed
    shown, table = printed.split("PL:PASS")
    assert shown.splitlines()[-2:] == ["hello", "PL:STAT images 450"]
    *rows, hint = table.strip().splitlines()
    assert "--//firmware/runtime:profile_steps" in hint
    assert [row.split() for row in rows] == [
        ["app", "on", "microbit", "(cortex-m0)"],
        ["agreement", "99.00%"],
        ["images", "450"],
        ["flash", "(flash)", "65,536", "of", "262,144", "bytes", "(25.0%)"],
        ["of", "that", "the", "stack", "at", "most", "700", "of", "2,048", "bytes"],
    ]


def test_cycles_of_steps(
    tmp_path: Path,
    line: tuple[int, str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    prints = "PL:STEP 1 900 64\nPL:STEP 2 11 64\nPL:STEP 1 1101 64\r\nPL:STEP 2 13 64\nPL:PASS\n"
    assert _run(tmp_path, line, prints, monkeypatch) == 0
    counted = json.loads((tmp_path / "profile.json").read_text())
    schema = json.loads(Path("tools/image/profile.schema.json").read_text())
    assert not list(Draft202012Validator(schema).iter_errors(counted))
    assert counted["inferences"] == 2
    assert [(s["id"], s["cycles"]) for s in counted["steps"]] == [("0", 1000), ("3", 12)]
    slices = json.loads((tmp_path / "trace.json").read_text())["traceEvents"][2:]
    assert [(s["ts"], s["dur"], s["args"]["cycles"]) for s in slices] == [
        (0, 1000, 1000),
        (1000, 12, 12),
    ]
    _, table = capfd.readouterr().out.split("PL:PASS")
    rows = [row.split() for row in table.strip().splitlines()]
    assert rows[:3] == [
        ["cycles", "step", "op", "from"],
        ["1,000", "pl::conv2d", "0", "first"],
        ["12", "pl::linear", "3", "head"],
    ]
    assert ["cycles", "per", "inference", "1,012,", "of", "all", "steps"] in rows


@pytest.mark.parametrize(
    ("prints", "said"),
    [
        ("PL:FAIL seven is not eight\n", "hello.microbit.elf: PL:FAIL seven is not eight"),
        ("hello\nPL:PAS", "hello.microbit.elf: nothing came for 1 s, and no PL:PASS before that"),
    ],
)
def test_a_program_that_does_not(
    tmp_path: Path,
    line: tuple[int, str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    prints: str,
    said: str,
) -> None:
    assert _run(tmp_path, line, prints, monkeypatch) == 1
    assert capfd.readouterr().err.strip() == said


def test_what_comes_before_a_tool_ends_that_does_not_say_when_it_stops_the_board(
    tmp_path: Path,
    line: tuple[int, str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """It may be the earlier program's."""
    assert _run(tmp_path, line, "hello\nPL:PASS\n", monkeypatch, "echo Programming") == 1
    printed = capfd.readouterr()
    assert "PL:PASS" not in printed.out
    lost, said = printed.err.splitlines()
    assert lost.startswith("pyocd did not say when it stopped the program that was on the board: ")
    assert said == "hello.microbit.elf: nothing came for 1 s, and no PL:PASS before that"


def test_a_board_whose_port_is_there_after_it_was_flashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A board flashed by copying to its boot loader's drive, such as Pico."""
    drive = tmp_path / "drive"
    drive.mkdir()
    (drive / "INFO_UF2.TXT").write_text("Board-ID: RPI-RP2\n")
    monkeypatch.setattr("tools.image.uf2._mounted", lambda: [drive])
    (tmp_path / "app.hex").write_text(":0100000001FE\n:00000001FF\n")
    method = {"method": "uf2", "board_id": "RPI-RP2", "family": 0xE48BFF56, "hint": ""}
    board_file = tmp_path / "board.json"
    board_file.write_text(json.dumps(json.loads(_BOARD.read_text()) | {"flash": [method]}))
    size = tmp_path / "size.json"
    size.write_text(json.dumps(_SIZE))
    facts = tmp_path / "facts.json"
    facts.write_text("{}")
    ours, theirs = pty.openpty()
    port = tmp_path / "ttyACM0"

    def board() -> None:
        while not (drive / "image.uf2").exists():
            time.sleep(0.01)
        time.sleep(0.3)
        port.symlink_to(os.ttyname(theirs))
        time.sleep(0.3)
        os.write(ours, b"PL:PASS\n")

    thread = threading.Thread(target=board)
    thread.start()
    with flagsaver.as_parsed(
        board=str(board_file),
        elf="boards/tests/hello.microbit.elf",
        size=str(size),
        facts=[str(facts)],
        port=str(port),
        silence="60",
        baud="115200",
        monitor="false",
        plan="",
        profile="",
        trace="",
        flash_tool="",
        probe="",
    ):
        status = main(["run", str(tmp_path / "app.hex"), "app.bin"])
    thread.join()
    os.close(ours)
    os.close(theirs)
    assert status == 0
    assert "app on microbit" in capfd.readouterr().out


@pytest.mark.parametrize("method", ["uf2", "dfu_util", "bossac"])
def test_of_several_ports_it_is_asked_before_something_is_flashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], method: str
) -> None:
    """Also where a board restarts, and might bring one more."""
    (tmp_path / "ttyACM0").touch()
    (tmp_path / "ttyUSB0").touch()
    facts = tmp_path / "facts.json"
    facts.write_text("{}")

    def find(given: str, probe: str) -> Path:
        return find_port(given, probe, tmp_path, ())

    def flash(*_: object) -> None:
        pytest.fail("it was flashed")

    monkeypatch.setattr("tools.image.on_board.find_port", find)
    monkeypatch.setattr("tools.image.on_board.flash", flash)
    monkeypatch.setattr("tools.image.on_board.chosen_method", lambda *_: {"method": method})
    with flagsaver.as_parsed(
        board=str(_BOARD),
        elf="",
        facts=[str(facts)],
        port="",
        baud="115200",
        monitor="false",
        flash_tool="",
        probe="",
    ):
        assert main(["run", "app.hex", "app.bin"]) == 2
    asked, *ports = capsys.readouterr().err.splitlines()
    assert asked == "several serial ports were found; choose one with"
    assert [Path(port.partition("=")[2]).name for port in ports] == ["ttyACM0", "ttyUSB0"]


def test_a_board_that_is_unplugged(capsys: pytest.CaptureFixture[str]) -> None:
    board, ours = pty.openpty()
    port = open_port(Path(os.ttyname(ours)))
    os.write(board, b"hello\n")
    thread = threading.Timer(0.5, os.close, (board,))
    thread.start()
    shown = until_the_end(port, 0, None)  # silence never ends it
    thread.join()
    assert shown.text == capsys.readouterr().out == "hello\n"
    said = problem(shown, Path("app.elf"), Tools(), 30, str(PortGoneError()))
    assert said == "the serial port is gone (was the board unplugged?), and no PL:PASS before that"
    os.close(port)
    os.close(ours)


def test_another_rate_is_no_silence() -> None:
    shown = Shown("\N{REPLACEMENT CHARACTER}x\N{REPLACEMENT CHARACTER}~" * 20)
    said = problem(shown, Path("app.elf"), Tools(), 5, "")
    assert said.startswith("nothing came for 5 s, and what came is no text: ") and "--baud" in said


def test_a_simulated_board_is_on_the_line(line: tuple[int, str]) -> None:
    elf = Path("boards/tests/hello.microbit.elf")
    command = qemu_command(elf, load_board(_BOARD), Tools.of_build())
    port = open_port(Path(line[1]))
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=line[0]) as qemu:
        try:
            shown = until_the_end(port, 30)
        finally:
            qemu.kill()
            os.close(port)
    assert shown.text.splitlines()[-2:] == ["PL:STAT answers 42", "PL:PASS"]
    assert problem(shown, elf, Tools.of_build(), 30, "") == ""


def test_what_is_typed_goes_to_the_board(line: tuple[int, str]) -> None:
    elf = Path("boards/tests/echo.microbit.elf")
    command = qemu_command(elf, load_board(_BOARD), Tools.of_build())
    port = open_port(Path(line[1]))
    typed, keyboard = os.pipe()
    console = ""
    with subprocess.Popen(command, stdin=line[0], stdout=line[0]) as qemu:
        try:
            for chunk in read_chunks(port, 30, typed):
                if "listening" not in console and "listening" in console + chunk:
                    os.write(keyboard, b"good morning.")
                    os.close(keyboard)
                console += chunk
                if "PL:PASS" in console:
                    break
        finally:
            qemu.kill()
            for descriptor in (port, typed):
                os.close(descriptor)
    assert console.splitlines() == ["listening", "good morning.", "PL:PASS"]
