# SPDX-License-Identifier: Apache-2.0
"""Cycles that a run would take on a core, as an estimate: how often each block ran, which QEMU
counted, times what LLVM's model of the core says of the block.

A block is instructions that run one after the other. llvm-mca gives the cycles that it takes when
it repeats, as an inner loop does; those of others are what it would take if it did. The models know
of results that are waited for, of units that are busy, and of instructions that a core starts at
once. They know nothing of memories that let a core wait, of the pipeline that a branch empties, nor
of interrupts; test_cycles_llvm.py has what else they leave out.
"""

import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.python.runfile import runfile
from tools.simulator.elf import Elf

Block = tuple[str, ...]
"""Instructions in assembly, in order."""

MODELS = {
    "cortex-m3": "cortex-m4",
    "cortex-m4": "cortex-m4",
    "cortex-m7": "cortex-m7",
    "cortex-m33": "cortex-m4",
    "cortex-m52": "cortex-m55",
    "cortex-m55": "cortex-m55",
    "cortex-m85": "cortex-m85",
}
"""By core, that of the model which LLVM takes for it. It has none of M0, M0+ and M23."""

_TRIPLE = "thumbv8.1m.main-none-eabi"

_ITERATIONS = (10, 110)
"""The difference is what a block takes, without the pipeline's filling and draining."""

_KNOWN = ("nop",)
"""A block besides: llvm-mca fails where it knows no instruction at all."""

_ENDS_OF_LOOPS = {"le", "letp"}
"""Instructions that a model lacks count a cycle each, but not these: they cost none in a loop that
the core has gone through once.
"""

_LACKING = re.compile(r"^note: instruction:\s+([a-z0-9]+)", re.MULTILINE)
_CODE = re.compile(r"^ *([0-9a-f]+):[ \t]+(\S.*)$", re.MULTILINE)
_TARGET = re.compile(r"\b0x([0-9a-f]+) <.*>")
_NAME = re.compile(r" <.*>$")
"""Behind a distance: `adr r2, #4 <main+0x8>`."""
_COMMENT = re.compile(r"\s*@.*$")
_CONDITION = "(eq|ne|[hc]s|lo|cc|mi|pl|v[sc]|hi|l[st]|g[et]|le)"
_JUMP = re.compile(
    f"((b|bl|bx|blx|bxns|blxns){_CONDITION}?|cbn?z|tb[bh]|le|letp|wls|wlstp|udf|svc|bkpt)$"
)
_INTO_PC = re.compile(r"pc\b|.*\{.*\bpc\}")


class CyclesError(Exception):
    """Cycles cannot be estimated; the text says why."""


@dataclass(frozen=True)
class Tools:
    """Programs of LLVM."""

    mca: Path
    objdump: Path

    @staticmethod
    def of_build() -> "Tools":
        """Returns those that Bazel provides.

        Raises:
            CyclesError: the target that is run has none.
        """
        mca, objdump = runfile("llvm/llvm-mca"), runfile("llvm/llvm-objdump")
        if mca is None or objdump is None:
            raise CyclesError("this target has no llvm-mca: an image's that has is <image>.cycles")
        return Tools(mca, objdump)


@dataclass(frozen=True)
class Ran:
    """A block that ran: where it begins, in which function, how often, cycles of each time."""

    address: int
    function: str
    block: Block
    times: int
    each: float

    @property
    def cycles(self) -> float:
        """Of all times."""
        return self.times * self.each


@dataclass(frozen=True)
class Code:
    """The instructions of a program.

    Attributes:
        text: by address, in assembly; what a branch goes to is a name.
        leaders: addresses that a block begins at: what branches go to, and what follows them.
        following: the address of the next instruction.
    """

    text: dict[int, str]
    leaders: frozenset[int]
    following: dict[int, int]

    @staticmethod
    def of_listing(listing: str) -> "Code":
        """Reads what llvm-objdump prints."""
        text: dict[int, str] = {}
        leaders: set[int] = set()
        following: dict[int, int] = {}
        previous = -1
        for match in _CODE.finditer(listing):
            address, instruction = int(match[1], 16), _COMMENT.sub("", match[2])
            if previous >= 0:
                following[previous] = address
                if is_jump(text[previous]):
                    leaders.add(address)
            leaders |= {int(target, 16) for target in _TARGET.findall(instruction)}
            text[address] = _NAME.sub("", _TARGET.sub("target", instruction))
            previous = address
        return Code(text, frozenset(leaders), following)

    def blocks(self, at: Counter[int]) -> list[tuple[int, Block, int]]:
        """The blocks that ran: address, instructions, and how often.

        Args:
            at: executions by address. Where they differ from those of the instruction before, a
                block begins, too: a table of branches goes there.

        Raises:
            CyclesError: what ran is not in the listing.
        """
        if unknown := at.keys() - self.text.keys():
            raise CyclesError(
                f"what ran at {min(unknown):#x} is no code of the program's file: what a "
                "program writes at run time has no estimate"
            )
        found: list[tuple[int, Block, int]] = []
        block: list[int] = []
        for address in sorted(at):
            last = block[-1] if block else -1
            new = address in self.leaders or self.following.get(last) != address
            if block and (new or at[address] != at[last]):
                found.append((block[0], tuple(self.text[a] for a in block), at[last]))
                block = []
            block.append(address)
        if block:
            found.append((block[0], tuple(self.text[a] for a in block), at[block[0]]))
        return found


def is_jump(instruction: str) -> bool:
    """Whether another instruction than the next one may run after it."""
    operands = "".join(instruction.split(None, 1)[1:])
    return bool(_JUMP.match(_mnemonic(instruction)) or _INTO_PC.match(operands))


def model_of(core: str) -> str:
    """The core whose model LLVM takes for a core.

    Raises:
        CyclesError: there is none.
    """
    if _plain(core) not in MODELS:
        raise CyclesError(
            f"LLVM has no model of {core} that estimates cycles, only of {', '.join(MODELS)}"
        )
    return MODELS[_plain(core)]


def estimate(
    elf: Path, core: str, parts: Sequence[Counter[int]], tools: Tools | None = None
) -> list[list[Ran]]:
    """What ran in each part of a run, with its cycles.

    Args:
        elf: the program.
        core: as GCC calls it.
        parts: executions by address.
        tools: those of the build, if not given.

    Raises:
        CyclesError: LLVM has no model of the core, or its programs failed.
    """
    model_of(core)
    tools = tools or Tools.of_build()
    arguments = ["--disassemble", "--no-show-raw-insn", f"--mcpu={_plain(core)}", str(elf)]
    code = Code.of_listing(_run(tools.objdump, arguments).stdout)
    ran = [code.blocks(at) for at in parts]
    each = cycles_of_blocks({block for part in ran for _, block, _ in part}, core, tools)
    names = Elf(elf)
    return [
        [
            Ran(address, function.name if function else "?", block, times, each[block])
            for address, block, times in part
            for function in [names.function_at(address)]
        ]
        for part in ran
    ]


def cycles_of_blocks(blocks: Iterable[Block], core: str, tools: Tools) -> dict[Block, float]:
    """What each block takes when it repeats."""
    ordered = sorted(blocks)
    source = "".join(
        f"# LLVM-MCA-BEGIN {number}\n" + "\n".join(block) + "\n# LLVM-MCA-END\n"
        for number, block in enumerate([*ordered, _KNOWN])
    )
    (few, lacking), (many, _) = (_total_cycles(source, core, n, tools) for n in _ITERATIONS)
    between = _ITERATIONS[1] - _ITERATIONS[0]
    return {
        block: (many.get(str(number), 0) - few.get(str(number), 0)) / between
        + sum(_mnemonic(instruction) in lacking - _ENDS_OF_LOOPS for instruction in block)
        for number, block in enumerate(ordered)
    }


def _total_cycles(
    source: str, core: str, iterations: int, tools: Tools
) -> tuple[dict[str, int], set[str]]:
    """Cycles by number of the block, and the instructions that the model lacks."""
    arguments = [f"-mtriple={_TRIPLE}", f"-mcpu={_plain(core)}", f"-iterations={iterations}"]
    arguments += ["-call-latency=0", "-skip-unsupported-instructions=lack-sched", "--json", "-"]
    done = _run(tools.mca, arguments, source)
    regions = json.loads(done.stdout)["CodeRegions"]
    cycles = {region["Name"]: region["SummaryView"]["TotalCycles"] for region in regions}
    return cycles, set(_LACKING.findall(done.stderr))


def _run(program: Path, arguments: list[str], text: str = "") -> "subprocess.CompletedProcess[str]":
    done = subprocess.run([program, *arguments], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise CyclesError(f"{program.name} failed: {done.stderr.strip()}")
    return done


def _plain(core: str) -> str:
    """A core without what a variant has not: cortex-m33+nofp is a cortex-m33."""
    return core.split("+")[0]


def _mnemonic(instruction: str) -> str:
    """Without what says width and type."""
    return re.split(r"[.\s]", instruction)[0]
