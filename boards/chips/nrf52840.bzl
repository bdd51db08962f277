# SPDX-License-Identifier: Apache-2.0
"""Nordic nRF52840: a Cortex-M4 with FPU."""

load("//boards:board.bzl", "KB", "MB", "MHZ", "NRF_UART", "chip", "flash", "jlink", "openocd", "pyocd", "ram", "systick")
load("//boards/chips:nrf_irqs.bzl", "NRF52_IRQS")

# The chip runs from its internal oscillator, as after reset. UART0 is the same as in nRF51.
NRF52840 = chip(
    core = "cortex-m4",
    memories = [
        flash("flash", 0x00000000, 1 * MB),
        ram("ram", 0x20000000, 256 * KB),
    ],
    code = "flash",
    data = "ram",
    arena = ["ram"],
    uart_driver = NRF_UART,
    uarts = {"uart0": 0x40002000},
    clock_hz = 16 * MHZ,
    timer = systick(64 * MHZ),
    init = Label("//boards/chips:nrf52_init"),
    irqs = NRF52_IRQS | {
        "USBD": 39,
        "UARTE1": 40,
        "QSPI": 41,
        "CRYPTOCELL": 42,
        "PWM3": 45,
        "SPIM3": 47,
    },
    flash_method = [
        pyocd("nrf52840"),
        openocd("interface/cmsis-dap.cfg", "target/nrf52.cfg"),
        jlink("nRF52840_xxAA"),
    ],
)
