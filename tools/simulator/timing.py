# SPDX-License-Identifier: Apache-2.0
"""Cycles of executed instructions by a table for the core, from counts by address.

An instruction takes one cycle. Events add cycles: a load, a word of LDM, a taken branch. The tables
follow Arm's technical reference manuals. Manuals leave some entries open, or give a range: these
were chosen to fit the measurements in silicon.json (tools/simulator/silicon.py). Cores with LLVM's
model may have a table of events that the model makes too fast.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from tools.simulator.blocks import CONDITION, Code, is_jump, mnemonic

Table = Mapping[str, float]
"""Cycles that each event adds, by its name. Events without an entry add none."""

LOAD = "load"  # one value, not right behind another load or a store
LOAD_BEHIND = "load_behind"
WAIT = "wait"  # of the next instruction, which reads the loaded value
STORE = "store"
WORD = "word"  # of an instruction that loads or stores several, or an FPU register
TAKEN = "taken"  # branch
ACCUMULATE = "accumulate"
LONG_PRODUCT = "long_product"
DIVISION = "division"
ROOT = "root"  # and quotients of the FPU
WIDENING = "widening"  # Helium access to values in memory that are narrower than the lanes
FLASH = "flash"  # access that reads flash; a chip's own figure, not a core's

TABLES: dict[str, Table] = {
    "cortex-m0": {LOAD: 1, LOAD_BEHIND: 1, STORE: 1, WORD: 1, TAKEN: 2},
    "cortex-m0plus": {LOAD: 1, LOAD_BEHIND: 1, STORE: 1, WORD: 1, TAKEN: 1},
    "cortex-m3": {LOAD: 1, WORD: 1, TAKEN: 2, ACCUMULATE: 1, LONG_PRODUCT: 3, DIVISION: 6},
    "cortex-m4": {LOAD: 1, WAIT: 1, WORD: 1, TAKEN: 3, DIVISION: 6, ROOT: 13},
    "cortex-m33": {LOAD: 0.5, WAIT: 1, WORD: 1, TAKEN: 3, DIVISION: 6, ROOT: 13},
}
"""By core."""

BESIDE_LLVM: dict[str, Table] = {"cortex-m55": {WIDENING: 2}}
"""Events to add to the cycles of LLVM's model, by core."""

LLVM = "llvm_mca"
"""Cycles by LLVM's model in work(), in place of one for each instruction."""

_LOADS = re.compile(f"(ldr|ldrs?[bh]|ldrt){CONDITION}?$")
_STORES = re.compile(f"(str|str[bh]|strt){CONDITION}?$")
_SEVERAL = re.compile(
    f"((v?ldm|v?stm|v?pop|v?push)(ia|db|ea|fd)?|ldrd|strd|vldr|vstr){CONDITION}?$"
)
_ACCUMULATES = re.compile(f"ml[as]{CONDITION}?$")
_LONG = re.compile(f"[us]ml?[ua]l?l{CONDITION}?$")
_DIVISIONS = re.compile(f"[us]div{CONDITION}?$")
_ROOTS = re.compile(f"v(div|sqrt){CONDITION}?$")
_CONDITIONAL = re.compile(f"(b|bx|pop|ldm|ldr){CONDITION}$|cbn?z$")
_WIDENS = re.compile(r"v(ldr|str)(b\.[su]?(16|32)|h\.[su]?32)\b")
_NO_BRANCH = {"udf", "svc", "bkpt"}

_RANGE = re.compile(r"([a-z]+)(\d+)\s*-\s*[a-z]+(\d+)")
_DOUBLE = re.compile(r"\{?d\d")

_MOVES = re.compile("v?(mov|mvn|neg|abs|ldr|cvt|sqrt)|[us]xt|rev|clz|rbit|adr")
"""Instructions of two operands that only write the first."""
_READS_ALL = re.compile("v?(str|stm|push|cmp)|vfm[as]|vml[as]|cmn|tst|teq|cb|movt|bfi|blx|bx")
"""Instructions that read their first operand, too."""
_WRITES_TWO = re.compile("ldrd|[us]mull")


def events(code: Code, at: Mapping[int, int]) -> Iterator[tuple[int, str, int]]:
    """Yield address, event and count for all executed instructions.

    Args:
        code: the program.
        at: executions by address.
    """
    before = {following: address for address, following in code.following.items()}
    for address, times in at.items():
        text = code.text[address]
        name, operands = mnemonic(text), "".join(text.split(None, 1)[1:])
        following = code.following.get(address, -1)
        if taken := _taken(name, text, times, at.get(following, 0)):
            yield address, TAKEN, taken
        if _SEVERAL.match(name):
            yield address, WORD, times * _words(name, operands)
        elif _STORES.match(name):
            yield address, STORE, times
        elif _LOADS.match(name):
            behind = _is_behind(code, at, before.get(address, -1), address)
            yield address, LOAD_BEHIND if behind else LOAD, times
            register = operands.split(",")[0].strip()
            if at.get(following) and reads(code.text[following], register):
                yield address, WAIT, min(times, at[following])
        elif _ACCUMULATES.match(name):
            yield address, ACCUMULATE, times
        elif _LONG.match(name):
            yield address, LONG_PRODUCT, times
        elif _DIVISIONS.match(name):
            yield address, DIVISION, times
        elif _ROOTS.match(name):
            yield address, ROOT, times


def work(code: Code, at: Mapping[int, int], loads: Mapping[int, int]) -> dict[str, int]:
    """Return the numbers of instructions, events and reads of flash: all that a table needs."""
    found = Counter({"instructions": sum(at.values()), FLASH: sum(loads.values())})
    for _, event, times in events(code, at):
        found[event] += times
    return {event: times for event, times in sorted(found.items()) if times}


def cycles_of_work(done: Mapping[str, int], table: Table) -> float:
    """Return the cycles of work() by a table, or by LLVM's model and a table."""
    extra = sum(table.get(event, 0) * times for event, times in done.items())
    return done.get(LLVM, done["instructions"]) + extra


def cycles_by_address(
    code: Code, at: Mapping[int, int], loads: Mapping[int, int], table: Table
) -> dict[int, float]:
    """Return the cycles of all executions of each address; their sum is that of the work."""
    found = {address: times + 0.0 for address, times in at.items()}
    for address, event, times in events(code, at):
        found[address] += table.get(event, 0) * times
    for address, times in loads.items():
        found[address] += table.get(FLASH, 0) * times
    return found


def widens(instruction: str) -> bool:
    """Return True for the event WIDENING."""
    return bool(_WIDENS.match(instruction))


def reads(instruction: str, register: str) -> bool:
    """Return True if an instruction reads a register."""
    name, operands = mnemonic(instruction), "".join(instruction.split(None, 1)[1:])
    others = operands.partition(",")[2]
    if _WRITES_TWO.match(name):
        others = others.partition(",")[2]
    only_two = "," not in re.sub(r"\[.*?\]", "", others)
    if _READS_ALL.match(name) or (others and only_two and not _MOVES.match(name)):
        others = operands
    return bool(re.search(rf"\b{re.escape(register)}\b", others))


def _taken(name: str, text: str, times: int, stayed: int) -> int:
    """Return how often an instruction jumped, from executions of the following instruction. Other
    ways to it hide jumps.
    """
    if not is_jump(text) or name in _NO_BRANCH:
        return 0
    return max(0, times - stayed) if _CONDITIONAL.match(name) else times


def _is_behind(code: Code, at: Mapping[int, int], before: int, address: int) -> bool:
    """Return True if an instruction always runs right behind a load or store."""
    if before not in code.text or address in code.leaders or at.get(before) != at[address]:
        return False
    name = mnemonic(code.text[before])
    return bool(_LOADS.match(name) or _STORES.match(name))


def _words(name: str, operands: str) -> int:
    """Return the number of 32-bit words an instruction loads or stores."""
    if "{" not in operands:
        return 2 if name.startswith(("ldrd", "strd")) or _DOUBLE.match(operands) else 1
    listed = operands[operands.index("{") : operands.index("}")]
    count = sum(
        int(found[3]) - int(found[2]) + 1 if (found := _RANGE.search(part)) else 1
        for part in listed.split(",")
    )
    return count * (2 if _DOUBLE.match(listed) else 1)


def plain_core(core: str) -> str:
    """Return a core without the suffix of a variant: cortex-m33+nofp is a cortex-m33."""
    return core.split("+")[0]
