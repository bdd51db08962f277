# SPDX-License-Identifier: Apache-2.0
"""Clocks of a chip, and the timers that count them."""

MHZ = 1000 * 1000

def periodic_timer(library, handler, clock_hz, base = 0):
    """Describes a timer that calls a program regularly (boards/common/timer.h).

    Args:
      library: cc_library that implements boards/common/timer.h.
      handler: name of its interrupt: one of the chip's `irqs`, or SysTick.
      clock_hz: its clock when main starts.
      base: address of its registers.
    """
    return struct(library = library, handler = handler, clock_hz = clock_hz, base = base)

def systick(clock_hz):
    """The core's own timer, with the core's clock."""
    return periodic_timer(Label("//boards/common:timer_systick"), "SysTick", clock_hz)

def nrf_timer(name, base):
    """Selects a TIMER of Nordic's nRF51 and nRF52. Their cores or simulators may lack SysTick."""
    return periodic_timer(Label("//boards/common:timer_nrf"), name, 16 * MHZ, base)

def clock(core_hz, uart_hz, writes = [], init = None):
    """Describes the `max_clock` of a chip.

    Args:
      core_hz: clock of the core.
      uart_hz: clock of the UARTs, a number or a dict by UART.
      writes: writes that start it, after the chip's `writes`.
      init: a library in place of the chip's `init`, if writes are not enough.
    """
    return struct(core_hz = core_hz, uart_hz = uart_hz, writes = writes, init = init)

def with_clock(board, chip, name):
    """Returns a chip with the clock used by a board.

    Args:
      board: the board's name.
      chip: chip().
      name: "reset" or "max".

    Returns:
      The same, or with other clocks and the code that starts them.
    """
    if name == "reset":
        return chip
    if name == "max" and type(chip.max_clock) == "string":
        fail("board %s: no clock max: %s" % (board, chip.max_clock))
    if name != "max" or not chip.max_clock:
        fail("board %s: no clock %s; there is %s" % (
            board,
            name,
            "reset, and max" if chip.max_clock and type(chip.max_clock) != "string" else "reset alone, as its chip has no max_clock (boards/README.md)",
        ))
    faster = chip.max_clock
    timer = chip.timer
    if timer and timer.handler == "SysTick":
        timer = systick(faster.core_hz)

    # Structs of a workspace without our flags have two functions as well.
    fields = {key: getattr(chip, key) for key in dir(chip) if key not in ["to_json", "to_proto"]}
    return struct(**(fields | {
        "clock_hz": faster.uart_hz,
        "init": faster.init or chip.init,
        "timer": timer,
        "writes": chip.writes + faster.writes,
    }))
