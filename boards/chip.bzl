# SPDX-License-Identifier: Apache-2.0
"""`chip` and its memories, once for all boards that have it."""

KB = 1024
MB = 1024 * 1024

def flash(name, base, size, write = 4):
    """A memory that keeps the image, or that a loader fills before the start.

    Args:
      name: of the memory.
      base: its first address.
      size: bytes.
      write: the fewest bytes that it can be written with, which images for a slot of MCUboot are signed for.
    """
    return {"name": name, "base": base, "size": size, "kind": "flash", "write": write}

def ram(name, base, size):
    """A memory that starts with undefined contents."""
    return {"name": name, "base": base, "size": size, "kind": "ram"}

def boot_header(library, size):
    """What a chip's ROM reads before it starts the program.

    Args:
      library: cc_library with a constant in the section `.boot_header`.
      size: its bytes. It leads the code, and the vector table follows it.
    """
    return struct(library = library, size = size)

def chip(
        core,
        memories,
        code,
        data,
        arena,
        uart_driver,
        uarts,
        clock_hz,
        max_clock = None,
        timer = None,
        irqs = {},
        weights = None,
        npu = None,
        engines = [],
        boot_header = None,
        init = None,
        writes = [],
        flash_method = []):
    """Describes a chip, once for all boards that have it (boards/chips).

    Args:
      core: as -mcpu names it.
      memories: list of flash() and ram().
      code: name of the memory for code and constants; it holds the boot header, if there is one,
        and the vector table.
      data: name of the memory for stacks and variables.
      arena: names of memories for activations and scratch, the best first. What stacks and
        variables take of `data` is not part of the arena.
      uart_driver: uart_driver(), the kind of its UARTs.
      uarts: dict of their base addresses by name.
      clock_hz: what UARTs are clocked with when main starts, a number or a dict by UART.
      max_clock: clock() that boards may have instead, None if there is no faster one; a text that says
        why, where the chip is faster than programs can make it.
      timer: systick() or another periodic_timer(), None if programs bring their own.
      irqs: dict of interrupt numbers by name, as CMSIS has them: TIMER0 calls TIMER0_Handler.
      weights: name of the memory for constants of models; `code` if not given.
      npu: ethos_u(), None if there is none.
      engines: list of engine(), what runs delegates beside the NPU.
      boot_header: boot_header(), None if the core starts from the vector table.
      init: cc_library with pl_chip_init (boards/common/chip.h), None if nothing has to be done.
      writes: list of write(), set_bits(), set_field() and wait_for(), in this order before all else:
        clocks, wait states, pins, memories that are off.
      flash_method: list of pyocd() and its like, the best first; empty if an image is copied by
        hand. Images are written by the first that is installed.

    Returns:
      A struct for board().
    """
    return struct(
        core = core,
        memories = memories,
        code = code,
        data = data,
        arena = arena,
        uart_driver = uart_driver,
        uarts = uarts,
        clock_hz = clock_hz,
        max_clock = max_clock,
        timer = timer,
        irqs = irqs,
        weights = weights,
        npu = npu,
        engines = engines,
        boot_header = boot_header,
        init = init,
        writes = writes,
        flash_method = flash_method,
    )
