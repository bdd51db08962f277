# SPDX-License-Identifier: Apache-2.0
"""NXP LPC55S69, its first core: a Cortex-M33 with FPU and DSP extension."""

load("//boards:board.bzl", "KB", "MHZ", "chip", "clock", "flash", "jlink", "linkserver", "lpc_usart", "pins", "pyocd", "ram", "set_bits", "systick", "write")

_SYSCON = 0x40000000
_IOCON = 0x40001000

def _flexcomm0(_uart, tx, rx):
    return [
        set_bits(_SYSCON + 0x200, 1 << 13),  # clock of IOCON
        write(_SYSCON + 0x2b0, 2),  # Flexcomm 0 from the oscillator of 12 MHz
        set_bits(_SYSCON + 0x204, 1 << 11),
    ] + [
        write(_IOCON + 4 * pin, 0x101)  # its function, digital
        for pin in pins(tx, rx)
    ]

# The ROM owns the end of the flash memory. The core runs from an oscillator of 12 MHz, because the
# ROM may have selected a faster one.
LPC55S69 = chip(
    core = "cortex-m33",
    memories = [
        flash("flash", 0x00000000, 608 * KB, write = 512),
        ram("sram", 0x20000000, 272 * KB),
        ram("sramx", 0x04000000, 32 * KB),
    ],
    code = "flash",
    data = "sram",
    arena = ["sram", "sramx"],
    uart_driver = lpc_usart(_flexcomm0),
    uarts = {"usart0": 0x40086000},
    clock_hz = 12 * MHZ,
    max_clock = clock(
        core_hz = 150 * MHZ,
        init = Label("//boards/chips:lpc55s69_max_init"),
        uart_hz = 12 * MHZ,
    ),
    timer = systick(12 * MHZ),
    irqs = {
        "WDT_BOD": 0,
        "DMA0": 1,
        "GINT0": 2,
        "GINT1": 3,
        "PIN_INT0": 4,
        "PIN_INT1": 5,
        "PIN_INT2": 6,
        "PIN_INT3": 7,
        "UTICK0": 8,
        "MRT0": 9,
        "CTIMER0": 10,
        "CTIMER1": 11,
        "SCT0": 12,
        "CTIMER3": 13,
        "FLEXCOMM0": 14,
        "FLEXCOMM1": 15,
        "FLEXCOMM2": 16,
        "FLEXCOMM3": 17,
        "FLEXCOMM4": 18,
        "FLEXCOMM5": 19,
        "FLEXCOMM6": 20,
        "FLEXCOMM7": 21,
        "ADC0": 22,
        "USB0_NEEDCLK": 27,
        "USB0": 28,
        "RTC": 29,
        "MAILBOX": 31,
        "PIN_INT4": 32,
        "PIN_INT5": 33,
        "PIN_INT6": 34,
        "PIN_INT7": 35,
        "CTIMER2": 36,
        "CTIMER4": 37,
        "OS_EVENT": 38,
        "SDIO": 42,
        "USB1_PHY": 46,
        "USB1": 47,
        "USB1_NEEDCLK": 48,
        "SEC_GPIO_INT0_IRQ0": 50,
        "SEC_GPIO_INT0_IRQ1": 51,
        "PLU": 52,
        "HASHCRYPT": 54,
        "PUF": 56,
        "DMA1": 58,
        "FLEXCOMM8": 59,
    },
    writes = [
        write(_SYSCON + 0x284, 0),
        write(_SYSCON + 0x280, 0),
        write(_SYSCON + 0x380, 0),
        set_bits(_SYSCON + 0x200, 15 << 3),  # clocks of SRAM1 to SRAM4, off after reset
    ],
    flash_method = [
        pyocd("lpc55s69"),
        linkserver("LPC55S69:LPCXpresso55S69"),
        jlink("LPC55S69_M33_0"),
    ],
)
