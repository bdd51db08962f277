# SPDX-License-Identifier: Apache-2.0
"""Boards that nothing simulates: where their images lie, and what start-up writes to registers.

The expected writes name registers as the chips' manuals do. Those of the STM32L476 were compared
with its SVD file; for the others there was none, so the test holds them as they are.
"""

import os
from pathlib import Path

import pytest

from boards.board import Board, Write, load_board
from boards.simulator.elf import Elf

_NAMES = os.environ["NOT_SIMULATED"].split()

# Register and mask, with the value of these bits when the console starts.
_STM32F4_USART2_ON_PA2 = {
    "RCC_APB1ENR.USART2EN": (0x40023840, 1 << 17, 1 << 17),
    "RCC_AHB1ENR.GPIOAEN": (0x40023830, 1, 1),
    "GPIOA_AFRL.AFRL2": (0x40020020, 15 << 8, 7 << 8),
    "GPIOA_MODER.MODER2": (0x40020000, 3 << 4, 2 << 4),
}
_EXPECTED = {
    "arduino_nano33ble": {},
    "disco_f407": _STM32F4_USART2_ON_PA2,
    "microbit_v2": {},
    "nrf52840dk": {},
    "nucleo_f446re": _STM32F4_USART2_ON_PA2,
    "nucleo_h743zi": {
        "RCC_APB1LENR.USART3EN": (0x580244E8, 1 << 18, 1 << 18),
        "RCC_AHB4ENR.GPIODEN": (0x580244E0, 1 << 3, 1 << 3),
        "GPIOD_AFRH.AFSEL8": (0x58020C24, 15, 7),
        "GPIOD_MODER.MODER8": (0x58020C00, 3 << 16, 2 << 16),
    },
    "nucleo_l476rg": {
        "RCC_APB1ENR1.USART2EN": (0x40021058, 1 << 17, 1 << 17),
        "RCC_AHB2ENR.GPIOAEN": (0x4002104C, 1, 1),
        "GPIOA_AFRL.AFRL2": (0x48000020, 15 << 8, 7 << 8),
        "GPIOA_MODER.MODER2": (0x48000000, 3 << 4, 2 << 4),
    },
}

# UART's address, what its baud rate register gets (the clock after reset by 115200, but Nordic's),
# and the pin.
_CONSOLES = {
    "arduino_nano33ble": (0x40002000, 0x01D7E000, 32 + 3),
    "disco_f407": (0x40004400, 139, 2),
    "microbit_v2": (0x40002000, 0x01D7E000, 6),
    "nrf52840dk": (0x40002000, 0x01D7E000, 6),
    "nucleo_f446re": (0x40004400, 139, 2),
    "nucleo_h743zi": (0x40004800, 556, 3 * 16 + 8),
    "nucleo_l476rg": (0x40004400, 35, 2),
}

_STARTS = {
    "arduino_nano33ble": 0x10000,  # behind Arduino's boot loader
    "disco_f407": 0x08000000,
    "microbit_v2": 0,
    "nrf52840dk": 0,
    "nucleo_f446re": 0x08000000,
    "nucleo_h743zi": 0x08000000,
    "nucleo_l476rg": 0x08000000,
}


def _board(name: str) -> Board:
    return load_board(Path(f"boards/{name}/{name}.json"))


def _elf(name: str) -> Elf:
    return Elf(Path(f"boards/tests/hello_{name}.elf"))


def _stored_writes(elf: Elf) -> list[Write]:
    """Returns the table that start-up goes through (boards/common/startup.c), from the program."""
    first, end = (elf.values[f"pl_link_writes_{name}"] for name in ("start", "end"))
    words = [elf.word(address) for address in range(first, end, 4)]
    return [
        Write(address & ~1, clear, value, bool(address & 1))
        for address, clear, value in zip(words[::3], words[1::3], words[2::3], strict=True)
    ]


def test_every_board_is_here() -> None:
    assert set(_NAMES) == set(_EXPECTED) == set(_CONSOLES)


@pytest.mark.parametrize("name", _NAMES)
def test_registers_before_the_console_starts(name: str) -> None:
    registers: dict[int, int] = {}
    for write in _stored_writes(_elf(name)):
        assert not write.wait
        before = registers.get(write.address, 0)
        registers[write.address] = before & ~write.clear | write.set
    expected = _EXPECTED[name]
    for what, (address, mask, value) in expected.items():
        assert registers[address] & mask == value, what
    assert set(registers) == {address for address, _, _ in expected.values()}


@pytest.mark.parametrize("name", _NAMES)
def test_the_console(name: str) -> None:
    values = _elf(name).values
    found = tuple(values[f"pl_link_uart_{what}"] for what in ("base", "baud", "pin"))
    assert found == _CONSOLES[name]


@pytest.mark.parametrize("name", _NAMES)
def test_the_image_starts_where_the_core_or_its_boot_loader_looks(name: str) -> None:
    elf, board = _elf(name), _board(name)
    (vectors,) = (section for section in elf.sections if section.name == ".vectors")
    code = board.memory(board.code)
    assert vectors.address == code.base == _STARTS[name]
    assert elf.word(vectors.address) == elf.values["pl_link_handler_stack_top"]
    assert elf.word(vectors.address + 4) == elf.values["pl_reset"]
    assert elf.values["pl_reset"] & 1
