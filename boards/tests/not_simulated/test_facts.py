# SPDX-License-Identifier: Apache-2.0
"""Chip data of boards, compared with other sources: modm-devices, and the targets and register
descriptions (SVD) of pyOCD.
"""

import functools
import os
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import modm_devices
import pyocd
import pytest
from modm_devices.parser import DeviceParser
from pyocd.target.builtin import BUILTIN_TARGETS

from boards.board import Board, load_board
from boards.tests.not_simulated.expected import BOARDS


@dataclass(frozen=True)
class _Sources:
    """Sources for a board's chip; "" if there is none.

    Attributes:
        modm: file and part of modm-devices.
        target: of pyOCD.
        svd: file of pyOCD.
        uart: the console's peripheral in the SVD.
    """

    modm: str = ""
    target: str = ""
    svd: str = ""
    uart: str = ""


_NONE = _Sources()
_F405 = "stm32/stm32f4-05_07_15_17.xml stm32f405rgt6"
_F407 = "stm32/stm32f4-05_07_15_17.xml stm32f407vgt6"
_NRF52840 = _Sources("nrf/nrf52820_840.xml nrf52840-qiaa", "nrf52840", "nrf52840.svd", "UART0")
_SOURCES = {
    "arduino_nano33ble": _NRF52840,
    "arduino_zero": _Sources("sam/samd21.xml samd21g18a-au"),
    "b_l475e_iot01a": _Sources(
        "stm32/stm32l4-75.xml stm32l475vgt6", "stm32l475xg", "STM32L4x5.svd", "USART1"
    ),
    "disco_f407": _Sources(_F407),
    "lpc55s69_evk": _Sources("", "lpc55s69", "LPC55S69_cm33_core0.xml", "USART0"),
    "microbit": _Sources(
        "nrf/nrf51422_801_802_822_824.xml nrf51822-xxaa", "nrf51822", "nrf51.svd", "UART0"
    ),
    "microbit_v2": _Sources(
        "nrf/nrf52832_833.xml nrf52833-qiaa", "nrf52833", "nrf52833.svd", "UART0"
    ),
    "musca_a": _Sources("", "musca_a1", "Musca.svd", "UART0_Secure"),
    "musca_b1": _Sources("", "musca_b1", "Musca_B1.svd", "UART0_Secure"),
    "netduinoplus2": _Sources(_F405),
    "nrf52840dk": _NRF52840,
    "nrf52dk": _Sources("nrf/nrf52832_833.xml nrf52832-qfaa", "nrf52", "nrf52.svd", "UART0"),
    "nrf5340dk": _Sources("nrf/nrf5340.xml nrf5340-qkaa@app"),
    "nucleo_f446re": _Sources("stm32/stm32f4-46.xml stm32f446ret6"),
    "nucleo_c031c6": _Sources("stm32/stm32c0-11_31.xml stm32c031c6t6"),
    "nucleo_g071rb": _Sources("stm32/stm32g0-71_81.xml stm32g071rbt6"),
    "nucleo_h743zi": _Sources("stm32/stm32h7-42_43_50_53.xml stm32h743zit6", "stm32h743xx"),
    "nucleo_l073rz": _Sources("stm32/stm32l0-71_72_73_81_82_83.xml stm32l073rzt6"),
    "nucleo_l476rg": _Sources(
        "stm32/stm32l4-76_86.xml stm32l476rgt6", "stm32l475xg", "STM32L4x5.svd", "USART2"
    ),
    "nucleo_u575zi": _Sources("stm32/stm32u5-75_85.xml stm32u575zit6q"),
    "olimex_stm32_h405": _Sources(_F405),
    "pico": _Sources("rp/rp2040.xml rp2040", "rp2040"),
    "pico2": _Sources("rp/rp2350.xml rp2350"),
    "rt1060_evk": _Sources("", "mimxrt1060", "MIMXRT1062.xml", "LPUART1"),
    "stm32vldiscovery": _Sources("stm32/stm32f1-00-4_6_8_b.xml stm32f100rbt6"),
}

# Boards without a source. lm3s6965evb and max78000fthr run in QEMU, and NXP describes its own chips
# in headers.
_NOT_DESCRIBED = {
    "alif_e7_devkit",
    "ek_ra8m1",
    "frdm_mcxn947",
    "lm3s6965evb",
    "max78000fthr",
    "mimxrt700_evk",
}

# Memories with another value in a source, and the reason to reject it.
_OTHERWISE = {
    # RP2350 has 520 KB (its datasheet, 2.2.3); the source has RP2040's 264.
    ("pico2", "sram"),
    # External flash memory belongs to the board.
    ("pico", "flash"),
    ("pico2", "flash"),
    # FlexRAM can be divided otherwise than fuses have it; the source has the largest part.
    ("rt1060_evk", "dtcm"),
}

# Bytes of boot loaders.
_BOOT_LOADERS = {"arduino_nano33ble": 64 * 1024, "arduino_zero": 8 * 1024}

_CORES = {
    name: load_board(Path(f"boards/{name}/{name}.data.json"))
    for name in (path.parent.name for path in Path("boards").glob("*/*.data.json"))
}
_DESCRIBED = [name for name in _SOURCES if name in _CORES]


@functools.cache
def _modm(device: str) -> dict[str, Any]:
    file, part = device.split()
    folder = Path(os.path.dirname(modm_devices.__file__)) / "resources" / "devices"
    devices = DeviceParser().parse(str(folder / file)).get_devices()
    (found,) = (one for one in devices if one.partname == part)
    return {name: found.get_driver(name) for name in ("core", "gpio", "uart")}


@functools.cache
def _svd(file: str) -> ElementTree.Element:
    archive = Path(os.path.dirname(pyocd.__file__)) / "debug" / "svd" / "svd_data.zip"
    with zipfile.ZipFile(archive) as files:
        return ElementTree.fromstring(files.read(file))


def _text(element: ElementTree.Element, name: str) -> str:
    return element.findtext(name) or ""


def _merged(regions: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join adjacent address ranges."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(regions):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _ranges(sources: _Sources, kind: str) -> list[list[tuple[int, int]]]:
    """Return the address ranges of memory of a kind, from each source."""
    found = []
    if sources.modm:
        memories = _modm(sources.modm)["core"]["memory"]
        ranges = [
            (int(one["start"], 0), int(one["start"], 0) + int(one["size"]))
            for one in memories
            if ("w" in one["access"]) == (kind == "ram")
        ]
        found.append(_merged(ranges))
    if sources.target:
        target = BUILTIN_TARGETS[sources.target]
        regions = (getattr(target, "MEMORY_MAP", None) or target.memoryMap).regions
        found.append(
            _merged((one.start, one.end + 1) for one in regions if one.type.name.lower() == kind)
        )
    return found


def _checked(board: Board) -> Iterable[tuple[str, int, int, str]]:
    """Memories with where they start before a boot loader takes its part."""
    for memory in board.memories:
        if (board.name, memory.name) in _OTHERWISE:
            continue
        offset = _BOOT_LOADERS.get(board.name, 0) if memory.name == "flash" else 0
        yield memory.name, memory.base - offset, memory.base + memory.size, memory.kind


def test_every_board_on_sale_is_here() -> None:
    assert set(_DESCRIBED) | _NOT_DESCRIBED == set(_CORES)


@pytest.mark.parametrize("name", _DESCRIBED)
def test_memories(name: str) -> None:
    """All sources agree on these addresses."""
    for memory, start, end, kind in _checked(_CORES[name]):
        said = [
            (first, last)
            for ranges in _ranges(_SOURCES[name], kind)
            for first, last in ranges
            if first < end and start < last
        ]
        assert set(said) == {(start, end)}, memory


def _words(name: str, interrupt: str) -> tuple[str, ...]:
    """Return the words of an interrupt's name. For Nordic's chips their order is free.

    modm sorts the words for some chips. The maker's own description, used below, has the right
    names.
    """
    if not _SOURCES[name].modm.startswith("nrf/"):
        return (interrupt,)
    return tuple(sorted(interrupt.split("_")))


@pytest.mark.parametrize("name", [name for name in _DESCRIBED if _SOURCES[name].modm])
def test_core_and_interrupts(name: str) -> None:
    core = _modm(_SOURCES[name].modm)["core"]
    board = _CORES[name]
    kind = core["type"].rstrip("f")
    assert board.core == kind.removesuffix("d")
    has_fpu = bool(core.get("fpu")) or core["type"].endswith("f")
    assert has_fpu == (board.core not in ("cortex-m0", "cortex-m0plus", "cortex-m3"))
    numbers = {_words(name, one["name"]): int(one["position"]) for one in core["vector"]}
    assert {_words(name, one): at for one, at in board.irqs.items()}.items() <= numbers.items()
    assert set(numbers.values()) == set(board.irqs.values())


@pytest.mark.parametrize("name", [name for name in _DESCRIBED if _SOURCES[name].svd])
def test_uart_and_interrupts_of_the_register_description(name: str) -> None:
    root, board = _svd(_SOURCES[name].svd), _CORES[name]
    bases = {
        _text(one, "name"): int(_text(one, "baseAddress"), 0) for one in root.iter("peripheral")
    }
    assert bases[_SOURCES[name].uart] == board.console.base
    numbers = {
        _text(one, "name").removesuffix("_IRQ"): int(_text(one, "value"))
        for one in root.iter("interrupt")
    }
    if _SOURCES[name].modm.startswith("nrf/"):
        described = {one: at for one, at in board.irqs.items() if at in numbers.values()}
        assert described.items() <= numbers.items()
    if not _SOURCES[name].modm:  # these are compared already, and lists in SVD files have gaps
        irqs = {one.removesuffix("_IRQ"): number for one, number in board.irqs.items()}
        assert irqs.items() <= numbers.items()


# STM32F1 has no such registers.
_WITH_FUNCTIONS = [
    name for name in _DESCRIBED if re.match("stm32/stm32(?!f1)", _SOURCES[name].modm)
]


@pytest.mark.parametrize("name", _WITH_FUNCTIONS)
def test_the_functions_of_the_consoles_pins(name: str) -> None:
    """Pins written by AFRL or AFRH transmit and receive for one UART with these functions. Ports
    are 1 KB apart, at a multiple of 64 KB.
    """
    writes = [one for one in _CORES[name].writes if one.address & 0x3FF in (0x20, 0x24)]
    uarts = []
    for write, direction in zip(writes, ("tx", "rx"), strict=True):
        shift = (write.clear & -write.clear).bit_length() - 1
        pin = (write.address >> 2 & 1) * 8 + shift // 4
        port = "abcdefghijk"[(write.address & 0xFFFF) >> 10]
        function = str(write.set >> shift)
        uarts.append(
            {
                (signal["driver"], signal["instance"])
                for one in _modm(_SOURCES[name].modm)["gpio"]["gpio"]
                if (one["port"], int(one["pin"])) == (port, pin)
                for signal in one.get("signal", ())
                if signal.get("name") == direction and signal.get("af") == function
                if signal["driver"] in ("usart", "uart")
            }
        )
    assert uarts[0] & uarts[1]


def _clocks_of_ram(file: str) -> set[tuple[int, int]]:
    """Return registers and bits of bus clocks that switch on RAM; it is off after reset."""
    off = set()
    for peripheral in _svd(file).iter("peripheral"):
        for register in peripheral.iter("register"):
            name = _text(register, "name")
            if not re.fullmatch(r"AHB\d?CLKCTRL\d|AHB\dENR\d?", name):
                continue
            at = int(_text(peripheral, "baseAddress"), 0) + int(_text(register, "addressOffset"), 0)
            reset = int(_text(register, "resetValue"), 0)
            bits = _registers(file)[f"{_text(peripheral, 'name')}_{name}"][1]
            off |= {
                (at, bit)
                for field, bit in bits.items()
                if re.match("S?RAM", field) and not reset & bit
            }
    return off


@pytest.mark.parametrize("name", [name for name in BOARDS if _SOURCES.get(name, _NONE).svd])
def test_memories_are_on(name: str) -> None:
    """The start-up code switches on all memories that are off after reset."""
    written = {address: mask & value for address, mask, value in BOARDS[name].fields.values()}
    off = _clocks_of_ram(_SOURCES[name].svd)
    assert {(at, bit) for at, bit in off if not written.get(at, 0) & bit} == set()


def test_some_memories_are_off_after_reset() -> None:
    found = {file for one in _SOURCES.values() if (file := one.svd) and _clocks_of_ram(file)}
    assert found == {"LPC55S69_cm33_core0.xml"}


def _registers(file: str) -> dict[str, tuple[int, dict[str, int]]]:
    """Address of each register, and the bits of its fields, by names as PERIPHERAL_REGISTER."""
    found: dict[str, tuple[int, dict[str, int]]] = {}
    by_name = {_text(one, "name"): one for one in _svd(file).iter("peripheral")}
    for name, peripheral in by_name.items():
        same = by_name.get(peripheral.get("derivedFrom", ""), peripheral)
        base = int(_text(peripheral, "baseAddress"), 0)
        for register in same.iter("register"):
            fields = {}
            for one in register.iter("field"):
                offset, width = _text(one, "bitOffset"), _text(one, "bitWidth")
                match = re.match(r"\[(\d+):(\d+)\]", _text(one, "bitRange"))
                high, low = match.groups() if match else (_text(one, "msb"), _text(one, "lsb"))
                if high:
                    offset, width = low, str(int(high) - int(low) + 1)
                fields[_text(one, "name")] = ((1 << int(width)) - 1) << int(offset)
            at = base + int(_text(register, "addressOffset"), 0)
            called = f"{name}_{_text(register, 'name')}"
            step = int(_text(register, "dimIncrement") or "0", 0)
            for index in range(int(_text(register, "dim") or "1", 0)):
                found[called.replace("%s", str(index))] = (at + index * step, fields)
    return found


def _source(name: str) -> _Sources:
    """Return the sources of a board, also for its variant with the highest clock."""
    return _SOURCES.get(name.removesuffix("_max"), _NONE)


# The descriptions are older than the chips with this register. They contain the one it is read
# from.
_READ_FROM = {"APPROTECT_DISABLE": "UICR_APPROTECT"}
# The maker leaves out registers of voltages of LPC55S69.
_LEFT_OUT = ("PMC_LDOPMU", "PMC_DCDC0, VOUT", "PMC_DCDC1")


@pytest.mark.parametrize(
    "name", [name for name in BOARDS if BOARDS[name].fields and _source(name).svd]
)
def test_registers_that_start_up_writes(name: str) -> None:
    registers = _registers(_source(name).svd)
    for what, (address, mask, _) in BOARDS[name].fields.items():
        if what in _READ_FROM:
            assert registers[_READ_FROM[what]][0] in BOARDS[name].reads
            continue
        if what in _LEFT_OUT:
            continue
        register, _, fields = what.partition(".")
        found, bits = registers[register]
        assert found == address, what
        for one in filter(None, fields.split(", ")):
            assert bits[one] & mask == bits[one] and bits[one], what
