# SPDX-License-Identifier: Apache-2.0
"""Kinds of UART, and their register writes before a program starts."""

CONSOLE_BAUD = 115200

_NEAREST = lambda clock_hz: (clock_hz + CONSOLE_BAUD // 2) // CONSOLE_BAUD

def write(address, value):
    """Writes a register before the program starts: for `writes` of a chip or board."""
    return {"address": address, "clear": 0xffffffff, "set": value, "wait": False}

def set_bits(address, bits):
    """Sets bits of a register and leaves the others."""
    return {"address": address, "clear": bits, "set": bits, "wait": False}

def set_field(address, shift, mask, value):
    """Sets a field of a register. `mask` has the bits of the field after the shift down."""
    return {"address": address, "clear": mask << shift, "set": value << shift, "wait": False}

def wait_for(address, mask, value):
    """Reads a register until its bits `mask` have a value."""
    return {"address": address, "clear": mask, "set": value, "wait": True}

def pin_number(board, pin):
    """Counts pins through all ports: letters name ports of 16 pins, digits of 32 or 8.

    Args:
      board: the board's name.
      pin: as PA2, P0.24 or P12_2.

    Returns:
      2, 24 and 98 for these.
    """
    for separator, pins in [(".", 32), ("_", 8)]:
        port, _, number = pin[1:].partition(separator)
        if pin.startswith("P") and port.isdigit() and number.isdigit():
            return pins * int(port) + int(number)
    port, number = pin[1:2], pin[2:]
    first = 16 * "ABCDEFGHIJK".find(port)
    if not pin.startswith("P") or not port or not number.isdigit() or first < 0:
        fail("board %s: no pin is called %s; they are written as PA2, P0.24 or P12_2" % (board, pin))
    return first + int(number)

def pins(tx, rx):
    """Returns the pins that are not None."""
    return [tx] if rx == None else [tx, rx]

def uart_driver(console, baud_register, has_pin = False, init = None):
    """Describes a kind of UART: its library, and the values for link_symbols.h.

    Args:
      console: cc_library that implements boards/common/console.h.
      baud_register: value of its baud rate register, a function of the UART's clock in Hz.
      has_pin: the chip leaves the transmitting pin open.
      init: None, or a function of the UART's name and the numbers of the transmitting and receiving
        pins (PA2 is 2, PB2 18, P1.02 34, or None). It returns write() and others for clocks and pins.
    """
    return struct(console = console, baud_register = baud_register, has_pin = has_pin, init = init)

# The UART of Arm's Cortex-M System Design Kit.
CMSDK_UART = uart_driver(
    console = Label("//boards/common:console_cmsdk_uart"),
    baud_register = lambda clock_hz: clock_hz // CONSOLE_BAUD,
)

def _nrf_pin(pin_cnf):
    """Connects the receive pin and pulls it up; the UART itself takes both pins."""
    return lambda _uart, _tx, rx: [] if rx == None else [
        write(pin_cnf + rx // 32 * 0x300 + 4 * (rx % 32), 3 << 2),
    ]

# UART of Nordic's nRF51.
NRF_UART = uart_driver(
    console = Label("//boards/common:console_nrf_uart"),
    baud_register = lambda _clock_hz: 0x01d7e000,
    has_pin = True,
    init = _nrf_pin(0x50000700),
)

def nrf_uarte(pin_cnf):
    """Selects Nordic's UARTE (nRF52, nRF53, nRF91), with DMA. `pin_cnf` is the address of PIN_CNF of P0.00."""
    return uart_driver(
        console = Label("//boards/common:console_nrf_uarte"),
        baud_register = lambda _clock_hz: 0x01d60000,
        has_pin = True,
        init = _nrf_pin(pin_cnf),
    )

def pl011(has_pin = False, init = None):
    """Selects Arm's PL011. Its baud rate register counts in parts of 64. Arguments are as for uart_driver()."""
    return uart_driver(
        console = Label("//boards/common:console_pl011"),
        baud_register = lambda clock_hz: (8 * clock_hz // CONSOLE_BAUD + 1) // 2,
        has_pin = has_pin,
        init = init,
    )

def lpuart(init):
    """Selects NXP's LPUART (i.MX RT, Kinetis, MCX). `init` is as for uart_driver()."""
    return uart_driver(
        console = Label("//boards/common:console_lpuart"),
        baud_register = _lpuart_baud,
        init = init,
    )

def max_uart(init):
    """Selects the UART of Analog Devices' MAX78000, with an oscillator of its own. `init` is as for uart_driver()."""
    return uart_driver(
        console = Label("//boards/common:console_max_uart"),
        baud_register = _NEAREST,
        has_pin = True,
        init = init,
    )

def ns16550(init):
    """Selects a UART like National's 16550, with a word for each register. `init` is as for uart_driver()."""
    return uart_driver(
        console = Label("//boards/common:console_ns16550"),
        baud_register = lambda clock_hz: _NEAREST(clock_hz // 16),
        has_pin = True,
        init = init,
    )

def ra_sci():
    """Selects the SCI of Renesas' RA8, with 6 samples for each bit. The chip's `init` sets clocks and pin."""
    return uart_driver(
        console = Label("//boards/common:console_ra_sci"),
        baud_register = lambda clock_hz: 0xff << 24 | (_NEAREST(clock_hz // 6) - 1) << 8 | 1 << 6,
    )

def _lpuart_baud(clock_hz):
    samples, divider = _samples_and_divider(clock_hz, list(range(16, 33)) + list(range(15, 7, -1)))
    return (samples - 1) << 24 | divider

def _lpc_usart_baud(clock_hz):
    samples, divider = _samples_and_divider(clock_hz, range(16, 4, -1))
    return (samples - 1) << 16 | (divider - 1)

def _samples_and_divider(clock_hz, possible):
    """Returns the first possible number of samples of a bit, and divider, nearest to the baud rate."""
    best = None
    for samples in possible:
        divider = (clock_hz // samples + CONSOLE_BAUD // 2) // CONSOLE_BAUD
        error = abs(clock_hz - CONSOLE_BAUD * samples * divider)
        if divider and (best == None or error < best[0]):
            best = (error, samples, divider)
    return best[1], best[2]

def lpc_usart(init):
    """Selects the USART of NXP's LPC54 and LPC55, a function of a Flexcomm. `init` is as for uart_driver()."""
    return uart_driver(
        console = Label("//boards/common:console_lpc_usart"),
        baud_register = _lpc_usart_baud,
        has_pin = True,
        init = init,
    )

def _stellaris_init(uart, tx, rx):
    """Returns writes for the clocks of UART and ports, a short wait, and the pins' function."""
    writes = [set_bits(0x400fe104, 1 << int(uart.removeprefix("uart")))]
    for pin in pins(tx, rx):
        port, number = pin // _PORT_PINS, pin % _PORT_PINS
        gpio = 0x40004000 + (port << 12) if port < 4 else 0x40024000 + ((port - 4) << 12)
        writes += [
            set_bits(0x400fe108, 1 << port),
            wait_for(0x400fe108, 1 << port, 1 << port),
            set_bits(gpio + 0x420, 1 << number),
            set_bits(gpio + 0x51c, 1 << number),
        ]
    return writes

# UART of TI's Stellaris.
STELLARIS_UART = pl011(
    has_pin = True,
    init = _stellaris_init,
)

_PORT_BYTES = 0x400
_PORT_PINS = 16

def _alternate(gpio, pin, function):
    """Connects a pin of an STM32 to a peripheral: its registers AFRL or AFRH, and MODER."""
    port = gpio + pin // _PORT_PINS * _PORT_BYTES
    number = pin % _PORT_PINS
    return [
        set_field(port + 0x20 + 4 * (number // 8), 4 * (number % 8), 15, function),
        set_field(port, 2 * number, 3, 2),
    ]

def stm32_usart(version, gpio, gpio_clocks, clocks, functions = {}, first_port = 0, is_f1 = False):
    """Selects the USARTs and UARTs of ST's STM32.

    Args:
      version: 1 for registers SR and DR (F1, F2, F4, L1), 2 for ISR and TDR.
      gpio: address of port A. The other ports follow.
      gpio_clocks: register that switches ports on, from bit `first_port`.
      clocks: dict from UART to its (register, bit) for switching on.
      functions: dict from UART to the alternate function of its pins. The default is 7.
      first_port: bit of port A in gpio_clocks.
      is_f1: pins are set by CRL and CRH, as on STM32F1.

    Returns:
      A uart_driver().
    """

    def _init(uart, tx, rx):
        register, bit = clocks[uart]
        writes = [set_bits(register, 1 << bit)]
        for pin in pins(tx, rx):
            writes.append(set_bits(gpio_clocks, 1 << (first_port + pin // _PORT_PINS)))
            if is_f1:
                port, number = gpio + pin // _PORT_PINS * _PORT_BYTES, pin % _PORT_PINS
                writes.append(set_field(port + 4 * (number // 8), 4 * (number % 8), 15, 11 if pin == tx else 4))
            else:
                writes += _alternate(gpio, pin, functions.get(uart, 7))
        return writes

    return uart_driver(
        console = Label("//boards/common:console_stm32_usart_v%d" % version),
        baud_register = _NEAREST,
        has_pin = True,
        init = _init,
    )

# USART of ST's STM32F4.
STM32F4_USART = stm32_usart(
    version = 1,
    gpio = 0x40020000,
    gpio_clocks = 0x40023830,
    clocks = {
        "usart1": (0x40023844, 4),
        "usart2": (0x40023840, 17),
        "usart3": (0x40023840, 18),
        "uart4": (0x40023840, 19),
        "uart5": (0x40023840, 20),
        "usart6": (0x40023844, 5),
    },
    functions = {
        "uart4": 8,
        "uart5": 8,
        "usart6": 8,
    },
)
