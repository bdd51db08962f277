# SPDX-License-Identifier: Apache-2.0
"""Nordic nRF51822, the variant with 16 KB of RAM: a Cortex-M0."""

load("//boards:board.bzl", "KB", "MHZ", "NRF_UART", "chip", "flash", "jlink", "nrf_timer", "openocd", "pyocd", "ram")
load("//boards/chips:nrf_irqs.bzl", "NRF_IRQS")

def nrf51822(flash_size, ram_size):
    """The chip with memories of these sizes."""
    return chip(
        core = "cortex-m0",
        memories = [
            flash("flash", 0x00000000, flash_size),
            ram("ram", 0x20000000, ram_size),
        ],
        code = "flash",
        data = "ram",
        arena = ["ram"],
        uart_driver = NRF_UART,
        uarts = {"uart0": 0x40002000},
        clock_hz = 16 * MHZ,
        timer = nrf_timer("TIMER0", 0x40008000),
        irqs = NRF_IRQS | {
            "UART0": 2,
            "SPI0_TWI0": 3,
            "SPI1_TWI1": 4,
            "ADC": 7,
            "LPCOMP": 19,
            "SWI0": 20,
            "SWI1": 21,
            "SWI2": 22,
            "SWI3": 23,
            "SWI4": 24,
            "SWI5": 25,
        },
        flash_method = [
            pyocd("nrf51"),
            openocd("interface/cmsis-dap.cfg", "target/nrf51.cfg"),
            jlink("nRF51822_xxAA"),
        ],
    )

NRF51822 = nrf51822(256 * KB, 16 * KB)
