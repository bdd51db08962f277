# SPDX-License-Identifier: Apache-2.0
"""Upper bound of a linked program's stack, from its machine code.

Each function's frame is the sum of its changes to the stack pointer. Assembly functions of
libraries are included. The call graph comes from the branches.

A call through a pointer may reach every function with a stored address. The linker must keep the
relocations (--emit-relocs), to distinguish addresses from numbers. Functions called before main are
known.

Some functions reached through pointers call through pointers themselves, such as delegate engines.
The machine code cannot exclude endless recursion between them. Each is counted once, and reported
by name.
"""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tools.simulator.elf import Elf, ElfSection

# Kinds of relocation with a function's address: "ELF for the Arm Architecture".
_ABS32 = 2
_TARGET1 = 38
_THM_MOVW_ABS_NC = 47

# Calls the functions of section .init_array (boards/common/startup.c).
_CONSTRUCT = "pl_construct"

_HEADER = re.compile(r"^([0-9a-f]+) <([^>]+)>:$")
_TARGET = re.compile(r"^(?:\w+, )?([0-9a-f]+) <")
_IMMEDIATE = re.compile(r"#(\d+)")
_WRITE_BACK = re.compile(r"\[sp, #-(\d+)\]!")
_LITERAL = re.compile(r"^(\w+), \[pc, .*@ \(([0-9a-f]+) ")
_CONSTANT = re.compile(r"^(\w+), (?:(\w+), )?#(\d+)")
_SIZES = {"r": 4, "s": 4, "d": 8, "q": 16}
_NUMBERS = {"sb": 9, "sl": 10, "fp": 11, "ip": 12, "sp": 13, "lr": 14, "pc": 15, "vpr": 0}


@dataclass
class Function:
    """Function; `problem` is the reason for a missing frame bound."""

    name: str
    frame: int = 0
    calls: set[int] = field(default_factory=set)
    calls_pointers: bool = False
    problem: str = ""


@dataclass(frozen=True)
class Bound:
    """Maximum stack of a program, in bytes.

    Attributes:
        bytes: None if there is no bound.
        path: calls with the maximum, outermost first; the unbounded calls if there is no
            bound.
        problem: reason for a missing bound.
        once: functions the bound assumes to be called through a pointer only while they
            are not running.
    """

    bytes: int | None
    path: tuple[str, ...]
    problem: str = ""
    once: tuple[str, ...] = ()


def stack_bound(elf: Elf, objdump: Path, root: str) -> Bound:
    """Return the bound for a call of the function `root`, without exception frames."""
    functions = _read_functions(elf, objdump)
    by_name = {function.name: address for address, function in functions.items()}
    if _CONSTRUCT in by_name:
        construct = functions[by_name[_CONSTRUCT]]
        construct.calls_pointers = False
        construct.calls |= _words(elf, ".init_array") & functions.keys()
    return _Depths(functions, _stored_functions(elf, functions)).bound(by_name[root])


def handlers_bound(elf: Elf, objdump: Path, default: str, frame: int) -> Bound:
    """Return the bound for nested exception handlers: each of them interrupts another one.

    Args:
      elf: the program; its handlers are those of the vector table.
      objdump: for Arm.
      default: the fault handler; it comes last and ends the program.
      frame: bytes pushed by the core for each interrupted handler.
    """
    functions = _read_functions(elf, objdump)
    depths = _Depths(functions, _stored_functions(elf, functions))
    entries = _words(elf, ".vectors", 2)  # after the stack's top and the start of the program
    by_name = {function.name: address for address, function in functions.items()}
    path: list[str] = []
    once: tuple[str, ...] = ()
    total = 0
    for handler in sorted(entries & functions.keys() - {by_name[default]}):
        bound = depths.bound(handler)
        if bound.bytes is None:
            return bound
        total += bound.bytes + frame
        path += [functions[handler].name]
        once = once or bound.once
    last = depths.bound(by_name[default])
    if last.bytes is None:
        return last
    return Bound(total + last.bytes, (*path, *last.path), once=once or last.once)


class _Depths:
    """Call depths: direct calls first, then calls through pointers on top of them."""

    def __init__(self, functions: dict[int, Function], stored: set[int]) -> None:
        self._functions = functions
        self._stored = sorted(stored)
        self._known: dict[int, Bound] = {}
        self._known_to_pointer: dict[int, Bound | None] = {}

    def bound(self, address: int) -> Bound:
        direct = self._direct(address, ())
        first = self._to_pointer(address) if direct.bytes is not None else None
        if first is None:
            return direct
        others = [self._direct(a, ()) for a in self._stored]
        for bound in others:
            if bound.bytes is None:
                return bound
        between = {a: self._to_pointer(a) for a in self._stored}
        once = [bound for bound in between.values() if bound is not None]
        names = tuple(self._functions[a].name for a, bound in between.items() if bound is not None)
        last = max(others, key=_bytes, default=Bound(0, ()))
        chain = (first, *once, last)
        path = tuple(name for part in chain for name in part.path)
        return max(direct, Bound(sum(map(_bytes, chain)), path, once=names), key=_bytes)

    def _direct(self, address: int, callers: tuple[int, ...]) -> Bound:
        """Return the bound of a function with its direct calls, without calls through pointers."""
        if address in self._known:
            return self._known[address]
        function = self._functions[address]
        if address in callers:
            cycle = (*callers[callers.index(address) :], address)
            return Bound(None, tuple(self._functions[a].name for a in cycle), "recursion")
        if function.problem:
            return Bound(None, (function.name,), function.problem)
        below = Bound(0, ())
        for callee in sorted(function.calls):
            bound = self._direct(callee, (*callers, address))
            if bound.bytes is None:
                return bound
            below = max(below, bound, key=_bytes)
        self._known[address] = _on_top(function, below)
        return self._known[address]

    def _to_pointer(self, address: int) -> Bound | None:
        """Return the deepest chain of direct calls ending in a call through a pointer, if there is
        one. The function's direct calls must have a bound.
        """
        if address in self._known_to_pointer:
            return self._known_to_pointer[address]
        function = self._functions[address]
        found = [self._to_pointer(callee) for callee in sorted(function.calls)]
        below = [bound for bound in found if bound is not None]
        if function.calls_pointers:
            below.append(Bound(0, ()))
        deepest = _on_top(function, max(below, key=_bytes)) if below else None
        self._known_to_pointer[address] = deepest
        return deepest


def _bytes(bound: Bound) -> int:
    assert bound.bytes is not None
    return bound.bytes


def _on_top(function: Function, below: Bound) -> Bound:
    return Bound(function.frame + _bytes(below), (function.name, *below.path))


def _named(elf: Elf, *names: str) -> list[ElfSection]:
    return [section for section in elf.sections if section.name in names]


def _words(elf: Elf, name: str, first: int = 0) -> set[int]:
    """Return the function addresses in a section, from its word `first` on."""
    return {
        elf.word(section.address + at) & ~1
        for section in _named(elf, name)
        for at in range(4 * first, section.size, 4)
    }


def _stored_functions(elf: Elf, functions: dict[int, Function]) -> set[int]:
    """Return the functions reachable by a call through a pointer."""
    known = _named(elf, ".vectors", ".init_array")
    found = set()
    for relocation in elf.relocations:
        if any(0 <= relocation.address - section.address < section.size for section in known):
            continue
        if relocation.kind in (_ABS32, _TARGET1):
            found.add(elf.word(relocation.address) & ~1)
        elif relocation.kind == _THM_MOVW_ABS_NC:
            found.add(relocation.value & ~1)
    return found & functions.keys()


def _read_functions(elf: Elf, objdump: Path) -> dict[int, Function]:
    done = subprocess.run(
        [objdump, "-d", "--no-show-raw-insn", elf.path], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    functions: dict[int, Function] = {}
    for line in lines:
        header = _HEADER.match(line)
        if header:
            functions[int(header[1], 16)] = Function(header[2])
    current = Function("")
    constants: dict[str, int] = {}
    for line in lines:
        header = _HEADER.match(line)
        if header:
            current = functions[int(header[1], 16)]
            constants = {}
        elif "\t" in line:
            _, mnemonic, *rest = line.split("\t")
            mnemonic, operands = mnemonic.split(".")[0], "\t".join(rest)
            _read_instruction(functions, current, constants, mnemonic, operands)
            _follow_constant(elf, constants, mnemonic, operands)
    return functions


def _follow_constant(elf: Elf, constants: dict[str, int], mnemonic: str, operands: str) -> None:
    """Track the constants in registers, as far as Armv6-M needs them for large frames."""
    register = re.match(r"\w*", operands)
    before = dict(constants)
    if register:
        constants.pop(register[0], None)
    literal = _LITERAL.match(operands)
    constant = _CONSTANT.match(operands)
    if mnemonic == "ldr" and literal:
        constants[literal[1]] = elf.word(int(literal[2], 16))
    elif mnemonic == "movs" and constant:
        constants[constant[1]] = int(constant[3])
    elif mnemonic == "lsls" and constant and constant[2] in before:
        constants[constant[1]] = before[constant[2]] << int(constant[3])


def _read_instruction(
    functions: dict[int, Function],
    current: Function,
    constants: dict[str, int],
    mnemonic: str,
    operands: str,
) -> None:
    """Add one instruction to its function."""
    write_back = _WRITE_BACK.search(operands)
    target = _TARGET.match(operands)
    saves = mnemonic in ("stmdb", "vstmdb") and operands.startswith("sp!")
    if saves or mnemonic in ("push", "vpush"):
        current.frame += _bytes_of_list(operands)
    elif write_back:
        current.frame += int(write_back[1])
    elif mnemonic in ("sub", "subw") and operands.startswith("sp,"):
        amount = _IMMEDIATE.search(operands)
        if amount:
            current.frame += int(amount[1])
        else:
            current.problem = "the size of the frame depends on data"
    elif mnemonic == "add" and operands.startswith("sp, r"):
        # Armv6-M allocates large frames by adding a negative constant, and frees them in the same
        # way.
        amount_register = operands.split(", ")[-1].strip()
        if amount_register not in constants:
            current.problem = "the size of the frame depends on data"
        else:
            current.frame += max(0, -_signed(constants[amount_register]))
    elif mnemonic in ("mov", "movs") and operands.startswith("sp,") and "r7" not in operands:
        current.problem = "the stack pointer is set from a register"
    elif mnemonic in ("blx", "bx") and operands.strip() != "lr":
        current.calls_pointers = True
    elif mnemonic.startswith("b") and target and int(target[1], 16) in functions:
        callee = int(target[1], 16)
        # A branch to the function's own start without link is a loop.
        if mnemonic == "bl" or functions[callee] is not current:
            current.calls.add(callee)


def _signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word


def _registers(operand: str) -> Iterator[str]:
    yield from operand[operand.index("{") + 1 : operand.index("}")].split(", ")


def _bytes_of_list(operand: str) -> int:
    """Return the bytes of a register list such as `{r4, r5, lr}` or `{d8-d11}`."""
    total = 0
    for part in _registers(operand):
        first, _, last = part.partition("-")
        size = 4 if first in _NUMBERS else _SIZES[first[0]]
        total += size * (int(last[1:]) - int(first[1:]) + 1 if last else 1)
    return total
