# SPDX-License-Identifier: Apache-2.0
"""Nordic nRF52832: a Cortex-M4 with FPU."""

load("//boards:board.bzl", "KB", "MHZ", "NRF_UART", "chip", "flash", "jlink", "openocd", "pyocd", "ram", "systick")
load("//boards/chips:nrf_irqs.bzl", "NRF52_IRQS")

# The chip runs from its internal oscillator, as after reset. UART0 is the same as in nRF51.
NRF52832 = chip(
    core = "cortex-m4",
    memories = [
        flash("flash", 0x00000000, 512 * KB),
        ram("ram", 0x20000000, 64 * KB),
    ],
    code = "flash",
    data = "ram",
    arena = ["ram"],
    uart_driver = NRF_UART,
    uarts = {"uart0": 0x40002000},
    clock_hz = 16 * MHZ,
    timer = systick(64 * MHZ),
    init = Label("//boards/chips:nrf52_init"),
    irqs = NRF52_IRQS,
    flash_method = [
        pyocd("nrf52"),
        openocd("interface/cmsis-dap.cfg", "target/nrf52.cfg"),
        jlink("nRF52832_xxAA"),
    ],
)
