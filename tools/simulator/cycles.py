# SPDX-License-Identifier: Apache-2.0
"""Estimated cycles of a run on a core: executions counted by QEMU, times cycles from a model.

Cores that start one instruction at a time have a table of events (tools/simulator/timing.py).
Others have LLVM's model of the core. Measurements of known code on chips correct both models
(tools/simulator/silicon.py).

llvm-mca gives a block's cycles for repeated execution, like in an inner loop; the same figure is
used for other blocks. Its models include waits for results, busy units, and instructions started
together. They exclude memory wait states, the pipeline flush of a branch, and interrupts.
test_cycles_llvm.py lists further omissions.
"""

import json
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.python.runfile import runfile
from tools.simulator.blocks import Block, Code, CyclesError, mnemonic
from tools.simulator.counts import Region
from tools.simulator.elf import Elf
from tools.simulator.silicon import Calibration
from tools.simulator.timing import TABLES, WIDENING, cycles_by_address, plain_core, widens

MODELS = ("cortex-m7", "cortex-m52", "cortex-m55", "cortex-m85")
"""Cores with LLVM's model. M52 has M55's. The other cores with estimates have a table."""

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


@dataclass(frozen=True)
class CycleTools:
    """Programs that read code: objdump, and LLVM's for cores without a table."""

    objdump: Path
    mca: Path | None = None

    @staticmethod
    def of_build(core: str) -> "CycleTools":
        """Return the tools provided by Bazel for a core.

        Raises:
            CyclesError: the running target has none.
        """
        if has_table(core):
            objdump = runfile("arm_gnu_toolchain/bin/arm-none-eabi-objdump")
            if objdump is None:
                raise CyclesError("arm-none-eabi-objdump is missing; start this with Bazel")
            return CycleTools(objdump)
        mca, objdump = runfile("llvm/llvm-mca"), runfile("llvm/llvm-objdump")
        if mca is None or objdump is None:
            raise CyclesError("this target lacks llvm-mca; use the target <image>.cycles")
        return CycleTools(objdump, mca)


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


def has_table(core: str) -> bool:
    """Return True if a core's cycles need no LLVM."""
    return plain_core(core) in TABLES


def check_core(core: str) -> None:
    """Check that cycles of a core can be estimated.

    Raises:
        CyclesError: it has neither a table nor a model.
    """
    known = sorted({*TABLES, *MODELS})
    if plain_core(core) not in known:
        raise CyclesError(f"no model estimates cycles for {core}, only for {', '.join(known)}")


def estimate(
    elf: Path,
    core: str,
    regions: Sequence[Region],
    measured: Calibration,
    tools: CycleTools | None = None,
) -> list[list[Ran]]:
    """Return the executed blocks of each region, with their cycles.

    Args:
        elf: the program.
        core: GCC's name of it.
        regions: executions and reads of flash by address.
        measured: correction of the core's model.
        tools: those of the build, if not given.

    Raises:
        CyclesError: there is no model of the core, or LLVM failed.
    """
    check_core(core)
    tools = tools or CycleTools.of_build(core)
    arguments = ["--disassemble", "--no-show-raw-insn", str(elf)]
    arguments += [] if tools.mca is None else [f"--mcpu={plain_core(core)}"]
    code = Code.of_listing(_run(tools.objdump, arguments).stdout)
    names = Elf(elf)
    blocks = [code.blocks(region.at) for region in regions]
    if has_table(core):
        each = [
            _by_table(code, region, part, measured)
            for region, part in zip(regions, blocks, strict=True)
        ]
    else:
        known = cycles_of_blocks({block for part in blocks for _, block, _ in part}, core, tools)
        wide = measured.table.get(WIDENING, 0)
        each = [
            {
                address: (known[block] + wide * sum(map(widens, block))) * measured.factor
                for address, block, _ in part
            }
            for part in blocks
        ]
    return [
        [
            Ran(address, function.name if function else "?", block, times, cycles[address])
            for address, block, times in part
            for function in [names.function_at(address)]
        ]
        for part, cycles in zip(blocks, each, strict=True)
    ]


def _by_table(
    code: Code, region: Region, blocks: Sequence[tuple[int, Block, int]], measured: Calibration
) -> dict[int, float]:
    """Return the mean cycles of each block by the core's table, by the block's address."""
    cycles = cycles_by_address(code, region.at, region.loads, measured.table)
    found = {}
    for first, block, times in blocks:
        address, total = first, 0.0
        for _ in block:
            total += cycles[address]
            address = code.following.get(address, -1)
        found[first] = total * measured.factor / times
    return found


def cycles_of_blocks(
    blocks: Iterable[Block], core: str, tools: CycleTools
) -> Mapping[Block, float]:
    """Return the cycles of each block in repeated execution, by LLVM's model."""
    ordered = sorted(blocks)
    source = "".join(
        f"# LLVM-MCA-BEGIN {number}\n" + "\n".join(block) + "\n# LLVM-MCA-END\n"
        for number, block in enumerate([*ordered, _KNOWN])
    )
    (few, lacking), (many, _) = (_total_cycles(source, core, n, tools) for n in _ITERATIONS)
    between = _ITERATIONS[1] - _ITERATIONS[0]
    return {
        block: (many.get(str(number), 0) - few.get(str(number), 0)) / between
        + sum(mnemonic(instruction) in lacking - _ENDS_OF_LOOPS for instruction in block)
        for number, block in enumerate(ordered)
    }


def _total_cycles(
    source: str, core: str, iterations: int, tools: CycleTools
) -> tuple[dict[str, int], set[str]]:
    """Return cycles by block number, and the instructions missing in the model."""
    arguments = [f"-mtriple={_TRIPLE}", f"-mcpu={plain_core(core)}", f"-iterations={iterations}"]
    arguments += ["-call-latency=0", "-skip-unsupported-instructions=lack-sched", "--json", "-"]
    assert tools.mca is not None
    done = _run(tools.mca, arguments, source)
    regions = json.loads(done.stdout)["CodeRegions"]
    cycles = {region["Name"]: region["SummaryView"]["TotalCycles"] for region in regions}
    return cycles, set(_LACKING.findall(done.stderr))


def _run(program: Path, arguments: list[str], text: str = "") -> "subprocess.CompletedProcess[str]":
    done = subprocess.run([program, *arguments], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise CyclesError(f"{program.name} failed: {done.stderr.strip()}")
    return done
