# SPDX-License-Identifier: Apache-2.0
"""Nordic nRF51822, the variant with 16 KB of RAM: a Cortex-M0."""

load("//boards:board.bzl", "KB", "MHZ", "NRF_UART", "chip", "flash", "pyocd", "ram")

NRF51822 = chip(
    core = "cortex-m0",
    memories = [
        flash("flash", 0x00000000, 256 * KB),
        ram("ram", 0x20000000, 16 * KB),
    ],
    code = "flash",
    data = "ram",
    arena = ["ram"],
    uart_driver = NRF_UART,
    uarts = {"uart0": 0x40002000},
    clock_hz = 16 * MHZ,
    flash_method = pyocd("nrf51"),
)
