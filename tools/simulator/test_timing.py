# SPDX-License-Identifier: Apache-2.0
"""Events of executed instructions, and their cycles."""

from collections import Counter

import pytest

from tools.simulator.blocks import Code
from tools.simulator.timing import (
    TABLES,
    cycles_by_address,
    cycles_of_work,
    events,
    reads,
    widens,
    work,
)

# A loop of 0x102 to 0x10a, ten times, as llvm-objdump prints it.
_LISTING = """
     100: 	push	{r4, r5, r6, lr}
     102: 	ldr	r1, [r0], #4
     104: 	ldrsh.w	r2, [r3, #2]
     108: 	smlad	r4, r2, r1, r4
     10a: 	bne	0x102 <main+0x2>        @ imm = #-0xa
     10c: 	udiv	r4, r4, r5
     110: 	mla	r4, r4, r5, r4
     114: 	smull	r4, r5, r4, r5
     118: 	vdiv.f32	s0, s1, s2
     11c: 	vldr	d0, [r0]
     120: 	str	r4, [r0]
     122: 	pop	{r4, r5, r6, pc}
"""
_LOOP = (0x102, 0x104, 0x108, 0x10A)


def _ran() -> tuple[Code, Counter[int]]:
    code = Code.of_listing(_LISTING)
    return code, Counter({address: 10 if address in _LOOP else 1 for address in code.text})


def test_events() -> None:
    code, at = _ran()
    found: Counter[tuple[int, str]] = Counter()
    for address, event, times in events(code, at):
        found[address, event] += times
    assert found == {
        (0x100, "word"): 4,
        (0x102, "load"): 10,  # the loop jumps there, and the next instruction does not read r1
        (0x104, "load_behind"): 10,
        (0x104, "wait"): 10,
        (0x10A, "taken"): 9,
        (0x10C, "division"): 1,
        (0x110, "accumulate"): 1,
        (0x114, "long_product"): 1,
        (0x118, "root"): 1,
        (0x11C, "word"): 2,
        (0x120, "store"): 1,
        (0x122, "word"): 4,
        (0x122, "taken"): 1,
    }


@pytest.mark.parametrize(
    ("core", "cycles"),
    [
        ("cortex-m4", 48 + 10 + 10 + 10 + 3 * 10 + 6 + 13),
        ("cortex-m33", 48 + 5 + 10 + 10 + 3 * 10 + 6 + 13),
        ("cortex-m3", 48 + 10 + 10 + 2 * 10 + 6 + 1 + 3),
        ("cortex-m0", 48 + 20 + 10 + 1 + 2 * 10),
        ("cortex-m0plus", 48 + 20 + 10 + 1 + 10),
    ],
)
def test_cycles(core: str, cycles: float) -> None:
    code, at = _ran()
    loads = Counter({0x102: 10})
    assert cycles_of_work(work(code, at, loads), TABLES[core]) == cycles
    table = {**TABLES[core], "flash": 1.5}
    assert cycles_of_work(work(code, at, loads), table) == cycles + 15
    by_address = cycles_by_address(code, at, loads, table)
    assert sum(by_address.values()) == cycles + 15
    assert by_address[0x108] == 10


@pytest.mark.parametrize(
    ("instruction", "register"),
    [
        ("adds\tr0, #0x1", "r0"),
        ("add\tr0, r1, r2", "r2"),
        ("smlad\tr4, r2, r1, r4", "r4"),
        ("str\tr0, [r1]", "r0"),
        ("strb\tr2, [r1, r0]", "r0"),
        ("cmp\tr0, #0x0", "r0"),
        ("cbz\tr0, target", "r0"),
        ("vfma.f32\ts0, s1, s2", "s0"),
        ("ldr\tr1, [r0]", "r0"),
        ("uxtb\tr1, r0", "r0"),
        ("bx\tr0", "r0"),
    ],
)
def test_reads(instruction: str, register: str) -> None:
    assert reads(instruction, register)


@pytest.mark.parametrize(
    ("instruction", "register"),
    [
        ("add\tr0, r1, r2", "r0"),
        ("mov\tr0, r1", "r0"),
        ("ldr\tr0, [r1, #0x4]", "r0"),
        ("ldrd\tr1, r0, [r2]", "r0"),
        ("smull\tr1, r0, r2, r3", "r0"),
        ("mla\tr0, r1, r2, r3", "r0"),
        ("bic\tr0, r1, r2", "r0"),
        ("adds\tr10, #0x1", "r1"),
        ("vadd.f32\ts0, s1, s2", "s0"),
    ],
)
def test_reads_nothing_of_it(instruction: str, register: str) -> None:
    assert not reads(instruction, register)


def test_cycles_beside_llvms() -> None:
    done = {"instructions": 100, "llvm_mca": 120, "widening": 5}
    assert cycles_of_work(done, {"widening": 2}) == 130


def test_helium_accesses_that_widen() -> None:
    wide = ["vldrb.s32\tq0, [r0]", "vldrb.u16\tq0, [r0, q1]", "vstrb.32\tq0, [r0]"]
    assert all(map(widens, [*wide, "vldrh.s32\tq0, [r0]"]))
    plain = ["vldrb.u8\tq0, [r0]", "vldrh.u16\tq0, [r0]", "vldrw.u32\tq0, [r0]", "ldrb\tr0, [r1]"]
    assert not any(map(widens, plain))
