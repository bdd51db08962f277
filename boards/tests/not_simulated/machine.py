# SPDX-License-Identifier: Apache-2.0
"""Model of a chip for start-up code: the core in Unicorn, memories, and registers that keep written
values. Some registers also change by hardware events.
"""

from collections.abc import Callable

import unicorn
from unicorn import arm_const
from unicorn.unicorn_py3 import Uc

from boards.board import Board
from tools.simulator.elf import Elf

# For every core: its part number, a memory protection unit, one level of everything else.
_CPUID, _MPU_TYPE, _ISAR3, _MVFR0 = 0xE000ED00, 0xE000ED90, 0xE000ED6C, 0xE000EF40
_MVFR1 = 0xE000EF44
_PARTS = {
    "cortex-m0plus": 0xC60,
    "cortex-m4": 0xC24,
    "cortex-m7": 0xC27,
    "cortex-m33": 0xD21,
    "cortex-m55": 0xD22,
    "cortex-m85": 0xD23,
}
# Unicorn has no core with Helium: image.py compiles for the available ones.
_MODELS = {
    "cortex-m0plus": arm_const.UC_CPU_ARM_CORTEX_M0,
    "cortex-m4": arm_const.UC_CPU_ARM_CORTEX_M4,
    "cortex-m7": arm_const.UC_CPU_ARM_CORTEX_M7,
    "cortex-m33": arm_const.UC_CPU_ARM_CORTEX_M33,
    "cortex-m55": arm_const.UC_CPU_ARM_CORTEX_M33,
    "cortex-m85": arm_const.UC_CPU_ARM_CORTEX_M33,
}
_WITH_HELIUM = ("cortex-m55", "cortex-m85")
_WITH_DOUBLES = ("cortex-m7", *_WITH_HELIUM)
_PAGE = 0x1000
_REGISTERS = (
    (0x40000000, 0x20000000),
    (0xE0000000, 0x100000),
    (0x18000000, _PAGE),
    (0x1A600000, 0x100000),
)
# Factory and user data of Nordic's chips, LPC55S69 and SAMD21; others have memories there.
_FACTORY = (
    (0x10000000, 2 * _PAGE),
    (0x00FF0000, _PAGE),
    (0x00FF8000, _PAGE),
    (0x0009F000, _PAGE),
    (0x00806000, _PAGE),
)
_BREAKPOINT = 7
_MOST_INSTRUCTIONS = 3_000_000

Read = Callable[[dict[int, int]], int]
"""Read value of a register, computed from the written values of all registers."""


class Machine:
    """A switched-off board.

    `dead` are registers, by address, that keep written values and have no function. Their whole
    pages behave like this. The program may wait long for such a register, so instructions have no
    limit then.

    Attributes:
        registers: last written value, by address.
        written: called on every write, with address and value; may write registers.
        ended: the program came to its end.
    """

    def __init__(self, board: Board, reads: dict[int, Read], dead: dict[int, int] | None = None):
        self.registers = {
            _CPUID: _PARTS[board.core] << 4,
            _MPU_TYPE: 8 << 8,
            _ISAR3: 3 << 4,
            _MVFR0: (2 if board.core in _WITH_DOUBLES else 0) << 8,
            _MVFR1: (2 if board.core in _WITH_HELIUM else 0) << 8,
        }
        self.written: Callable[[int, int], None] = lambda address, value: None
        self.ended = False
        self._most = 0 if dead else _MOST_INSTRUCTIONS
        self._reads = reads
        self._uc = Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
        self._uc.ctl_set_cpu_model(_MODELS[board.core])
        for memory in board.memories:
            start = memory.base // _PAGE * _PAGE
            end = -(-(memory.base + memory.size) // _PAGE) * _PAGE
            self._uc.mem_map(start, end - start)
        read = {at // _PAGE for at in reads}
        for base, size in (*_REGISTERS, *(one for one in _FACTORY if one[0] // _PAGE in read)):
            self._map_registers(base, size, dead or {})
        self._uc.hook_add(unicorn.UC_HOOK_INTR, self._interrupt)

    def _map_registers(self, base: int, size: int, dead: dict[int, int]) -> None:
        pages = sorted({at // _PAGE * _PAGE for at in dead if base <= at < base + size})
        starts, ends = (base, *(at + _PAGE for at in pages)), (*pages, base + size)
        for start, end in zip(starts, ends, strict=True):
            if start < end:
                self._uc.mmio_map(start, end - start, self._read, start, self._write, start)
        for page in pages:
            self._uc.mem_map(page, _PAGE)
        for at in dead:
            if base <= at < base + size:
                self.store(at, dead[at].to_bytes(4, "little"))

    def load(self, elf: Elf) -> None:
        """Store a program where it is flashed."""
        for section in elf.sections:
            if section.allocated and section.stored and section.size:
                self._uc.mem_write(section.load, bytes(section.contents))

    def memory(self, address: int, size: int) -> bytes:
        """Return the content of a memory."""
        return bytes(self._uc.mem_read(address, size))

    def word(self, address: int) -> int:
        """Return a word of a memory."""
        return int.from_bytes(self.memory(address, 4), "little")

    def store(self, address: int, data: bytes) -> None:
        """Write to a memory."""
        self._uc.mem_write(address, data)

    def watch(self, addresses: range, stored: Callable[[int, int, int], None]) -> None:
        """Call `stored` before each store of the program to a memory: address, size, value."""

        def hook(uc: Uc, access: int, address: int, size: int, value: int, data: object) -> None:
            del uc, access, data
            stored(address, size, value & (1 << 8 * size) - 1)

        end = addresses.stop - 1
        self._uc.hook_add(unicorn.UC_HOOK_MEM_WRITE, hook, begin=addresses.start, end=end)

    def watch_reads(self, addresses: range, read: Callable[[], None]) -> None:
        """Call `read` before each load of the program from a memory."""

        def hook(uc: Uc, access: int, address: int, size: int, value: int, data: object) -> None:
            del uc, access, address, size, value, data
            read()

        end = addresses.stop - 1
        self._uc.hook_add(unicorn.UC_HOOK_MEM_READ, hook, begin=addresses.start, end=end)

    def add_rom(self, base: int, contents: bytes) -> None:
        """Add a read-only memory."""
        size = -(-len(contents) // _PAGE) * _PAGE
        self._uc.mem_map(base, size, unicorn.UC_PROT_READ | unicorn.UC_PROT_EXEC)
        self._uc.mem_write(base, contents)

    def on_call(self, function: int, called: Callable[..., int | None]) -> None:
        """Call `called` with four arguments when the program comes to an address. Its return value
        is the result.
        """

        def hook(uc: Uc, address: int, size: int, data: object) -> None:
            del address, size, data
            registers = (arm_const.UC_ARM_REG_R0 + number for number in range(4))
            result = called(*(uc.reg_read(register) for register in registers))
            if result is not None:
                uc.reg_write(arm_const.UC_ARM_REG_R0, result)

        self._uc.hook_add(unicorn.UC_HOOK_CODE, hook, begin=function & ~1, end=function & ~1)

    def open(self, memory: range, is_open: bool) -> None:
        """Permit or forbid the program to read and run this memory from now on."""
        access = unicorn.UC_PROT_ALL if is_open else unicorn.UC_PROT_NONE
        self._uc.mem_protect(memory.start, len(memory), access)

    def masks_interrupts(self) -> bool:
        """Return True if the program masks all interrupts."""
        return bool(self._uc.reg_read(arm_const.UC_ARM_REG_PRIMASK) & 1)

    def masks_faults(self) -> bool:
        """Return True if the program masks everything that can be masked."""
        return bool(self._uc.reg_read(arm_const.UC_ARM_REG_FAULTMASK) & 1)

    def run(self, stack: int, start: int, most: int | None = None) -> None:
        """Run from an address (bit 0 is Thumb) until the program ends, or for `most` instructions,
        if that is not 0.
        """
        assert start & 1
        self._uc.reg_write(arm_const.UC_ARM_REG_MSP, stack)
        self._uc.reg_write(arm_const.UC_ARM_REG_SP, stack)
        self._uc.emu_start(start, 0, count=self._most if most is None else most)

    def start(self, vectors: int, most: int | None = None) -> None:
        """Run as a core does after reset, or after a ROM has found the vector table."""
        self.run(self.word(vectors), self.word(vectors + 4), most)

    def go_on(self) -> None:
        """Run on."""
        at = self._uc.reg_read(arm_const.UC_ARM_REG_PC)
        self._uc.emu_start(at | 1, 0, count=_MOST_INSTRUCTIONS)

    def call(self, function: int, back: int) -> None:
        """Call a function of the program that returns to an address."""
        self._uc.reg_write(arm_const.UC_ARM_REG_LR, back | 1)
        self._uc.emu_start(function | 1, back, count=_MOST_INSTRUCTIONS)

    def place(self) -> int:
        """Return the address of the current instruction."""
        return int(self._uc.reg_read(arm_const.UC_ARM_REG_PC))

    def stop(self) -> None:
        """Stop the run."""
        self._uc.emu_stop()

    def _read(self, uc: Uc, offset: int, size: int, base: int) -> int:
        del uc, size
        address = base + offset
        read = self._reads.get(address)
        return read(self.registers) if read else self.registers.get(address, 0)

    def _write(self, uc: Uc, offset: int, size: int, value: int, base: int) -> None:
        del uc, size
        self.registers[base + offset] = value
        self.written(base + offset, value)

    def _interrupt(self, uc: Uc, number: int, data: object) -> None:
        del data
        assert number == _BREAKPOINT, f"exception {number}"
        self.ended = True
        uc.emu_stop()
