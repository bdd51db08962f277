# SPDX-License-Identifier: Apache-2.0
"""Renesas RA8M1 (R7FA8M1AH): a Cortex-M85 with Helium and double precision FPU."""

load("//boards:board.bzl", "KB", "MHZ", "chip", "clock", "flash", "jlink", "ra_sci", "ram", "systick")

# The chip runs secure, as after reset. Core, buses and UARTs run from the crystal of 20 MHz: the
# initial oscillator is too inexact for a UART. The core's own memories stay unused, because their
# ECC requires a write before each first read. The program selects a device interrupt for each of
# the 96 lines (IELSR).
RA8M1 = chip(
    core = "cortex-m85",
    memories = [
        flash("flash", 0x02000000, 2016 * KB, write = 128),
        ram("sram", 0x22000000, 896 * KB),
    ],
    code = "flash",
    data = "sram",
    arena = ["sram"],
    uart_driver = ra_sci(),
    uarts = {"sci9": 0x40358900},
    clock_hz = 20 * MHZ,
    max_clock = clock(
        core_hz = 480 * MHZ,
        init = Label("//boards/chips:ra8m1_max_init"),
        uart_hz = 20 * MHZ,
    ),
    timer = systick(20 * MHZ),
    irqs = {
        "IEL%d" % line: line
        for line in range(96)
    },
    init = Label("//boards/chips:ra8m1_init"),
    flash_method = [jlink("R7FA8M1AH")],
)
