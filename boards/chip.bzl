# SPDX-License-Identifier: Apache-2.0
"""`chip` and its memories: one description for all boards with the chip."""

KB = 1024
MB = 1024 * 1024

def flash(name, base, size, write = 4):
    """Describes a memory that holds the image, or that a loader fills before the start.

    Args:
      name: name of the memory.
      base: its first address.
      size: its bytes.
      write: bytes of its smallest write. Images for a slot of MCUboot are signed for it.
    """
    return {"name": name, "base": base, "size": size, "kind": "flash", "write": write}

def ram(name, base, size):
    """Describes a memory with undefined initial contents."""
    return {"name": name, "base": base, "size": size, "kind": "ram"}

def boot_header(library, size):
    """Describes data for the chip's ROM.

    Args:
      library: cc_library with a constant in the section `.boot_header`.
      size: bytes of the constant. It starts the code, and the vector table follows it.
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
    """Describes a chip for all boards with it (boards/chips).

    Args:
      core: name as for -mcpu.
      memories: list of flash() and ram().
      code: name of the memory for code and constants. It holds the boot header and the vector table.
      data: name of the memory for stacks and variables.
      arena: names of memories for activations and scratch, the best first. Stacks and variables in
        `data` are not part of the arena.
      uart_driver: uart_driver(), the kind of its UARTs.
      uarts: dict of base addresses by name.
      clock_hz: clock of the UARTs when main starts, a number or a dict by UART.
      max_clock: clock() for boards with clock = "max". None: no faster one. A text: the reason why
        programs cannot set it.
      timer: systick() or another periodic_timer(). None: programs bring their own.
      irqs: dict of interrupt numbers by CMSIS name. TIMER0 calls TIMER0_IRQHandler.
      weights: name of the memory for constants of models. The default is `code`.
      npu: ethos_u(), or None.
      engines: list of engine(), for delegates in addition to the NPU.
      boot_header: boot_header(). None: the core starts from the vector table.
      init: cc_library with pl_chip_init (boards/common/chip.h), or None.
      writes: list of write(), set_bits(), set_field() and wait_for(), in this order before all else:
        clocks, wait states, pins, memories that are off.
      flash_method: list of pyocd() and others, the best first. Empty: copy images by hand. The first
        installed tool writes images.

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
