# SPDX-License-Identifier: Apache-2.0
"""Microchip SAMD21, the variant with 256 KB of flash in a package of 48 pins: a Cortex-M0+."""

load("//boards:board.bzl", "KB", "MHZ", "chip", "clock", "flash", "jlink", "openocd", "pins", "ram", "set_bits", "set_field", "systick", "uart_driver", "write")
load("//boards:uarts.bzl", "CONSOLE_BAUD")

_PM_APBCMASK = 0x40000420
_OSC8M = 0x40000820
_PORT = 0x41004400
_SERCOMS = {
    "sercom0": 0x42000800,
    "sercom5": 0x42001c00,
}

# Pins with pad 2 or 3 of a SERCOM, and their peripheral function: P0.10 is PA10, P1.22 is PB22.
_FUNCTIONS = {
    ("sercom0", 10): 2,
    ("sercom0", 11): 2,
    ("sercom5", 32 + 22): 3,
    ("sercom5", 32 + 23): 3,
}

def _init(uart, tx, rx):
    """Returns writes for a SERCOM's bus clock, its pins and its pads. The chip's `init` has its own clock."""
    writes = [set_bits(_PM_APBCMASK, 1 << (2 + int(uart.removeprefix("sercom"))))]
    for pin in pins(tx, rx):
        if (uart, pin) not in _FUNCTIONS:
            fail("%s is on the pins %s, not on %d" % (uart, [at for name, at in _FUNCTIONS if name == uart], pin))
        writes.append(write(
            _PORT + 0x80 * (pin // 32) + 0x28,  # WRCONFIG: HWSEL, WRPINCFG, WRPMUX, PMUX, INEN, PMUXEN
            pin // 16 % 2 << 31 | 5 << 28 | _FUNCTIONS[uart, pin] << 24 | 3 << 16 | 1 << pin % 16,
        ))

    # CTRLA: the lowest bit first, pads 3 and 2, with its own clock.
    return writes + [write(_SERCOMS[uart], 1 << 30 | 3 << 20 | 1 << 16 | 1 << 2)]

# A part of 65536 of a sixteenth of the clock is left out.
_SERCOM = uart_driver(
    baud_register = lambda clock_hz: 65536 - (65536 * 16 * CONSOLE_BAUD + clock_hz // 2) // clock_hz,
    console = Label("//boards/common:console_sercom"),
    has_pin = True,
    init = _init,
)

# It runs from the internal oscillator of 8 MHz, which is divided by 8 after reset. The fastest clock
# is that of its DFLL with the factory's value, within 2%.
SAMD21G18 = chip(
    core = "cortex-m0plus",
    memories = [
        flash("flash", 0x00000000, 256 * KB),
        ram("sram", 0x20000000, 32 * KB),
    ],
    code = "flash",
    data = "sram",
    arena = ["sram"],
    uart_driver = _SERCOM,
    uarts = _SERCOMS,
    clock_hz = 8 * MHZ,
    init = Label("//boards/chips:samd21_init"),
    max_clock = clock(
        core_hz = 48 * MHZ,
        init = Label("//boards/chips:samd21_max_init"),
        uart_hz = 48 * MHZ,
    ),
    timer = systick(8 * MHZ),
    irqs = {
        "PM": 0,
        "SYSCTRL": 1,
        "WDT": 2,
        "RTC": 3,
        "EIC": 4,
        "NVMCTRL": 5,
        "DMAC": 6,
        "USB": 7,
        "EVSYS": 8,
        "SERCOM0": 9,
        "SERCOM1": 10,
        "SERCOM2": 11,
        "SERCOM3": 12,
        "SERCOM4": 13,
        "SERCOM5": 14,
        "TCC0": 15,
        "TCC1": 16,
        "TCC2": 17,
        "TC3": 18,
        "TC4": 19,
        "TC5": 20,
        "ADC": 23,
        "AC": 24,
        "DAC": 25,
        "PTC": 26,
        "I2S": 27,
    },
    writes = [set_field(_OSC8M, 8, 3, 0)],
    flash_method = [
        openocd("interface/cmsis-dap.cfg", "target/at91samdXX.cfg"),
        jlink("ATSAMD21G18"),
    ],
)
