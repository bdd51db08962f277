# SPDX-License-Identifier: Apache-2.0
"""Writes a board's linker script from its data.

    linker_script board.json output.ld

Every input section has its place. Link with --orphan-handling=error, so an unknown section stops
the build. The data memory starts with the program's stack, which grows down. If the stack
overflows, it leaves the memory and does not reach variables. The exception handlers' stack, the
heap, variables with a value, the arena, and variables that start as 0 follow.

Memories have no end here: tools/image/fit.py finds the overflow and can list the sizes and their
owners. Sections may then overlap: link with --no-check-sections, and run that tool.
"""

import itertools
import sys
from pathlib import Path

from boards.board import Board, Memory, Timer, Write, load_board

_END = (1 << 32) - 1  # of the address space

# Models' constants come first: `.rodata.*` below would match them too. Vectors lead the code, at
# the core's boot address, or follow the header the chip's ROM reads.
_CODE = """\
  .boot_header : {{
    KEEP(*(.boot_header))
  }} > {code}

  .vectors : ALIGN({vectors_alignment}) {{
    KEEP(*(.vectors))
{handlers}  }} > {code}

  .pl_weights : ALIGN(16) {{
    *(.rodata.pl_weights .rodata.pl_weights.*)
    . = ALIGN(4);
  }} > {weights}

  .text : ALIGN(8) {{
    *(.text .text.*)
    *(.glue_7 .glue_7t .vfp11_veneer .v4_bx .stm32l4xx_veneer .iplt .gnu.sgstubs)
    . = ALIGN(4);
  }} > {code}

  .rodata : ALIGN(16) {{
    pl_link_writes_start = .;
{writes}    pl_link_writes_end = .;
    pl_link_rams_start = .;
{rams}    pl_link_rams_end = .;
    . = ALIGN(16);
    *(.rodata .rodata.*)
    . = ALIGN(4);
  }} > {code}

  .init_array : ALIGN(4) {{
    pl_link_constructors_start = .;
    KEEP(*(.preinit_array .preinit_array.*))
    KEEP(*(SORT_BY_INIT_PRIORITY(.init_array.*)))
    KEEP(*(.init_array))
    pl_link_constructors_end = .;
  }} > {code}

  pl_arenas : ALIGN(4) {{
    __start_pl_arenas = .;
    *(pl_arenas)
    __stop_pl_arenas = .;
  }} > {code}
"""

_STACKS = """\
  .pl_stacks (NOLOAD) : ALIGN(16) {{
    pl_link_stack_limit = .;
    . += {stack};
    pl_link_stack_top = .;
    pl_link_handler_stack_limit = .;
    . += {handler_stack};
    pl_link_handler_stack_top = .;
  }} > {data}

  .pl_heap (NOLOAD) : ALIGN(16) {{
    pl_link_heap_start = .;
    . += {heap};
    pl_link_heap_end = .;
  }} > {data}
"""

# A table of addresses (.got) comes with objects compiled as position independent; it is data.
_DATA = """\
  .data : ALIGN(16) {{
    pl_link_data_start = .;
    *(.data .data.*)
    *(.got .got.*) *(.igot .igot.*)
    . = ALIGN(4);
    pl_link_data_end = .;
  }} > {data} AT > {code}
  pl_link_data_load = LOADADDR(.data);
"""

# Arenas come first: `.bss.*` would match them too. One memory has the arena shared by models, a
# common symbol of the plans' files (aot/plan/emit_c.py).
_ARENA = """\
  .bss.pl_arena.{pool} (NOLOAD) : ALIGN(16) {{
    *(.bss.pl_arena.{pool})
{shared}  }} > {pool}
"""
_SHARED = "    *.plan.o(COMMON)\n"

_BSS = """\
  .pl_arena_nowhere (NOLOAD) : {{
    *(.bss.pl_arena .bss.pl_arena.*)
  }} > {data}

  .bss (NOLOAD) : ALIGN(4) {{
    pl_link_bss_start = .;
    *(.bss .bss.* COMMON)
    . = ALIGN(4);
    pl_link_bss_end = .;
  }} > {data}
"""

_DEBUG = (
    *("abbrev", "addr", "aranges", "frame", "info", "line", "line_str", "loc", "loclists", "macro"),
    *("names", "pubnames", "pubtypes", "ranges", "rnglists", "str", "str_offsets", "types"),
)

_NOT_LOADED = """\
  .comment 0 : { *(.comment) }
  .ARM.attributes 0 : { *(.ARM.attributes) }

  /DISCARD/ : {
    *(.ARM.exidx .ARM.exidx.* .ARM.extab .ARM.extab.*)
    *(.note .note.*)
    *(.fini_array .fini_array.*)
    *(.rel.dyn .rel.got .rel.iplt .rel.plt)
  }
"""

_CHECKS = """ASSERT(SIZEOF(.boot_header) == {boot_header},
       "the boot header is not of the chip's {boot_header} bytes")
ASSERT(ADDR(.vectors) == ORIGIN({code}) + {boot_header},
       "the vector table is not where the core boots from")
ASSERT(pl_link_stack_top % 8 == 0, "the stack is not aligned to 8 bytes")
ASSERT(SIZEOF(.pl_arena_nowhere) == 0,
       "a section .bss.pl_arena.<memory> names none of the board's `arena` memories: {arena}")
"""


# Handlers from the third entry on, by CMSIS: `SysTick_Handler` for an exception of the core,
# `TIM2_IRQHandler` for an interrupt of the chip.
_CORE_EXCEPTIONS = (
    *("NMI", "HardFault", "MemManage", "BusFault", "UsageFault", "SecureFault", "", "", ""),
    *("SVC", "DebugMon", "", "PendSV", "SysTick"),
)

_DEFAULT_HANDLER = "pl_fault"

# Part numbers in the CPUID register: each core's Technical Reference Manual.
_PARTS = {
    "cortex-m0": 0xC20,
    "cortex-m0plus": 0xC60,
    "cortex-m1": 0xC21,
    "cortex-m3": 0xC23,
    "cortex-m4": 0xC24,
    "cortex-m7": 0xC27,
    "cortex-m23": 0xD20,
    "cortex-m33": 0xD21,
    "cortex-m52": 0xD24,
    "cortex-m55": 0xD22,
    "cortex-m85": 0xD23,
}


def handler_names(board: Board) -> tuple[tuple[str, ...], ...]:
    """Return the names that each vector's handler may have, the first form first.

    None for a vector without an interrupt.
    """
    devices = [""] * (max(board.irqs.values(), default=-1) + 1)
    for name, number in board.irqs.items():
        devices[number] = name
    return (
        *((f"{name}_Handler",) if name else () for name in _CORE_EXCEPTIONS),
        *((f"{name}_IRQHandler", f"{name}_Handler") if name else () for name in devices),
    )


def _vector(names: tuple[str, ...], is_core: bool) -> str:
    """Return one entry: the program's handler, or the default. Bit 0 marks Thumb code.

    Entries without an exception of the core are 0: ROMs of NXP's LPC55 read the image type there.
    """
    if is_core and not names:
        return "    LONG(0)\n"
    address = "".join(f"DEFINED({name}) ? {name} : " for name in names) + _DEFAULT_HANDLER
    return f"    LONG(({address}) | 1)\n"


def _write(write: Write) -> str:
    """Return three words (boards/common/startup.c).

    Registers are at even addresses, a wait at an odd one.
    """
    words = (write.address | write.wait, write.clear, write.set)
    return "".join(f"    LONG({word:#010x})\n" for word in words)


def _ram(memory: Memory) -> str:
    """Return two words of a RAM (boards/common/fault.c)."""
    if memory.kind != "ram":
        return ""
    return f"    LONG({memory.base:#010x})\n    LONG({memory.size:#010x})\n"


def memory_of(board: Board, section: str) -> Memory:
    """Return the memory of a section at run time."""
    names = {".pl_weights": board.weights}
    names |= dict.fromkeys(
        (".boot_header", ".vectors", ".text", ".rodata", ".init_array", "pl_arenas"), board.code
    )
    names |= dict.fromkeys((".pl_stacks", ".pl_heap", ".data", ".bss"), board.data)
    names |= {f".bss.pl_arena.{pool.name}": pool.name for pool in board.arena}
    return board.memory(names[section])


def linker_script(board: Board) -> str:
    """Return the text of the script for GNU ld."""
    names: dict[str, object] = {
        "code": board.code,
        "boot_header": board.boot_header,
        "weights": board.weights,
        "data": board.data,
        "stack": board.stack,
        "handler_stack": board.handler_stack,
        "heap": board.heap,
        "arena": ", ".join(pool.name for pool in board.arena),
    }
    rx_pin = board.console.rx_pin if board.console.kind == "uart" else 0
    timer = board.timer or Timer(0, 0, "")
    core, _, _ = board.core.partition("+")  # after the plus: parts missing in a variant
    access = {"flash": "rx", "ram": "rwx"}
    memories = "".join(
        f"  {m.name} ({access[m.kind]}) : ORIGIN = {m.base:#010x}, LENGTH = {_END - m.base:#x}\n"
        for m in board.memories
    )
    debug = "".join(f"  .debug_{name} 0 : {{ *(.debug_{name}) }}\n" for name in _DEBUG)
    handlers = handler_names(board)
    names |= {
        "vectors_alignment": board.vectors_alignment,
        "handlers": "".join(
            _vector(forms, index < len(_CORE_EXCEPTIONS)) for index, forms in enumerate(handlers)
        ),
        "writes": "".join(map(_write, board.writes)),
        "rams": "".join(map(_ram, board.memories)),
    }
    arenas = (
        _ARENA.format(pool=pool.name, shared=_SHARED if pool.name == board.shared_arena else "")
        for pool in board.arena
    )
    return "\n".join(
        [
            f"/* {board.description}. Generated from the board's data: do not edit. */",
            "ENTRY(pl_reset)",
            # Archives are searched for them, though no code calls them.
            f"EXTERN({' '.join([_DEFAULT_HANDLER, *itertools.chain(*handlers)])})",
            f"MEMORY {{\n{memories}}}",
            f"pl_link_core_part = {_PARTS[core]:#x};",
            f"pl_link_uart_base = {board.console.base:#010x};",
            f"pl_link_uart_baud = {board.console.baud:#x};",
            f"pl_link_uart_pin = {board.console.pin};",
            f"pl_link_uart_rx_pin = {rx_pin & 0xFFFFFFFF:#x};",
            f"pl_link_timer_base = {timer.base:#010x};",
            f"pl_link_timer_clock = {timer.clock_hz};",
            f"pl_link_timer_irq = {board.irqs.get(timer.handler, 0)};",
            "SECTIONS {",
            *(section.format(**names) for section in (_CODE, _STACKS, _DATA)),
            *arenas,
            _BSS.format(**names),
            debug + _NOT_LOADED + "}",
            _CHECKS.format(**names),
        ]
    )


def main(argv: list[str]) -> None:
    source, output = map(Path, argv[1:])
    output.write_text(linker_script(load_board(source)))


if __name__ == "__main__":
    main(sys.argv)
