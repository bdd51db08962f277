# SPDX-License-Identifier: Apache-2.0
"""Flash memory access by the ROMs of chips, according to the makers' published rules."""

from collections.abc import Callable, Mapping

from boards.tests.not_simulated.machine import Machine

_CRC_POLYNOMIAL = 0x04C11DB7

_RP2350_START, _RP2350_END = 0xFFFFDED3, 0xAB123579
_RP2350_SEARCHED = 4096


def crc(data: bytes) -> int:
    """Return RP2040's CRC-32: initial value all ones, no bit reversal, no final inversion."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte << 24
        for _ in range(8):
            value = (value << 1 ^ (_CRC_POLYNOMIAL if value >> 31 else 0)) & 0xFFFFFFFF
    return value


def _start_rp2040(machine: Machine, flash: int) -> None:
    """Boot like RP2040 Datasheet, 2.8.1: "Boot Sequence"."""
    where, size = 0x20041F00, 256
    second = machine.memory(flash, size)
    found = int.from_bytes(second[-4:], "little")
    assert found == crc(second[:-4]), f"the CRC is {crc(second[:-4]):#010x}"
    machine.store(where, second)
    machine.run(where, where | 1)
    ssi = {offset: machine.registers[0x18000000 + offset] for offset in (0x00, 0x04, 0x08, 0xF4)}
    assert ssi == {
        0x00: 31 << 16 | 3 << 8,  # DFS_32, EEPROM read
        0x04: 0,
        0x08: 1,
        0xF4: 0x03 << 24 | 2 << 8 | 6 << 2,  # command, its 8 bits, 24 of address
    }
    assert machine.registers[0x18000014] in range(2, 65535, 2)
    assert machine.registers[0xE000ED08] == flash + size


def _start_rp2350(machine: Machine, flash: int) -> None:
    """Boot like RP2350 Datasheet, 5.1.5 and 5.9: the first block, its items, and a loop of one
    block.
    """
    words = [machine.word(flash + at) for at in range(0, _RP2350_SEARCHED, 4)]
    at = words.index(_RP2350_START) + 1
    items: dict[int, list[int]] = {}
    while words[at] & 0xFF != 0xFF:
        size = words[at] >> 8 & 0xFF
        items[words[at] & 0xFF] = words[at : at + size]
        at += size
    assert words[at] >> 8 & 0xFFFF == sum(map(len, items.values()))
    assert words[at + 1 : at + 3] == [0, _RP2350_END]
    kind = items[0x42][0] >> 16
    assert kind & 0xF == 1 and kind >> 4 & 3 == 2, "a program, secure"
    assert kind >> 8 & 7 == 0 and kind >> 12 & 7 == 1, "for Arm, of RP2350"
    machine.start(items[0x03][1])


def _start_rt1060(machine: Machine, flash: int) -> None:
    """Start as in i.MX RT1060 Reference Manual, 9.6.3 and 9.7: configuration block, image vector
    table.
    """
    assert machine.memory(flash, 4) == b"FCFB"
    assert machine.memory(flash + 4, 4) == b"\x00\x04\x01V"
    sample, hold, setup = machine.memory(flash + 0x0C, 3)
    assert (sample, hold, setup) == (1, 3, 3)
    kind, pads, clock = machine.memory(flash + 0x44, 3)
    assert (kind, pads) == (1, 4) and 1 <= clock <= 8
    assert machine.word(flash + 0x50) == 8 << 20
    # Quad I/O fast read: EBh on one pad, 24 bits of address, 6 turns, and data on four.
    assert machine.memory(flash + 0x80, 8) == bytes.fromhex("eb04180a06320426")
    assert [machine.word(flash + at) for at in (0x1C0, 0x1C4)] == [256, 4096]

    table = flash + 0x1000
    tag, high, low, version = machine.memory(table, 4)
    assert (tag, high << 8 | low) == (0xD1, 32) and version in range(0x40, 0x46)
    entry, reserved, device, data, itself, signature, last = (
        machine.word(table + at) for at in range(4, 32, 4)
    )
    assert (reserved, device, signature, last) == (0, 0, 0, 0)
    assert itself == table
    start, size, plugin = (machine.word(data + at) for at in (0, 4, 8))
    assert (start, plugin) == (flash, 0) and entry < start + size
    machine.start(entry)


def _start_rt700(machine: Machine, flash: int) -> None:
    """Start i.MX RT700: configuration block of the XSPI, and the program 16 KB later."""
    assert machine.memory(flash, 8) == b"FCFB\x00\x04\x01V"
    sample, hold, setup = machine.memory(flash + 0x0C, 3)
    assert (sample, hold, setup) == (3, 3, 3)
    enabled, switch, wait, _ = machine.memory(flash + 0x10, 4)
    assert (enabled, switch, wait) == (1, 2, 1)
    count, sequence = machine.memory(flash + 0x14, 2)
    kind, pads, clock = machine.memory(flash + 0x44, 3)
    assert (kind, pads) == (1, 8) and 1 <= clock <= 9
    assert machine.word(flash + 0x50) == 64 << 20
    # 8D-8D-8D read: EEh and its complement, 32 bits of address, 20 turns, and data on eight pads.
    assert machine.memory(flash + 0x80, 12) == bytes.fromhex("ee471147202b120f020f043b")
    # Octal mode is set by a register write: 72h, four bytes of address, one byte.
    switching = machine.memory(flash + 0x80 + sequence * 20, 12)
    assert count == 1 and switching == bytes.fromhex("720400040004000400040120")
    assert machine.word(flash + 0x18) == 2, "double data rate"
    assert [machine.word(flash + at) for at in (0x200, 0x204, 0x210)] == [256, 4096, 65536]
    machine.start(flash + 0x4000)


def _start_lpc55(machine: Machine, flash: int) -> None:
    """Start as in LPC55S6x User Manual, 10.3. Entries of its vector table mark a plain image. MCX N
    has the same.
    """
    assert machine.word(flash + 0x24) == 0, "image type"
    assert machine.word(flash + 0x34) == 0, "load address"
    machine.start(flash)


STARTS: Mapping[str, Callable[[Machine, int], None]] = {
    "frdm_mcxn947": _start_lpc55,
    "lpc55s69_evk": _start_lpc55,
    "mimxrt700_evk": _start_rt700,
    "pico": _start_rp2040,
    "pico2": _start_rp2350,
    "rt1060_evk": _start_rt1060,
}
"""ROM start function of each board; its argument is the address of the flash memory."""
