# SPDX-License-Identifier: Apache-2.0
"""Explanation of a program's fault: exception, cause, and source location."""

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.simulator.elf import Elf

STACK_OVERFLOW = "StackOverflow"
LOCKUP = "lockup"

_LINE = re.compile(r"^PL:FAULT (?P<name>\w+)(?P<registers>(?: \w+=0x[0-9a-f]{8})*)$", re.MULTILINE)
_REGISTER = re.compile(r" (\w+)=0x([0-9a-f]{8})")
_DUMPED = re.compile(r"\bR(13|14|15)=([0-9a-f]{8})")

# Bits of the configurable fault status register: Armv8-M Architecture Reference Manual, CFSR.
_CFSR = {
    0: "instruction fetch from memory without access",
    1: "data access to memory without access",
    3: "memory without access while returning from an exception",
    4: "memory without access while entering an exception",
    5: "memory without access while saving floating point state",
    8: "instruction fetch failed on the bus",
    9: "data access failed on the bus",
    10: "an earlier write failed on the bus",
    11: "bus error while returning from an exception",
    12: "bus error while entering an exception",
    13: "bus error while saving floating point state",
    16: "undefined instruction",
    17: "not in Thumb state: a call or return to an even address",
    18: "invalid return from an exception",
    19: "no coprocessor: floating point or vector unit off or absent",
    20: "stack overflow",
    24: "unaligned access",
    25: "division by zero",
}

_UNHANDLED = re.compile(r"NMI|SVCall|DebugMonitor|PendSV|SysTick|IRQ\d+")

_STKOF = 1 << 20
_MMARVALID = 1 << 7
_BFARVALID = 1 << 15


@dataclass(frozen=True)
class Fault:
    """Fault reported by the program (boards/common/fault.h), or a locked-up core.

    `registers` holds the printed ones, by lower-case name.
    """

    name: str
    registers: Mapping[str, int]

    def causes(self) -> list[str]:
        """Return the causes in the status registers, as text."""
        cfsr = self.registers.get("cfsr", 0)
        found = [text for bit, text in _CFSR.items() if cfsr >> bit & 1]
        if _UNHANDLED.fullmatch(self.name):
            found.append("the program has no handler for it (boards/common/irq.h)")
        if cfsr & _MMARVALID:
            found.append(f"at address {self.registers['mmfar']:#010x}")
        if cfsr & _BFARVALID:
            found.append(f"at address {self.registers['bfar']:#010x}")
        return found

    def is_stack_overflow(self, elf: Elf) -> bool:
        """Return True if the core reports it, or if the stack pointer was at or below the limit and
        the core could not save registers there. A thread's stack may lie lower.
        """
        limit = elf.values.get("pl_link_stack_limit", 0)
        is_lost = self.name == LOCKUP or not self.registers.get("pc")
        return (
            self.name == STACK_OVERFLOW
            or bool(self.registers.get("cfsr", 0) & _STKOF)
            or (is_lost and "sp" in self.registers and self.registers["sp"] <= limit)
        )


def find_fault(console: str) -> Fault | None:
    """Return the first fault in a program's output."""
    match = _LINE.search(console)
    if match is None:
        return None
    registers = {name: int(value, 16) for name, value in _REGISTER.findall(match["registers"])}
    return Fault(match["name"], registers)


def find_lockup(messages: str) -> Fault | None:
    """Return the state of a locked-up core, from the messages of QEMU."""
    if "Lockup" not in messages:
        return None
    return Fault(LOCKUP, registers_in(messages))


def registers_in(dump: str) -> dict[str, int]:
    """Return QEMU's register list in the form of a fault's."""
    names = {"13": "sp", "14": "lr", "15": "pc"}
    return {names[number]: int(value, 16) for number, value in _DUMPED.findall(dump)}


def place(elf: Elf, address: int, addr2line: Path | None) -> str:
    """Return an address with its function and, if the tool is there, its source line."""
    text = f"{address:#010x}"
    function = elf.function_at(address)
    if function is None:
        return text
    text += f" {function.name}+{address - function.address:#x}"
    if addr2line is not None:
        done = subprocess.run(
            [addr2line, "-e", elf.path, hex(address)], capture_output=True, text=True
        )
        line = done.stdout.split(" ")[0].strip().removeprefix("./")
        if done.returncode == 0 and not line.startswith("?"):
            text += f" ({line})"
    return text


def explain(fault: Fault, elf: Elf, addr2line: Path | None) -> str:
    """Return the fault as text of a few lines for people."""
    registers = fault.registers
    causes = fault.causes()
    if fault.is_stack_overflow(elf):
        causes = ["the stack overflowed", *(cause for cause in causes if "stack" not in cause)]
    lines = [": ".join(filter(None, [fault.name, ", ".join(causes)]))]
    if registers.get("pc"):
        lines.append(f"  at   {place(elf, registers['pc'], addr2line)}")
    if registers.get("lr"):
        # The call stands before the address it returns to.
        lines.append(f"  from {place(elf, (registers['lr'] & ~1) - 2, addr2line)}")
    if "sp" in registers and "pl_link_stack_limit" in elf.values:
        limit, top = (elf.values[f"pl_link_stack_{end}"] for end in ("limit", "top"))
        handlers = elf.values.get("pl_link_handler_stack_top", top)
        is_known = not fault.is_stack_overflow(elf) and registers.get("pc")
        is_thread = is_known and not limit <= registers["sp"] <= max(top, handlers)
        words = "a thread's, not of the program's" if is_thread else "stack"
        lines.append(f"  sp   {registers['sp']:#010x}, {words} {limit:#010x}..{top:#010x}")
    return "\n".join(lines)
