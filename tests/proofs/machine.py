# SPDX-License-Identifier: Apache-2.0
"""Functions in Thumb machine code as formulas: Valgrind's lifter (VEX) on symbolic registers.

Calls, memory and branches with a condition are followed. A loop must have a known number of rounds.
An instruction without a meaning here is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyvex
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from tests.proofs.flags import CALLS
from tests.proofs.formulas import Bits, choose
from tests.proofs.operations import meaning_of

_ARCH = pyvex.ARCH_ARM_LE
_RETURN = 0xFFFFFFF0
_STACK = 0x20FF0000
_MOST_BLOCKS = 100_000
_MOST_BYTES = 400  # of a block


def _offset(name: str) -> int:
    return int(_ARCH.get_register_offset(name))


@dataclass(frozen=True)
class Way:
    """One way through a function: its conditions, its result, and the memory that it wrote."""

    conditions: tuple[Bits, ...]
    result: Bits
    memory: Mapping[int, Bits]


@dataclass
class _State:
    registers: dict[int, Bits]
    memory: dict[int, Bits]  # bytes
    conditions: tuple[Bits, ...] = ()

    def under(self, condition: Bits) -> _State:
        return _State(dict(self.registers), dict(self.memory), (*self.conditions, condition))


class Program:
    """A linked program; its functions are found by name."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            elf = ELFFile(file)
            segments = elf.iter_segments("PT_LOAD")
            self._segments = [(segment["p_vaddr"], segment.data()) for segment in segments]
            table = elf.get_section_by_name(".symtab")
            assert isinstance(table, SymbolTableSection), "the program has no symbols"
            self._symbols = {s.name: s["st_value"] for s in table.iter_symbols()}

    def bytes_at(self, address: int, count: int) -> bytes:
        for start, data in self._segments:
            if start <= address < start + len(data):
                return bytes(data[address - start : address - start + count])
        raise ValueError(f"the program has no memory at {address:#x}")

    def ways(
        self, name: str, arguments: Sequence[Bits | int], words: Mapping[int, Bits | int] = {}
    ) -> Iterator[Way]:
        """Yield all ways through a function.

        Args:
            name: of the function.
            arguments: numbers of 32 bits; those after the fourth lie on the stack.
            words: contents of memory by address.
        """
        numbers = [Bits.of(a, 32) if isinstance(a, int) else a for a in arguments]
        registers = {_offset(register): Bits.of(0, 32) for register in ("itstate", "cc_op")}
        registers |= {_offset(f"cc_{part}"): Bits.of(0, 32) for part in ("dep1", "dep2", "ndep")}
        registers |= {_offset(f"r{i}"): number for i, number in enumerate(numbers[:4])}
        registers[_offset("lr")] = Bits.of(_RETURN | 1, 32)
        registers[_offset("sp")] = Bits.of(_STACK, 32)
        stack = {_STACK + 4 * i: number for i, number in enumerate(numbers[4:])}
        memory: dict[int, Bits] = {}
        for address, word in {**words, **stack}.items():
            bits = Bits.of(word, 32) if isinstance(word, int) else word
            memory |= {address + i: bits.part(8 * i, 8) for i in range(4)}
        waiting = [(self._symbols[name] | 1, _State(registers, memory))]
        for _ in range(_MOST_BLOCKS):
            if not waiting:
                return
            address, state = waiting.pop()
            if address & ~1 == _RETURN:
                yield Way(state.conditions, state.registers[_offset("r0")], state.memory)
            else:
                waiting += _Block(self, address, state).ends()
        raise ValueError(f"{name} does not end")


@dataclass
class _Block:
    """A run of instructions up to a branch."""

    program: Program
    address: int
    state: _State
    values: dict[int, Bits] = field(default_factory=dict)

    def ends(self) -> Iterator[tuple[int, _State]]:
        """Yield the next address and the state of each way out."""
        code = self.program.bytes_at(self.address & ~1, _MOST_BYTES)
        block = pyvex.lift(code, self.address, _ARCH, bytes_offset=1, opt_level=1)
        self.types = block.tyenv
        for statement in block.statements:
            match statement:
                case pyvex.IRStmt.IMark() | pyvex.IRStmt.AbiHint() | pyvex.IRStmt.NoOp():
                    pass
                case pyvex.IRStmt.WrTmp():
                    self.values[statement.tmp] = self._value(statement.data).known()
                case pyvex.IRStmt.Put():
                    self.state.registers[statement.offset] = self._value(statement.data)
                case pyvex.IRStmt.Store():
                    self._store(self._number(statement.addr), self._value(statement.data))
                case pyvex.IRStmt.StoreG():
                    if self._number(statement.guard):
                        self._store(self._number(statement.addr), self._value(statement.data))
                case pyvex.IRStmt.LoadG():
                    self.values[statement.dst] = self._load_if(statement)
                case pyvex.IRStmt.Exit():
                    guard = self._value(statement.guard).known()
                    if guard.value() != 0:
                        yield statement.dst.value, self.state.under(guard)
                    if guard.value() == 1:
                        return
                    if guard.value() is None:
                        self.state = self.state.under(~guard)
                case _:
                    raise NotImplementedError(f"{statement} at {self.address:#x}")
        if block.jumpkind not in ("Ijk_Boring", "Ijk_Call", "Ijk_Ret"):
            raise NotImplementedError(f"{block.jumpkind} at {self.address:#x}")
        yield self._number(block.next), self.state

    def _number(self, expression: Any) -> int:
        number = self._value(expression).value()
        if number is None:
            raise NotImplementedError(f"{expression} at {self.address:#x} is not one number")
        return number

    def _value(self, expression: Any) -> Bits:
        match expression:
            case pyvex.IRExpr.RdTmp():
                return self.values[expression.tmp]
            case pyvex.IRExpr.Const():
                return Bits.of(expression.con.value, expression.con.size)
            case pyvex.IRExpr.Get():
                offset = expression.offset
                if offset not in self.state.registers:  # saved by a prologue
                    width = expression.result_size(self.types)
                    self.state.registers[offset] = Bits.variable(f"register {offset}", width)
                return self.state.registers[offset]
            case pyvex.IRExpr.ITE():
                condition = self._value(expression.cond)
                return choose(
                    condition, self._value(expression.iftrue), self._value(expression.iffalse)
                )
            case pyvex.IRExpr.Load():
                width = expression.result_size(self.types)
                return self._load(self._number(expression.addr), width)
            case pyvex.IRExpr.CCall():
                return CALLS[expression.callee.name](*map(self._value, expression.args))
            case pyvex.IRExpr.Unop() | pyvex.IRExpr.Binop():
                return meaning_of(expression.op)(*map(self._value, expression.args))
        raise NotImplementedError(f"{expression} at {self.address:#x}")

    def _byte(self, address: int) -> Bits:
        if address not in self.state.memory:
            return Bits.of(self.program.bytes_at(address, 1)[0], 8)
        return self.state.memory[address]

    def _load(self, address: int, width: int) -> Bits:
        result = self._byte(address)
        for i in range(1, width // 8):
            result = self._byte(address + i).joined(result)
        return result

    def _load_if(self, statement: Any) -> Bits:
        if not self._number(statement.guard):
            return self._value(statement.alt)
        address = self._number(statement.addr)
        match statement.cvt:
            case "ILGop_Ident32":
                return self._load(address, 32)
            case "ILGop_8Uto32":
                return self._load(address, 8).unsigned(32)
            case "ILGop_8Sto32":
                return self._load(address, 8).signed(32)
            case "ILGop_16Uto32":
                return self._load(address, 16).unsigned(32)
            case "ILGop_16Sto32":
                return self._load(address, 16).signed(32)
        raise NotImplementedError(f"{statement} at {self.address:#x}")

    def _store(self, address: int, value: Bits) -> None:
        for i in range(value.width // 8):
            self.state.memory[address + i] = value.part(8 * i, 8)
