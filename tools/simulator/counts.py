# SPDX-License-Identifier: Apache-2.0
"""Exact counts of executed instructions, as the plugin tools/simulator/plugin writes them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from boards.board import Memory
from tools.simulator.elf import Elf

BEGIN = "pl_profile_begin"
END = "pl_profile_end"

# Functions marking regions, and their sizes in bytes (firmware/runtime/profile_cortex_m.c).
_MARKS = (("begin", BEGIN, 6), ("end", END, 6), ("plan", "pl_profile_plan", 14))


class CountsError(Exception):
    """Failed count of instructions; the text gives the reason."""


@dataclass
class Region:
    """Instructions of a region marked by the program: a pair of calls with the same number.

    Attributes:
        entries: number of entries.
        instructions: executed between begin and end over all entries, inner regions
            included. The call of the end (the number into r0, and the call) is part of
            it.
        at: executions by address, without those of inner regions.
        loads: reads of flash by address of the instruction, if they were requested.
    """

    entries: int = 0
    instructions: int = 0
    at: Counter[int] = field(default_factory=Counter)
    loads: Counter[int] = field(default_factory=Counter)


@dataclass
class Counts:
    """Instructions of a whole run.

    Attributes:
        total: all instructions from reset to the end, marks excluded.
        regions: by number.
        plans: regions entered during a plan (its steps), by the plan's address.
        outside: executions by address while no region was open.
    """

    total: int = 0
    regions: dict[int, Region] = field(default_factory=dict)
    plans: dict[int, dict[int, Region]] = field(default_factory=dict)
    outside: Counter[int] = field(default_factory=Counter)

    def at(self) -> Counter[int]:
        """Return the executions of each address over the whole run."""
        found = Counter(self.outside)
        for region in self.by_plan().values():
            found.update(region.at)
        return found

    def by_plan(self) -> dict[tuple[int, int], Region]:
        """Return all regions, by the address of their plan, 0 if there is none, and number."""
        return {
            (plan, number): region
            for plan, regions in {0: self.regions, **self.plans}.items()
            for number, region in regions.items()
        }


def by_function(at: Counter[int], elf: Elf) -> Counter[str]:
    """Return the executed instructions of each function; `?` is code without a name."""
    found: Counter[str] = Counter()
    for address, executions in at.items():
        function = elf.function_at(address)
        found[function.name if function else "?"] += executions
    return found


def plugin_arguments(elf: Elf, output: Path, flash: Sequence[Memory] = ()) -> str:
    """Return the plugin's arguments for a program, each with a comma before it.

    Args:
        elf: the program.
        output: file for the counts.
        flash: memories whose reads to count.

    Raises:
        CountsError: the program's marks differ from the plugin's expectation.
    """
    arguments = f",out={output}"
    for memory in flash:
        arguments += f",loads={memory.base:x}-{memory.base + memory.size - 1:x}"
    for option, name, size in _MARKS:
        function = elf.function(name)
        if function is None:
            continue
        if function.size != size:
            raise CountsError(
                f"{name} has {function.size} bytes, not {size}: it is not the function of "
                "firmware/runtime/profile_cortex_m.c"
            )
        arguments += f",{option}={function.address:x}"
    return arguments


def read_counts(path: Path) -> Counts:
    """Read the file written by the plugin.

    Raises:
        CountsError: there is none, or the marks do not match each other.
    """
    if not path.exists():
        raise CountsError("QEMU's plugin wrote no counts: QEMU ended too early")
    counts = Counts()
    regions = counts.regions
    for line in path.read_text().splitlines():
        what, *fields = line.split(" ")
        if what == "error":
            raise CountsError(" ".join(fields))
        if what == "total":
            counts.total = int(fields[0])
        elif what == "region":
            region = regions.setdefault(int(fields[0]), Region())
            region.entries, region.instructions = map(int, fields[1:])
        elif what == "at":
            at = (
                counts.outside
                if fields[1] == "-"
                else regions.setdefault(int(fields[1]), Region()).at
            )
            at[int(fields[0])] = int(fields[2])
        elif what == "loads":
            regions[int(fields[1])].loads[int(fields[0])] = int(fields[2])
        elif what == "plan":
            regions = counts.plans.setdefault(int(fields[0]), {})
    return counts
