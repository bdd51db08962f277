# SPDX-License-Identifier: Apache-2.0
"""Analog Devices MAX78000: a Cortex-M4 with FPU. Its CNN accelerator and RISC-V core are left alone."""

load("//boards:board.bzl", "KB", "MHZ", "chip", "clock", "flash", "max_uart", "openocd", "pins", "ram", "set_bits", "set_field", "systick", "wait_for")

_GCR = 0x40000000
_CLKCTRL = _GCR + 0x08
_READY = 1 << 13

def _uart0(_uart, tx, rx):
    """Returns writes for the UART's clocks, oscillator, port, and the pins' first function."""
    gpio0 = 0x40008000
    mask = 0
    for pin in pins(tx, rx):
        mask |= 1 << pin
    return [
        set_field(_GCR + 0x24, 0, 1 << 9 | 1, 0),
        set_bits(_CLKCTRL, 1 << 20),
        wait_for(_CLKCTRL, 1 << 28, 1 << 28),
        set_field(gpio0 + 0x68, 0, mask, 0),
        set_field(gpio0 + 0x74, 0, mask, 0),
        set_field(gpio0, 0, mask, 0),
    ]

# The core runs from the oscillator of 60 MHz, as after reset, with its cache off. UARTs count the
# one of 7.3728 MHz, a multiple of all usual rates.
MAX78000 = chip(
    core = "cortex-m4",
    memories = [
        flash("flash", 0x10000000, 512 * KB, write = 16),
        ram("sram", 0x20000000, 128 * KB),
    ],
    code = "flash",
    data = "sram",
    arena = ["sram"],
    uart_driver = max_uart(_uart0),
    uarts = {"uart0": 0x40042000},
    clock_hz = 7372800,
    max_clock = clock(
        core_hz = 100 * MHZ,
        uart_hz = 7372800,
        writes = [
            set_field(_GCR + 0x28, 0, 7, 5),  # wait states of the flash memory
            set_bits(_CLKCTRL, 1 << 19),
            wait_for(_CLKCTRL, 1 << 27, 1 << 27),
            set_field(_CLKCTRL, 9, 7, 4),
            wait_for(_CLKCTRL, _READY, _READY),
        ],
    ),
    timer = systick(60 * MHZ),
    irqs = {
        "PF": 0,
        "WDT0": 1,
        "RTC": 3,
        "TRNG": 4,
        "TMR0": 5,
        "TMR1": 6,
        "TMR2": 7,
        "TMR3": 8,
        "TMR4": 9,
        "TMR5": 10,
        "I2C0": 13,
        "UART0": 14,
        "UART1": 15,
        "SPI1": 16,
        "ADC": 20,
        "FLC0": 23,
        "GPIO0": 24,
        "GPIO1": 25,
        "GPIO2": 26,
        "DMA0": 28,
        "DMA1": 29,
        "DMA2": 30,
        "DMA3": 31,
        "UART2": 34,
        "I2C1": 36,
        "WUT": 53,
        "GPIOWAKE": 54,
        "SPI0": 56,
        "WDT1": 57,
        "PT": 59,
        "I2C2": 62,
        "RISCV": 63,
        "OWM": 67,
        "ECC": 82,
        "DVS": 83,
        "SIMO": 84,
        "UART3": 88,
        "PCIF": 91,
        "AES": 97,
        "I2S": 99,
        "CNN_FIFO": 100,
        "CNN": 101,
        "LPCMP": 103,
    },
    writes = [
        set_field(_CLKCTRL, 6, 63, 0),  # ISO, undivided
        wait_for(_CLKCTRL, _READY, _READY),
    ],
    flash_method = [openocd("interface/cmsis-dap.cfg", "target/max78000.cfg")],
)
