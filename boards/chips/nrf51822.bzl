# SPDX-License-Identifier: Apache-2.0
"""Nordic nRF51822, the variant with 16 KB of RAM: a Cortex-M0."""

load("//boards:board.bzl", "KB", "MHZ", "NRF_UART", "chip", "flash", "jlink", "nrf_timer", "openocd", "pyocd", "ram")

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
    timer = nrf_timer("TIMER0", 0x40008000),
    irqs = {
        "POWER_CLOCK": 0,
        "RADIO": 1,
        "UART0": 2,
        "SPI0_TWI0": 3,
        "SPI1_TWI1": 4,
        "GPIOTE": 6,
        "ADC": 7,
        "TIMER0": 8,
        "TIMER1": 9,
        "TIMER2": 10,
        "RTC0": 11,
        "TEMP": 12,
        "RNG": 13,
        "ECB": 14,
        "CCM_AAR": 15,
        "WDT": 16,
        "RTC1": 17,
        "QDEC": 18,
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
