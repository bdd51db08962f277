# SPDX-License-Identifier: Apache-2.0
"""ST STM32F405, the variant with 1 MB of flash: a Cortex-M4 with FPU."""

load("//boards:board.bzl", "KB", "MB", "MHZ", "STM32F4_USART", "chip", "flash", "pyocd", "ram")

# It runs from its internal oscillator, as after reset.
STM32F405 = chip(
    core = "cortex-m4",
    memories = [
        flash("flash", 0x08000000, 1 * MB),
        ram("sram", 0x20000000, 128 * KB),
        ram("ccm", 0x10000000, 64 * KB),
    ],
    code = "flash",
    data = "sram",
    arena = ["sram", "ccm"],
    uart_driver = STM32F4_USART,
    uarts = {
        "usart1": 0x40011000,
        "usart2": 0x40004400,
        "usart3": 0x40004800,
        "uart4": 0x40004c00,
        "uart5": 0x40005000,
        "usart6": 0x40011400,
    },
    clock_hz = 16 * MHZ,
    flash_method = pyocd("stm32f405rgtx"),
)
