# SPDX-License-Identifier: Apache-2.0
"""Raspberry Pi RP2040 and RP2350: two Cortex-M0+, two Cortex-M33; programs run on the first."""

load("//boards:board.bzl", "KB", "MB", "MHZ", "boot_header", "chip", "clock", "flash", "jlink", "openocd", "pins", "pl011", "pyocd", "ram", "set_field", "systick", "uf2", "wait_for", "write")

_XOSC_HZ = 12 * MHZ

def _clocks(clocks, xosc):
    """Returns writes to run everything from the crystal.

    The ROM's clock is too inexact for a UART.
    """
    return [
        write(xosc + 0x0c, 47),  # 1 ms until it is stable
        write(xosc, 0xfabaa0),
        wait_for(xosc + 0x04, 1 << 31, 1 << 31),
        set_field(clocks + 0x30, 0, 3, 2),  # CLK_REF is the crystal
        wait_for(clocks + 0x38, 4, 4),
        set_field(clocks + 0x3c, 0, 1, 0),  # CLK_SYS is CLK_REF
        wait_for(clocks + 0x44, 1, 1),
        write(clocks + 0x48, 1 << 11),  # CLK_PERI is CLK_SYS
    ]

def _release(resets, bits):
    """Takes blocks out of reset."""
    mask = 0
    for bit in bits:
        mask |= 1 << bit
    return [set_field(resets, 0, mask, 0), wait_for(resets + 0x08, mask, mask)]

def _pll(clocks, resets, reset_bit, pll, dividers):
    """CLK_SYS is 12 MHz * 125 by two dividers."""
    return _release(resets, [reset_bit]) + [
        write(pll, 1),
        write(pll + 0x08, 125),
        set_field(pll + 0x04, 0, 0x21, 0),  # power of PLL and oscillator
        wait_for(pll, 1 << 31, 1 << 31),
        write(pll + 0x0c, dividers[0] << 16 | dividers[1] << 12),
        set_field(pll + 0x04, 3, 1, 0),  # and of the dividers
        set_field(clocks + 0x3c, 5, 7, 0),
        set_field(clocks + 0x3c, 0, 1, 1),
        wait_for(clocks + 0x44, 2, 2),
    ]

def _pad(pad, receives):
    """Returns a pad's value: input on, no isolation.

    A receiver has a pull-up. A pull-down, the reset state, may not work (RP2350-E9).
    """
    pulls, up = (3 << 2, 1 << 3) if receives else (0, 0)
    return set_field(pad, 0, 7 << 6 | pulls, 1 << 6 | up)  # ISO, OD, IE

def _uart_init(resets, bits, io, pads):
    """Returns writes that assign pins to a UART.

    `pads` are given if pads are isolated after reset, with their inputs off, else None.
    """

    def _init(uart, tx, rx):
        writes = _release(resets, [bits["io"], bits["pads"], bits[uart]])
        for pin in pins(tx, rx):
            if pads:
                writes.append(_pad(pads + 4 + 4 * pin, pin == rx))
            writes.append(write(io + 4 + 8 * pin, 2))
        return writes

    return _init

# The flash memory is Pico's. RAM has four banks with word interleaving, and two small ones.
RP2040 = chip(
    core = "cortex-m0plus",
    memories = [
        flash("flash", 0x10000000, 2 * MB),
        ram("sram", 0x20000000, 264 * KB),
    ],
    code = "flash",
    data = "sram",
    arena = ["sram"],
    boot_header = boot_header(Label("//boards/chips:rp2040_boot2"), 256),
    uart_driver = pl011(
        has_pin = True,
        init = _uart_init(
            0x4000c000,
            {
                "io": 5,
                "pads": 8,
                "uart0": 22,
                "uart1": 23,
            },
            0x40014000,
            None,
        ),
    ),
    uarts = {
        "uart0": 0x40034000,
        "uart1": 0x40038000,
    },
    clock_hz = _XOSC_HZ,
    max_clock = clock(
        core_hz = 125 * MHZ,
        uart_hz = 125 * MHZ,
        writes = _pll(0x40008000, 0x4000c000, 12, 0x40028000, (6, 2)),
    ),
    timer = systick(_XOSC_HZ),
    irqs = {
        "TIMER_IRQ_0": 0,
        "TIMER_IRQ_1": 1,
        "TIMER_IRQ_2": 2,
        "TIMER_IRQ_3": 3,
        "PWM_IRQ_WRAP": 4,
        "USBCTRL_IRQ": 5,
        "XIP_IRQ": 6,
        "PIO0_IRQ_0": 7,
        "PIO0_IRQ_1": 8,
        "PIO1_IRQ_0": 9,
        "PIO1_IRQ_1": 10,
        "DMA_IRQ_0": 11,
        "DMA_IRQ_1": 12,
        "IO_IRQ_BANK0": 13,
        "IO_IRQ_QSPI": 14,
        "SIO_IRQ_PROC0": 15,
        "SIO_IRQ_PROC1": 16,
        "CLOCKS_IRQ": 17,
        "SPI0_IRQ": 18,
        "SPI1_IRQ": 19,
        "UART0_IRQ": 20,
        "UART1_IRQ": 21,
        "ADC_IRQ_FIFO": 22,
        "I2C0_IRQ": 23,
        "I2C1_IRQ": 24,
        "RTC_IRQ": 25,
        "SPARE_IRQ_0": 26,
        "SPARE_IRQ_1": 27,
        "SPARE_IRQ_2": 28,
        "SPARE_IRQ_3": 29,
        "SPARE_IRQ_4": 30,
        "SPARE_IRQ_5": 31,
    },
    writes = _clocks(0x40008000, 0x40024000),
    flash_method = [
        uf2("RPI-RP2", 0xe48bff56, "hold BOOTSEL while you plug it in"),
        pyocd("rp2040"),
        openocd("interface/cmsis-dap.cfg", "target/rp2040.cfg"),
        jlink("RP2040_M0_0"),
    ],
)

# The flash memory is Pico 2's. With FPU and DSP extension, secure as after reset.
RP2350 = chip(
    core = "cortex-m33",
    memories = [
        flash("flash", 0x10000000, 4 * MB),
        ram("sram", 0x20000000, 520 * KB),
    ],
    code = "flash",
    data = "sram",
    arena = ["sram"],
    boot_header = boot_header(Label("//boards/chips:rp2350_image_definition"), 512),
    uart_driver = pl011(
        has_pin = True,
        init = _uart_init(
            0x40020000,
            {
                "io": 6,
                "pads": 9,
                "uart0": 26,
                "uart1": 27,
            },
            0x40028000,
            0x40038000,
        ),
    ),
    uarts = {
        "uart0": 0x40070000,
        "uart1": 0x40078000,
    },
    clock_hz = _XOSC_HZ,
    max_clock = clock(
        core_hz = 150 * MHZ,
        uart_hz = 150 * MHZ,
        writes = _pll(0x40010000, 0x40020000, 14, 0x40050000, (5, 2)),
    ),
    timer = systick(_XOSC_HZ),
    irqs = {
        "TIMER0_IRQ_0": 0,
        "TIMER0_IRQ_1": 1,
        "TIMER0_IRQ_2": 2,
        "TIMER0_IRQ_3": 3,
        "TIMER1_IRQ_0": 4,
        "TIMER1_IRQ_1": 5,
        "TIMER1_IRQ_2": 6,
        "TIMER1_IRQ_3": 7,
        "PWM_IRQ_WRAP_0": 8,
        "PWM_IRQ_WRAP_1": 9,
        "DMA_IRQ_0": 10,
        "DMA_IRQ_1": 11,
        "DMA_IRQ_2": 12,
        "DMA_IRQ_3": 13,
        "USBCTRL_IRQ": 14,
        "PIO0_IRQ_0": 15,
        "PIO0_IRQ_1": 16,
        "PIO1_IRQ_0": 17,
        "PIO1_IRQ_1": 18,
        "PIO2_IRQ_0": 19,
        "PIO2_IRQ_1": 20,
        "IO_IRQ_BANK0": 21,
        "IO_IRQ_BANK0_NS": 22,
        "IO_IRQ_QSPI": 23,
        "IO_IRQ_QSPI_NS": 24,
        "SIO_IRQ_FIFO": 25,
        "SIO_IRQ_BELL": 26,
        "SIO_IRQ_FIFO_NS": 27,
        "SIO_IRQ_BELL_NS": 28,
        "SIO_IRQ_MTIMECMP": 29,
        "CLOCKS_IRQ": 30,
        "SPI0_IRQ": 31,
        "SPI1_IRQ": 32,
        "UART0_IRQ": 33,
        "UART1_IRQ": 34,
        "ADC_IRQ_FIFO": 35,
        "I2C0_IRQ": 36,
        "I2C1_IRQ": 37,
        "OTP_IRQ": 38,
        "TRNG_IRQ": 39,
        "PLL_SYS_IRQ": 42,
        "PLL_USB_IRQ": 43,
        "POWMAN_IRQ_POW": 44,
        "POWMAN_IRQ_TIMER": 45,
        "SPARE_IRQ_0": 46,
        "SPARE_IRQ_1": 47,
        "SPARE_IRQ_2": 48,
        "SPARE_IRQ_3": 49,
        "SPARE_IRQ_4": 50,
        "SPARE_IRQ_5": 51,
    },
    writes = _clocks(0x40010000, 0x40048000),
    flash_method = [
        uf2("RP2350", 0xe48bff59, "hold BOOTSEL while you plug it in"),
        pyocd("rp2350"),
        openocd("interface/cmsis-dap.cfg", "target/rp2350.cfg"),
        jlink("RP2350_M33_0"),
    ],
)
