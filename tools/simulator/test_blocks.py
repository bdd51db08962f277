# SPDX-License-Identifier: Apache-2.0
"""Blocks of a run."""

from collections import Counter

import pytest

from tools.simulator.blocks import Code, CyclesError, is_jump

# A loop of 0x104 to 0x108 with a way around 0x106, as llvm-objdump prints it.
_LISTING = """
app.elf:	file format elf32-littlearm

Disassembly of section .text:

00000100 <main>:
     100: 	movs	r0, #0x0
     102: 	ldr	r1, [pc, #0x8]          @ 0x10c <main+0xc>
     104: 	cbz	r1, 0x108 <main+0x8>
     106: 	adds	r0, #0x1
     108: 	subs	r1, #0x1
     10a: 	bne	0x104 <main+0x4>        @ imm = #-0xa
     10c: 	bx	lr
     10e: 	nop
     110: 	adr	r2, #4 <main+0x17>
"""


def test_blocks_end_at_branches_and_where_they_go() -> None:
    ran = Counter({0x100: 1, 0x102: 1, 0x104: 9, 0x106: 7, 0x108: 9, 0x10A: 9, 0x10C: 1})
    assert Code.of_listing(_LISTING).blocks(ran) == [
        (0x100, ("movs\tr0, #0x0", "ldr\tr1, [pc, #0x8]"), 1),
        (0x104, ("cbz\tr1, target",), 9),
        (0x106, ("adds\tr0, #0x1",), 7),
        (0x108, ("subs\tr1, #0x1", "bne\ttarget"), 9),
        (0x10C, ("bx\tlr",), 1),
    ]


def test_blocks_end_where_counts_change_and_code_was_left_out() -> None:
    code = Code.of_listing(_LISTING)
    ran = Counter({0x100: 2, 0x102: 3})
    assert [(a, times) for a, _, times in code.blocks(ran)] == [(0x100, 2), (0x102, 3)]
    ran = Counter({0x104: 3, 0x108: 3})
    assert [(a, len(block)) for a, block, _ in code.blocks(ran)] == [(0x104, 1), (0x108, 1)]
    assert code.blocks(Counter()) == []


def test_gnus_listing_has_the_same_blocks() -> None:
    gnus = _LISTING.replace("#0x", "#").replace("0x", "").replace("#8]  ", "#8]\t")
    ran = Counter({0x100: 1, 0x102: 1, 0x104: 9, 0x106: 7, 0x108: 9, 0x10A: 9, 0x10C: 1})
    blocks, others = (Code.of_listing(text).blocks(ran) for text in (gnus, _LISTING))
    assert [(at, len(block)) for at, block, _ in blocks] == [(a, len(b)) for a, b, _ in others]
    assert blocks[1][1] == ("cbz\tr1, target",)


def test_names_are_no_part_of_what_is_estimated() -> None:
    assert Code.of_listing(_LISTING).text[0x110] == "adr\tr2, #4"


def test_code_that_is_not_in_the_file() -> None:
    with pytest.raises(CyclesError, match="ran code at 0x20000000"):
        Code.of_listing(_LISTING).blocks(Counter({0x100: 1, 0x20000002: 1, 0x20000000: 1}))


@pytest.mark.parametrize(
    "instruction",
    ["b\tx", "b.w\tx", "bne.n\tx", "blt\tx", "bl\tx", "bx\tlr", "blx\tr3", "cbnz\tr0, x"]
    + ["tbb\t[pc, r0]", "le\tlr, x", "letp\tlr, x", "wls\tlr, r2, x", "wlstp.8\tlr, r2, x"]
    + ["pop\t{r4, pc}", "ldmia.w\tsp!, {r4, r5, pc}", "ldr\tpc, [r0]", "mov\tpc, r1"],
)
def test_jumps(instruction: str) -> None:
    assert is_jump(instruction)


@pytest.mark.parametrize(
    "instruction",
    ["bic\tr0, r1", "bfi\tr0, r1, #0x1, #0x2", "dlstp.8\tlr, r2", "ldr\tr0, [pc, #0x8]"]
    + ["push\t{r4, lr}", "pop\t{r4, r5}", "lsls\tr0, r1", "vldrb.u8\tq0, [r0]", "nop"],
)
def test_other_instructions(instruction: str) -> None:
    assert not is_jump(instruction)
