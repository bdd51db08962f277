# SPDX-License-Identifier: Apache-2.0
"""Estimated cycles of a run on a core: executions of each block, counted by QEMU, times the block's
cycles in LLVM's model of the core.

A block is a sequence of instructions always run together. llvm-mca gives its cycles for repeated
execution, like in an inner loop; the same figure is used for other blocks. The models include waits
for results, busy units, and instructions started together. They exclude memory wait states, the
pipeline flush of a branch, and interrupts. test_cycles_llvm.py lists further omissions.
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
"""LLVM's model core, by core. There is none for M0, M0+ and M23."""

_TRIPLE = "thumbv8.1m.main-none-eabi"

_ITERATIONS = (10, 110)
"""The difference is a block's cycles, without the pipeline's filling and draining."""

_KNOWN = ("nop",)
"""A block besides: llvm-mca fails where it knows no instruction at all."""

_ENDS_OF_LOOPS = {"le", "letp"}
"""An instruction missing in a model counts one cycle. These are exceptions: they cost none in a
loop after its first iteration.
"""

_LACKING = re.compile(r"^note: instruction:\s+([a-z0-9]+)", re.MULTILINE)
_CODE = re.compile(r"^ *([0-9a-f]+):[ \t]+(\S.*)$", re.MULTILINE)
_TARGET = re.compile(r"\b0x([0-9a-f]+) <.*>")
_NAME = re.compile(r" <.*>$")
"""Symbol name after a distance: `adr r2, #4 <main+0x8>`."""
_COMMENT = re.compile(r"\s*@.*$")
_CONDITION = "(eq|ne|[hc]s|lo|cc|mi|pl|v[sc]|hi|l[st]|g[et]|le)"
_JUMP = re.compile(
    f"((b|bl|bx|blx|bxns|blxns){_CONDITION}?|cbn?z|tb[bh]|le|letp|wls|wlstp|udf|svc|bkpt)$"
)
_INTO_PC = re.compile(r"pc\b|.*\{.*\bpc\}")


class CyclesError(Exception):
    """Failed cycle estimate; the text gives the reason."""


@dataclass(frozen=True)
class Tools:
    """Programs of LLVM."""

    mca: Path
    objdump: Path

    @staticmethod
    def of_build() -> "Tools":
        """Return the tools provided by Bazel.

        Raises:
            CyclesError: the running target has none.
        """
        mca, objdump = runfile("llvm/llvm-mca"), runfile("llvm/llvm-objdump")
        if mca is None or objdump is None:
            raise CyclesError("this target lacks llvm-mca; use the target <image>.cycles")
        return Tools(mca, objdump)


@dataclass(frozen=True)
class Ran:
    """Executed block: its address, function, number of executions, and cycles of each."""

    address: int
    function: str
    block: Block
    times: int
    each: float

    @property
    def cycles(self) -> float:
        """Cycles of all executions."""
        return self.times * self.each


@dataclass(frozen=True)
class Code:
    """Instructions of a program.

    Attributes:
        text: by address, in assembly; branch targets are names.
        leaders: first addresses of blocks: branch targets, and the addresses after
            branches.
        following: the address of the next instruction.
    """

    text: dict[int, str]
    leaders: frozenset[int]
    following: dict[int, int]

    @staticmethod
    def of_listing(listing: str) -> "Code":
        """Read the output of llvm-objdump."""
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
        """Return the executed blocks: address, instructions, and number of executions.

        Args:
            at: executions by address. A block also begins if they differ from those of the
                instruction before: it is the target of a branch table.

        Raises:
            CyclesError: an executed address is not in the listing.
        """
        if unknown := at.keys() - self.text.keys():
            raise CyclesError(
                f"the program ran code at {min(unknown):#x} that its file does not contain. Code "
                "written at run time has no estimate"
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
    """Return True if the next executed instruction may be another than the following one."""
    operands = "".join(instruction.split(None, 1)[1:])
    return bool(_JUMP.match(_mnemonic(instruction)) or _INTO_PC.match(operands))


def model_of(core: str) -> str:
    """Return the core of LLVM's model for a core.

    Raises:
        CyclesError: there is none.
    """
    if _plain(core) not in MODELS:
        raise CyclesError(f"LLVM cannot estimate cycles for {core}, only for {', '.join(MODELS)}")
    return MODELS[_plain(core)]


def estimate(
    elf: Path, core: str, parts: Sequence[Counter[int]], tools: Tools | None = None
) -> list[list[Ran]]:
    """Return the executed blocks of each part of a run, with their cycles.

    Args:
        elf: the program.
        core: GCC's name of it.
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
    """Return the cycles of each block in repeated execution."""
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
    """Return cycles by block number, and the instructions missing in the model."""
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
    """Return a core without the suffix of a variant: cortex-m33+nofp is a cortex-m33."""
    return core.split("+")[0]


def _mnemonic(instruction: str) -> str:
    """Return an instruction's mnemonic without width and type."""
    return re.split(r"[.\s]", instruction)[0]
