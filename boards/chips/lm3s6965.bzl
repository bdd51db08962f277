# SPDX-License-Identifier: Apache-2.0
"""TI (Luminary Micro) Stellaris LM3S6965 with a crystal of 8 MHz: a Cortex-M3."""

load("//boards:board.bzl", "KB", "MHZ", "STELLARIS_UART", "chip", "flash", "ram")

LM3S6965 = chip(
    core = "cortex-m3",
    memories = [
        flash("flash", 0x00000000, 256 * KB),
        ram("sram", 0x20000000, 64 * KB),
    ],
    code = "flash",
    data = "sram",
    arena = ["sram"],
    uart_driver = STELLARIS_UART,
    uarts = {
        "uart0": 0x4000c000,
        "uart1": 0x4000d000,
        "uart2": 0x4000e000,
    },
    clock_hz = 8 * MHZ,
    init = Label("//boards/chips:lm3s6965_init"),
)
