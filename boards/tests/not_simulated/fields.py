# SPDX-License-Identifier: Apache-2.0
"""Register writes of boards' start-up, for expected.py and expected_max.py.

Names of registers are those of the chips' manuals. If an independent description exists,
test_facts.py compares them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from boards.tests.not_simulated.machine import Read

Fields = dict[str, tuple[int, int, int]]
"""Expected fields by name: register, mask, and the value of these bits at the first sent byte."""

STM32F4_USART2_ON_PA2_PA3: Fields = {
    "RCC_APB1ENR.USART2EN": (0x40023840, 1 << 17, 1 << 17),
    "RCC_AHB1ENR.GPIOAEN": (0x40023830, 1, 1),
    "GPIOA_AFRL.AFRL2, AFRL3": (0x40020020, 0xFF << 8, 0x77 << 8),
    "GPIOA_MODER.MODER2, MODER3": (0x40020000, 15 << 4, 10 << 4),
}
STM32L4_USART2_ON_PA2_PA3: Fields = {
    "RCC_APB1ENR1.USART2EN": (0x40021058, 1 << 17, 1 << 17),
    "RCC_AHB2ENR.GPIOAEN": (0x4002104C, 1, 1),
    "GPIOA_AFRL.AFRL2, AFRL3": (0x48000020, 0xFF << 8, 0x77 << 8),
    "GPIOA_MODER.MODER2, MODER3": (0x48000000, 15 << 4, 10 << 4),
}


def _stm32_m0plus(enable: int, ports: int, function: int) -> Fields:
    """USART2 on PA2 and PA3 of STM32C0, G0 and L0, by the registers that switch both on."""
    return {
        "RCC USART2EN": (enable, 1 << 17, 1 << 17),
        "RCC_IOPENR.GPIOAEN": (ports, 1, 1),
        "GPIOA_AFRL.AFRL2, AFRL3": (0x50000020, 0xFF << 8, (function << 4 | function) << 8),
        "GPIOA_MODER.MODER2, MODER3": (0x50000000, 15 << 4, 10 << 4),
    }


STM32G0_USART2_ON_PA2_PA3 = _stm32_m0plus(0x4002103C, 0x40021034, 1)
STM32L0_USART2_ON_PA2_PA3 = _stm32_m0plus(0x40021038, 0x4002102C, 4) | {
    "FLASH_ACR.LATENCY": (0x40022000, 1, 1),
    "RCC_CR.HSI16ON": (0x40021000, 1, 1),
    "RCC_CFGR.SW": (0x4002100C, 3, 1),
}
SAMD21_SERCOM5_ON_PB22_PB23: Fields = {
    "PM_APBCMASK.SERCOM5": (0x40000420, 1 << 7, 1 << 7),
    "SYSCTRL_OSC8M.PRESC": (0x40000820, 3 << 8, 0),
    "GCLK_CLKCTRL CLKEN, GEN, ID": (0x40000C02, 0x4F3F, 0x4019),
    # HWSEL, WRPINCFG, WRPMUX, PMUX, PULLEN, INEN, PMUXEN, PINMASK of the pin written last
    "PORT_WRCONFIG1": (0x410044A8, 0xDF07FFFF, 0xD303 << 16 | 1 << 7),
}
STM32H7_USART3_ON_PD8_PD9: Fields = {
    "AXI_TARG7_FN_MOD.READ_ISS_OVERRIDE": (0x51008108, 3, 1),
    "RCC_APB1LENR.USART3EN": (0x580244E8, 1 << 18, 1 << 18),
    "RCC_AHB4ENR.GPIODEN": (0x580244E0, 1 << 3, 1 << 3),
    "GPIOD_AFRH.AFSEL8, AFSEL9": (0x58020C24, 0xFF, 0x77),
    "GPIOD_MODER.MODER8, MODER9": (0x58020C00, 15 << 16, 10 << 16),
}
STM32U5_USART1_ON_PA9_PA10: Fields = {
    "RCC_APB2ENR.USART1EN": (0x46020CA4, 1 << 14, 1 << 14),
    "RCC_AHB2ENR1.GPIOAEN": (0x46020C8C, 1, 1),
    "GPIOA_AFRH.AFSEL9, AFSEL10": (0x42020024, 0xFF << 4, 0x77 << 4),
    "GPIOA_MODER.MODE9, MODE10": (0x42020000, 15 << 18, 10 << 18),
}


STM32H7_REVISION = 0x5C001000
STM32H7_READS: dict[int, Read] = {STM32H7_REVISION: lambda registers: 0x10036450}  # Y


def on(register: int, enable: int, ready: int) -> dict[int, Read]:
    """Return a register with a bit that follows another at once."""

    def read(registers: dict[int, int]) -> int:
        value = registers.get(register, 0)
        return value | ready if value & enable else value

    return {register: read}


def follows(register: int, shift: int) -> dict[int, Read]:
    """Return a register whose two-bit field at `shift` mirrors the field below it."""
    return {
        register: lambda registers: (
            registers.get(register, 0) | (registers.get(register, 0) & 3) << shift
        )
    }


STM32L0_READS: dict[int, Read] = {
    0x40021000: lambda registers: (
        registers.get(0x40021000, 0) & 0x01000001
        | (1 << 2 if registers.get(0x40021000, 0) & 1 else 0)
        | (1 << 25 if registers.get(0x40021000, 0) & 1 << 24 else 0)
    ),
    **follows(0x4002100C, 2),
}


def selected(control: int, register: int) -> dict[int, Read]:
    """Return, for RP2040, a register with one bit set, that of the clock's source."""
    return {register: lambda registers: 1 << (registers.get(control, 0) & 3)}


def rp2(clocks: int, xosc: int, resets: int, pll: int, all_blocks: int) -> dict[int, Read]:
    reads = {
        resets: lambda registers: registers.get(resets, all_blocks),
        resets + 8: lambda registers: all_blocks & ~registers.get(resets, all_blocks),
        # Locked if it and its oscillator have power. After reset they have none.
        pll: lambda registers: (
            registers.get(pll, 1) | (1 << 31 if not registers.get(pll + 4, 0x2D) & 0x21 else 0)
        ),
        pll + 4: lambda registers: registers.get(pll + 4, 0x2D),
        xosc + 4: lambda registers: 1 << 31 if registers.get(xosc) == 0xFABAA0 else 0,
    }
    return {
        **reads,
        **selected(clocks + 0x30, clocks + 0x38),
        **selected(clocks + 0x3C, clocks + 0x44),
    }


def rp2_fields(clocks: int, xosc: int, resets: int, blocks: int, io: int) -> Fields:
    return {
        "XOSC_STARTUP": (xosc + 0x0C, 0x3FFF, 47),  # in 256 turns of 12 MHz: 1 ms
        "XOSC_CTRL": (xosc, 0xFFFFFF, 0xFABAA0),
        "CLK_REF_CTRL.SRC": (clocks + 0x30, 3, 2),
        "CLK_SYS_CTRL.SRC": (clocks + 0x3C, 1, 0),
        "CLK_PERI_CTRL.ENABLE, AUXSRC": (clocks + 0x48, 1 << 11 | 7 << 5, 1 << 11),
        "RESETS_RESET of IO, PADS, UART0": (resets, blocks, 0),
        "GPIO0_CTRL.FUNCSEL": (io + 4, 31, 2),
        "GPIO1_CTRL.FUNCSEL": (io + 12, 31, 2),
    }


RP2040 = (0x40008000, 0x40024000, 0x4000C000)
RP2350 = (0x40010000, 0x40048000, 0x40020000)
RP2040_READS = rp2(*RP2040, 0x40028000, 0x01FFFFFF)
RP2350_READS = rp2(*RP2350, 0x40050000, 0x1FFFFFFF) | {
    0x40038004: lambda registers: registers.get(0x40038004, 0x116),
    0x40038008: lambda registers: registers.get(0x40038008, 0x116),
}
RP2040_FIELDS = rp2_fields(*RP2040, 1 << 5 | 1 << 8 | 1 << 22, 0x40014000)
RP2350_FIELDS = rp2_fields(*RP2350, 1 << 6 | 1 << 9 | 1 << 26, 0x40028000) | {
    "PADS_BANK0_GPIO0, without ISO, with IE": (0x40038004, 0x1FF, 0x56),
    "PADS_BANK0_GPIO1, likewise, with PUE for PDE": (0x40038008, 0x1FF, 0x5A),
}


# Identification of new nRF52 and nRF5340 chips. UICR has their debug ports open.
NRF52_PART, NRF52_VARIANT = 0x10000100, 0x10000104


def nrf52(part: int, variant: int) -> dict[int, Read]:
    return {
        NRF52_PART: lambda registers: part,
        NRF52_VARIANT: lambda registers: variant,
        0x10001208: lambda registers: 0xFFFFFF5A,
    }


NRF52840_READS = nrf52(0x52840, 0x41414630)  # AAF0
NRF52_OPEN: Fields = {"APPROTECT_DISABLE": (0x40000558, 0xFF, 0x5A)}


def pin_cnf(port: int, pin: int, address: int) -> Fields:
    """Return the fields of the receive pin: input, connected, pulled up."""
    return {f"P{port}_PIN_CNF[{pin}].DIR, INPUT, PULL": (address + 4 * pin, 0xF, 0xC)}


# Registers and their factory trim values, up to a value that is no register's address.
_NRF5340_TRIMS = (0x50004A28, 0x1A2, 0x50005C10, 0x0F0F0005, 0xFFFFFFFF, 0xFFFFFFFF)


def _trim(index: int) -> Read:
    return lambda registers: _NRF5340_TRIMS[index]


NRF5340_READS: dict[int, Read] = {
    **{0x00FF0300 + 4 * index: _trim(index) for index in range(len(_NRF5340_TRIMS))},
    0x00FF8000: lambda registers: 0x50FA50FA,
    0x00FF801C: lambda registers: 0x50FA50FA,
}
NRF5340: Fields = {
    "what the factory trimmed": (_NRF5340_TRIMS[0], 0xFFFFFFFF, _NRF5340_TRIMS[1]),
    "and the last of that": (_NRF5340_TRIMS[2], 0xFFFFFFFF, _NRF5340_TRIMS[3]),
    "CTRLAP_APPROTECT.DISABLE": (0x50006544, 0xFFFFFFFF, 0x50FA50FA),
    "CTRLAP_SECUREAPPROTECT.DISABLE": (0x5000654C, 0xFFFFFFFF, 0x50FA50FA),
    **pin_cnf(0, 22, 0x50842700),
}


RT1062: Fields = {
    "RTWDOG_CNT": (0x400BC004, 0xFFFFFFFF, 0xD928C520),
    "RTWDOG_TOVAL": (0x400BC008, 0xFFFF, 0xFFFF),
    "RTWDOG_CS.EN, UPDATE": (0x400BC000, 0xA0, 0x20),
    "CCM_CBCMR.PERIPH_CLK2_SEL": (0x400FC018, 3 << 12, 1 << 12),
    "CCM_CBCDR.PERIPH_CLK_SEL, PERIPH_CLK2_PODF, AHB_PODF": (
        0x400FC014,
        1 << 25 | 7 << 27 | 7 << 10,
        1 << 25,
    ),
    "CCM_CSCDR1.UART_CLK_SEL, UART_CLK_PODF": (0x400FC024, 0x7F, 1 << 6),
    "CCM_CCGR5.CG12": (0x400FC07C, 3 << 24, 3 << 24),
    "IOMUXC_SW_MUX_CTL_PAD_GPIO_AD_B0_12": (0x401F80EC, 7, 2),
    "IOMUXC_SW_PAD_CTL_PAD_GPIO_AD_B0_12": (0x401F82DC, 0x1F0F9, 0x10B0),
    "IOMUXC_SW_MUX_CTL_PAD_GPIO_AD_B0_13": (0x401F80F0, 7, 2),
    "IOMUXC_SW_PAD_CTL_PAD_GPIO_AD_B0_13": (0x401F82E0, 0x1F0F9, 0x10B0),
}

LPC55S69: Fields = {
    "SYSCON_MAINCLKSELA": (0x40000280, 7, 0),
    "SYSCON_MAINCLKSELB": (0x40000284, 7, 0),
    "SYSCON_AHBCLKDIV": (0x40000380, 0xFF, 0),
    "SYSCON_AHBCLKCTRL0.SRAM_CTRL1, SRAM_CTRL2, SRAM_CTRL3, SRAM_CTRL4, IOCON": (
        *(0x40000200, 1 << 13 | 15 << 3, 1 << 13 | 15 << 3),
    ),
    "SYSCON_AHBCLKCTRL1.FC0": (0x40000204, 1 << 11, 1 << 11),
    "SYSCON_FCCLKSEL0": (0x400002B0, 7, 2),
    "IOCON_PIO0_30": (0x40001078, 0x10F, 0x101),
    "IOCON_PIO0_29": (0x40001074, 0x10F, 0x101),
}
# Factory data: the voltages, without the speed of the transistors.
LPC55S69_FACTORY: dict[int, Read] = {
    0x0009FCD8: lambda registers: 0x010C4E68 << 1 | 1,
    0x0009FCDC: lambda registers: 0x01803A98,
    0x0009FD30: lambda registers: 0,
    0x0009FD40: lambda registers: 0,
}
RA8M1: Fields = {
    "SCKDIVCR": (0x4001E020, 0xFFFFFFFF, 0),
    "SCKDIVCR2": (0x4001E024, 0xFF, 0),
    "SCKSCR.CKSEL": (0x4001E026, 7, 3),
    "MOSCCR.MOSTP": (0x4001E032, 1, 0),
    "SCICKDIVCR": (0x4001E054, 7, 0),
    "SCICKCR SCICKSEL, SCICKSREQ": (0x4001E055, 0x4F, 3),
    "PRCR_S, protected": (0x4001E3FA, 0xFFFF, 0xA500),
    "MSTPCRB.MSTPB22": (0x40203004, 1 << 22, 0),
    "PA14PFS.PSEL, PMR": (0x40400AB8, 31 << 24 | 1 << 16, 5 << 24 | 1 << 16),
    "PA15PFS.PSEL, PMR": (0x40400ABC, 31 << 24 | 1 << 16, 5 << 24 | 1 << 16),
    "PWPRS, protected": (0x40400D05, 0xC0, 0x80),
}
RA8M1_READS: dict[int, Read] = {
    0x4001E03C: lambda registers: 1 << 3 if registers.get(0x4001E032) == 0 else 0,
    0x40203004: lambda registers: registers.get(0x40203004, 0xFFFFFFFF),
    **on(0x4001E055, 1 << 6, 1 << 7),
}


@dataclass(frozen=True)
class Expected:
    """Expected start-up of a board.

    The fields are the UART, its clock in Hz, its pins (None: not passed to the driver), and
    additional writes. Further fields are the program's start address for the core, boot loader or
    ROM, and the identification registers.
    """

    uart: int
    clock: int
    fields: Fields = field(default_factory=dict)
    pin: int | None = None
    flash: int = 0x08000000
    reads: Mapping[int, Read] = field(default_factory=dict)
    rx_pin: int | None = None
