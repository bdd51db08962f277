# SPDX-License-Identifier: Apache-2.0
"""Boards without a simulator: start-up and console on a fake of their registers.

The program's text has to arrive at the right UART, at 115200 baud, from the right pin, with the
right clocks. No other registers may be written. The fake implements the register bits polled by
start-up code.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from pyocd.target.family.target_nRF52 import HARDENED_APPROTECT_REVISIONS

from boards.board import Board, load_board
from boards.tests.not_simulated.boot import STARTS, crc
from boards.tests.not_simulated.expected import BOARDS
from boards.tests.not_simulated.fields import NRF52_PART, NRF52_VARIANT, STM32H7_REVISION
from boards.tests.not_simulated.image import Images
from boards.tests.not_simulated.machine import Machine, Read
from boards.tests.not_simulated.uarts import Line
from tools.simulator.elf import Elf

_BAUD = 115200
_TOLERANCE = 0.02  # of a receiving UART; half a bit in ten is 5%, for both sides together


def _board(name: str) -> Board:
    folders = (Path("boards"), Path("boards/tests/not_simulated"))
    (file,) = (one for folder in folders if (one := folder / name / f"{name}.data.json").exists())
    return load_board(file)


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Images:
    """Programs for all boards."""
    return Images(tmp_path_factory.mktemp("images"))


def _always(value: int) -> Read:
    return lambda registers: value


def _kind(board: Board) -> str:
    (kind,) = (label.partition(":")[2] for label in board.startup if ":console_" in label)
    return kind


_TEXT = b"good morning to all of you."
_ECHO = Path("boards/tests/programs/echo.c")
_INPUT = Path("boards/tests/programs/input.c")


def _hello(images: Images, board: Board) -> Elf:
    return images.link(board, Path("boards/tests/programs/hello.c"))


def test_the_crc_is_the_published_one() -> None:
    assert crc(b"123456789") == 0x0376E6E7  # the check value of CRC-32/MPEG-2


def test_every_board_is_here() -> None:
    found = Path("boards").glob("*/*.data.json")
    boards = {board.name for file in found if not (board := load_board(file)).simulator}
    assert boards == {name for name in BOARDS if not name.endswith("_max")}


# For the core: access to coprocessors, instructions, floating point.
_CPACR, _ISAR3, _MVFR0, _MVFR1 = 0xE000ED88, 0xE000ED6C, 0xE000EF40, 0xE000EF44


@pytest.mark.parametrize(
    ("name", "register", "value", "says"),
    [
        ("nrf52840dk", _CPACR, 0, "its access to a floating point unit is 0x00000000"),
        ("nrf5340dk", _ISAR3, 1 << 4, "its class of DSP instructions is 0x00000001"),
        ("nucleo_h743zi", _MVFR0, 0x21, "its floating point of double precision is 0x00000000"),
        ("ek_ra8m1", _MVFR1, 0, "its class of vectors is 0x00000000"),
        ("alif_e7_devkit", _MVFR1, 1 << 8, "its class of vectors is 0x00000001"),
    ],
)
def test_a_core_that_lacks_something(
    images: Images, name: str, register: int, value: int, says: str
) -> None:
    board, expected = _board(name), BOARDS[name]
    line = Line(_kind(board), expected.uart)
    machine = Machine(board, {**expected.reads, **line.reads(), register: lambda registers: value})
    line.listen(machine)
    machine.load(_hello(images, board))
    machine.start(expected.flash)
    assert machine.ended
    assert line.sent.decode().startswith(f"PL:FAIL wrong core: {says}, the image is for 0x")


@pytest.mark.parametrize("name", BOARDS)
def test_the_program_arrives_at_the_console(images: Images, name: str) -> None:
    board, expected = _board(name), BOARDS[name]
    elf = _hello(images, board)
    line = Line(_kind(board), expected.uart)
    machine = Machine(board, {**expected.reads, **line.reads()})
    line.listen(machine)
    machine.load(elf)
    STARTS.get(name.removesuffix("_max"), Machine.start)(machine, expected.flash)

    assert machine.ended
    assert line.sent.decode().splitlines() == [
        "0 4294967295 -2147483648 -1",
        "0x0123cdef -12.34 0.005 2.147483647",
        "PL:STAT answers 42",
        "PL:PASS",
    ]
    assert abs(line.baud(machine, expected.clock) / _BAUD - 1) < _TOLERANCE
    if expected.pin is not None:
        assert machine.registers[expected.uart + 0x50C] == expected.pin
    for what, (address, mask, value) in expected.fields.items():
        assert line.before[address] & mask == value, what
    chips = {
        at
        for at in machine.registers
        if 0x40000000 <= at < 0x60000000 or 0x1A000000 <= at < 0x1B000000
    }
    own = set(range(expected.uart, expected.uart + 0x1000))
    assert chips - own == {address for address, _, _ in expected.fields.values()}


def _writes(machine: Machine, line: Line) -> list[tuple[int, int]]:
    """Listens, and notes all writes to registers in their order."""
    order: list[tuple[int, int]] = []
    line.listen(machine)
    heard = machine.written

    def written(address: int, value: int) -> None:
        order.append((address, value))
        heard(address, value)

    machine.written = written
    return order


# For LPC55S69: measured ring oscillators in kHz, and the resulting voltages of the core and of the
# always-on domain; 0 is not measured.
@pytest.mark.parametrize(
    ("rings", "core", "always_on"),
    [
        ((0, 16_900), 10, 31 << 10 | 30),
        ((16_900, 0), 10, 31 << 10 | 30),
        ((16_901, 25_000), 8, 31 << 10 | 30),
        ((21_700, 21_701), 8, 31 << 10 | 30),
        ((21_701, 25_000), 4, 25 << 10 | 20),
        ((0, 25_000), 8, 31 << 10 | 30),
    ],
)
def test_the_voltage_follows_what_the_factory_measured(
    images: Images, rings: tuple[int, int], core: int, always_on: int
) -> None:
    name = "lpc55s69_evk_max"
    board, expected = _board(name), BOARDS[name]
    line = Line(_kind(board), expected.uart)
    measured = {
        at: _always(1000 * khz << 1 | bool(khz))
        for at, khz in zip((0x9FD30, 0x9FD40), rings, strict=True)
    }
    machine = Machine(board, {**expected.reads, **line.reads(), **measured})
    order = _writes(machine, line)
    machine.load(_hello(images, board))
    machine.start(expected.flash)
    assert machine.ended
    before = order[: order.index((0x40000284, 2))]
    ldo = [value for at, value in before if at == 0x4002001C]
    dcdc = [value for at, value in before if at == 0x40020010]
    assert (ldo[-1], dcdc[-1]) == (always_on, 0x010C4E68 & ~(15 << 17) | core << 17)


def test_the_core_of_ra8m1_becomes_faster_in_two_steps(images: Images) -> None:
    """The clock rises by at most 240 MHz at once, after wait states and bus dividers are set."""
    name = "ek_ra8m1_max"
    board, expected = _board(name), BOARDS[name]
    line = Line(_kind(board), expected.uart)
    machine = Machine(board, {**expected.reads, **line.reads()})
    order = _writes(machine, line)
    machine.load(_hello(images, board))
    machine.start(expected.flash)
    assert machine.ended
    wait_states, buses = (0x4001C11C, 4), (0x4001E020, 0x31122332)
    half, source, whole = (0x4001E024, 1), (0x4001E026, 5), (0x4001E024, 0)
    at = order.index(source)
    assert {wait_states, buses, half} <= set(order[:at])
    assert whole not in order[order.index(half) : at]
    assert whole in order[at:]


@pytest.mark.parametrize("name", BOARDS)
def test_a_program_reads_what_the_console_receives(images: Images, name: str) -> None:
    board, expected = _board(name), BOARDS[name]
    line = Line(_kind(board), expected.uart)
    line.heard += _TEXT
    machine = Machine(board, {**expected.reads, **line.reads()})
    line.listen(machine)
    machine.load(images.link(board, _ECHO))
    STARTS.get(name.removesuffix("_max"), Machine.start)(machine, expected.flash)

    assert machine.ended
    assert line.sent == b"listening\n" + _TEXT + b"\nPL:PASS\n"
    if expected.rx_pin is not None:
        assert machine.registers[expected.uart + 0x514] == expected.rx_pin


@pytest.mark.parametrize("name", ["disco_f407", "nucleo_u575zi", "frdm_mcxn947", "ek_ra8m1"])
def test_an_overrun_is_not_the_end(images: Images, name: str) -> None:
    board, expected = _board(name), BOARDS[name]
    line = Line(_kind(board), expected.uart)
    line.heard += _TEXT
    line.overrun = True
    machine = Machine(board, {**expected.reads, **line.reads()})
    line.listen(machine)
    machine.load(images.link(board, _ECHO))
    STARTS.get(name, Machine.start)(machine, expected.flash)
    assert machine.ended
    assert line.sent == b"listening\n" + _TEXT + b"\nPL:PASS\n"


# One board for each kind of UART, with register values meaning that it cannot take a byte. For
# others, 0 means it.
_STUCK: dict[str, dict[int, int]] = {
    "alif_e7_devkit": {},
    "arduino_zero": {},
    "disco_f407": {},
    "ek_ra8m1": {},
    "frdm_mcxn947": {},
    "lpc55s69_evk": {},
    "max78000fthr_max": {0x04: 1 << 7 | 1},
    "nrf52840dk": {},
    "nrf5340dk": {},
    "nucleo_u575zi": {},
    "pico": {0x18: 1 << 5 | 1 << 3},
}


@pytest.mark.parametrize("name", _STUCK)
def test_a_uart_that_is_never_ready_does_not_hold_the_program(images: Images, name: str) -> None:
    board, expected = _board(name), BOARDS[name]
    dead = {expected.uart + offset: value for offset, value in {0: 0, **_STUCK[name]}.items()}
    machine = Machine(board, dict(expected.reads), dead)
    machine.load(_hello(images, board))
    STARTS.get(name.removesuffix("_max"), Machine.start)(machine, expected.flash)
    assert machine.ended


def test_each_kind_of_uart_is_stuck() -> None:
    assert {_kind(_board(name)) for name in BOARDS} == {_kind(_board(name)) for name in _STUCK}


def _with_libc(board: Board) -> Board:
    more = ("boards/common:libc", "boards/common:heap")
    return replace(board, name=f"{board.name}_libc", startup=(*board.startup, *more))


@pytest.mark.parametrize(
    ("name", "has_rx", "reads"),
    [
        ("nrf52840dk", True, True),
        ("nrf52840dk", False, False),
        ("pico2", False, False),
        ("disco_f407", False, False),
        ("rt1060_evk", True, True),  # with fixed pins
    ],
)
def test_standard_input_ends_where_nothing_receives(
    images: Images, name: str, has_rx: bool, reads: bool
) -> None:
    board, expected = _with_libc(_board(name)), BOARDS[name]
    if not has_rx:
        board = replace(board, console=replace(board.console, rx_pin=-1))
    line = Line(_kind(board), expected.uart)
    line.heard += _TEXT
    machine = Machine(board, {**expected.reads, **line.reads()})
    line.listen(machine)
    machine.load(images.link(board, _INPUT))
    STARTS.get(name, Machine.start)(machine, expected.flash)
    assert machine.ended
    read = _TEXT + b"\n" if reads else b"no more\n"
    assert line.sent == b"listening\n" + read + b"PL:PASS\n"


def test_a_program_reads_what_a_probe_types(images: Images) -> None:
    """Reads through RTT: more than the ring buffer holds, in parts, as the program takes them."""
    uart, expected = _board("nrf52840dk"), BOARDS["nrf52840dk"]
    startup = tuple(re.sub("console_.*", "console_rtt", one) for one in uart.startup)
    console = replace(uart.console, kind="rtt", rx_pin=-1)
    board = _with_libc(replace(uart, name="with_rtt", startup=startup, console=console))
    elf = images.link(board, _INPUT)
    machine = Machine(uart, dict(expected.reads))
    machine.load(elf)
    machine.start(expected.flash)
    block = elf.values["_SEGGER_RTT"]
    up, down = block + 24, block + 48
    left = _TEXT
    while left:
        assert not machine.ended
        ring, size, write, read = (machine.word(down + at) for at in (4, 8, 12, 16))
        for _ in range((read - write - 1) % size):
            machine.store(ring + write, left[:1])
            left, write = left[1:], (write + bool(left)) % size
        machine.store(down + 12, write.to_bytes(4, "little"))
        machine.go_on()
    assert machine.ended
    ring, written = machine.word(up + 4), machine.word(up + 12)
    assert machine.memory(ring, written) == b"listening\n" + _TEXT + b"\nPL:PASS\n"


# For STM32H743: Z, Y, X and V.
@pytest.mark.parametrize(
    ("revision", "one_by_one"), [(0x1001, True), (0x1003, True), (0x2001, False), (0x2003, False)]
)
def test_revisions_that_read_wrong_read_one_by_one(
    images: Images, revision: int, one_by_one: bool
) -> None:
    name = "nucleo_h743zi"
    board, expected = _board(name), BOARDS[name]
    register, _, _ = expected.fields["AXI_TARG7_FN_MOD.READ_ISS_OVERRIDE"]
    line = Line(_kind(board), expected.uart)
    told = {**line.reads(), STM32H7_REVISION: _always(revision << 16 | 0x6450)}
    machine = Machine(board, told)
    line.listen(machine)
    machine.load(_hello(images, board))
    machine.start(expected.flash)
    assert machine.ended
    assert (register in machine.registers) == one_by_one


@pytest.mark.parametrize("name", ["microbit_v2", "nrf52840dk", "nrf52dk"])
def test_debug_ports_are_opened_from_the_revision_on_that_closes_them(
    images: Images, name: str
) -> None:
    board, expected = _board(name), BOARDS[name]
    port, _, _ = expected.fields["APPROTECT_DISABLE"]
    first = HARDENED_APPROTECT_REVISIONS[expected.reads[NRF52_PART]({})]
    for letter in (ord(first[0]) - 1, ord(first[0]), ord(first[0]) + 1):
        variant = int.from_bytes(b"AA%c0" % letter)
        line = Line(_kind(board), expected.uart)
        told = {**expected.reads, **line.reads(), NRF52_VARIANT: _always(variant)}
        machine = Machine(board, told)
        line.listen(machine)
        machine.load(_hello(images, board))
        machine.start(expected.flash)
        assert machine.ended
        assert (port in machine.registers) == (letter >= ord(first[0])), chr(letter)
