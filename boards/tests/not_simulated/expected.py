# SPDX-License-Identifier: Apache-2.0
"""What start-up has to write on boards that nothing simulates.

Names of registers are those of the chips' manuals; where there is a description of them that
others wrote, test_facts.py compares.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from boards.tests.not_simulated.machine import Read

Fields = dict[str, tuple[int, int, int]]
"""By name: register, mask, and the value of these bits when the first byte is sent."""

_STM32F4_USART2_ON_PA2_PA3: Fields = {
    "RCC_APB1ENR.USART2EN": (0x40023840, 1 << 17, 1 << 17),
    "RCC_AHB1ENR.GPIOAEN": (0x40023830, 1, 1),
    "GPIOA_AFRL.AFRL2, AFRL3": (0x40020020, 0xFF << 8, 0x77 << 8),
    "GPIOA_MODER.MODER2, MODER3": (0x40020000, 15 << 4, 10 << 4),
}
_STM32L4_USART2_ON_PA2_PA3: Fields = {
    "RCC_APB1ENR1.USART2EN": (0x40021058, 1 << 17, 1 << 17),
    "RCC_AHB2ENR.GPIOAEN": (0x4002104C, 1, 1),
    "GPIOA_AFRL.AFRL2, AFRL3": (0x48000020, 0xFF << 8, 0x77 << 8),
    "GPIOA_MODER.MODER2, MODER3": (0x48000000, 15 << 4, 10 << 4),
}
_STM32H7_USART3_ON_PD8_PD9: Fields = {
    "RCC_APB1LENR.USART3EN": (0x580244E8, 1 << 18, 1 << 18),
    "RCC_AHB4ENR.GPIODEN": (0x580244E0, 1 << 3, 1 << 3),
    "GPIOD_AFRH.AFSEL8, AFSEL9": (0x58020C24, 0xFF, 0x77),
    "GPIOD_MODER.MODER8, MODER9": (0x58020C00, 15 << 16, 10 << 16),
}
_STM32U5_USART1_ON_PA9_PA10: Fields = {
    "RCC_APB2ENR.USART1EN": (0x46020CA4, 1 << 14, 1 << 14),
    "RCC_AHB2ENR1.GPIOAEN": (0x46020C8C, 1, 1),
    "GPIOA_AFRH.AFSEL9, AFSEL10": (0x42020024, 0xFF << 4, 0x77 << 4),
    "GPIOA_MODER.MODE9, MODE10": (0x42020000, 15 << 18, 10 << 18),
}


def _on(register: int, enable: int, ready: int) -> dict[int, Read]:
    """A register with a bit that follows another at once."""

    def read(registers: dict[int, int]) -> int:
        value = registers.get(register, 0)
        return value | ready if value & enable else value

    return {register: read}


def _follows(register: int, shift: int) -> dict[int, Read]:
    """A register whose field of two bits at `shift` says what is in the one below."""
    return {
        register: lambda registers: (
            registers.get(register, 0) | (registers.get(register, 0) & 3) << shift
        )
    }


def _selected(control: int, register: int) -> dict[int, Read]:
    """RP2040: a register with one bit set, that of the clock's source."""
    return {register: lambda registers: 1 << (registers.get(control, 0) & 3)}


def _rp2(clocks: int, xosc: int, resets: int, pll: int, all_blocks: int) -> dict[int, Read]:
    reads = {
        resets: lambda registers: registers.get(resets, all_blocks),
        resets + 8: lambda registers: all_blocks & ~registers.get(resets, all_blocks),
        # Locked if it and its oscillator have power, which they have not after reset.
        pll: lambda registers: (
            registers.get(pll, 1) | (1 << 31 if not registers.get(pll + 4, 0x2D) & 0x21 else 0)
        ),
        pll + 4: lambda registers: registers.get(pll + 4, 0x2D),
        xosc + 4: lambda registers: 1 << 31 if registers.get(xosc) == 0xFABAA0 else 0,
    }
    return {
        **reads,
        **_selected(clocks + 0x30, clocks + 0x38),
        **_selected(clocks + 0x3C, clocks + 0x44),
    }


def _rp2_fields(clocks: int, xosc: int, resets: int, blocks: int, io: int) -> Fields:
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


_RP2040 = (0x40008000, 0x40024000, 0x4000C000)
_RP2350 = (0x40010000, 0x40048000, 0x40020000)
_RP2040_READS = _rp2(*_RP2040, 0x40028000, 0x01FFFFFF)
_RP2350_READS = _rp2(*_RP2350, 0x40050000, 0x1FFFFFFF) | {
    0x40038004: lambda registers: registers.get(0x40038004, 0x116),
    0x40038008: lambda registers: registers.get(0x40038008, 0x116),
}
_RP2040FieldsS = _rp2_fields(*_RP2040, 1 << 5 | 1 << 8 | 1 << 22, 0x40014000)
_RP2350FieldsS = _rp2_fields(*_RP2350, 1 << 6 | 1 << 9 | 1 << 26, 0x40028000) | {
    "PADS_BANK0_GPIO0, without ISO": (0x40038004, 0x1FF, 0x16),
    "PADS_BANK0_GPIO1, without ISO": (0x40038008, 0x1FF, 0x16),
}


# What new nRF52 and nRF5340 say of themselves, and that UICR has their debug ports open.
NRF52_PART, NRF52_VARIANT = 0x10000100, 0x10000104


def _nrf52(part: int, variant: int) -> dict[int, Read]:
    return {
        NRF52_PART: lambda registers: part,
        NRF52_VARIANT: lambda registers: variant,
        0x10001208: lambda registers: 0xFFFFFF5A,
    }


_NRF52840_READS = _nrf52(0x52840, 0x41414630)  # AAF0
_NRF52_OPEN: Fields = {"APPROTECT_DISABLE": (0x40000558, 0xFF, 0x5A)}


def _pin_cnf(port: int, pin: int, address: int) -> Fields:
    """The pin that receives: input, connected, pulled up."""
    return {f"P{port}_PIN_CNF[{pin}].DIR, INPUT, PULL": (address + 4 * pin, 0xF, 0xC)}


_NRF5340_READS: dict[int, Read] = {
    0x00FF8000: lambda registers: 0x50FA50FA,
    0x00FF801C: lambda registers: 0x50FA50FA,
}
_NRF5340_OPEN: Fields = {
    "CTRLAP_APPROTECT.DISABLE": (0x50006544, 0xFFFFFFFF, 0x50FA50FA),
    "CTRLAP_SECUREAPPROTECT.DISABLE": (0x5000654C, 0xFFFFFFFF, 0x50FA50FA),
    **_pin_cnf(0, 22, 0x50842700),
}


_RT1062: Fields = {
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


@dataclass(frozen=True)
class Expected:
    """Of a board: the UART, its clock in Hz, its pins (None: the driver is not told), what is
    written beside it, where the core, a boot loader or the ROM looks for the program, and what
    registers say of themselves.
    """

    uart: int
    clock: int
    fields: Fields = field(default_factory=dict)
    pin: int | None = None
    flash: int = 0x08000000
    reads: Mapping[int, Read] = field(default_factory=dict)
    rx_pin: int | None = None


BOARDS = {
    "alif_e7_devkit": Expected(
        0x4901C000,
        38_400_000,
        {
            "CGU_CLK_ENA of the crystal": (0x1A602014, 1 << 23, 1 << 23),
            "UART_CTRL of UART4": (0x4902F008, 1 << 12 | 1 << 4, 1 << 4),
            "PADCTRL_12_2, its second function": (0x1A603188, 7, 2),
            "PADCTRL_12_1, likewise, and its input": (0x1A603184, 1 << 16 | 7, 1 << 16 | 2),
        },
        flash=0x80000000,
    ),
    "arduino_nano33ble": Expected(
        0x40002000,
        16_000_000,
        _NRF52_OPEN | _pin_cnf(1, 10, 0x50000A00),
        32 + 3,
        0x10000,
        _NRF52840_READS,
        32 + 10,
    ),
    "disco_f407": Expected(0x40004400, 16_000_000, _STM32F4_USART2_ON_PA2_PA3),
    "disco_f407_max": Expected(
        0x40004400,
        16_000_000 // 8 * 168 // 2 // 4,
        _STM32F4_USART2_ON_PA2_PA3
        | {
            "FLASH_ACR": (0x40023C00, 0xFFF, 0x705),
            "RCC_CR.PLLON": (0x40023800, 1 << 24, 1 << 24),
            "RCC_PLLCFGR M, N, P, SRC": (0x40023804, 0x43FFFF, 8 | 168 << 6),
            "RCC_CFGR SW, HPRE, PPRE1, PPRE2": (0x40023808, 0xFCF3, 2 | 5 << 10 | 4 << 13),
        },
        reads={**_on(0x40023800, 1 << 24, 1 << 25), **_follows(0x40023808, 2)},
    ),
    "ek_ra8m1": Expected(
        0x40358900,
        20_000_000,
        {
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
        },
        flash=0x02000000,
        reads={
            0x4001E03C: lambda registers: 1 << 3 if registers.get(0x4001E032) == 0 else 0,
            0x40203004: lambda registers: registers.get(0x40203004, 0xFFFFFFFF),
            **_on(0x4001E055, 1 << 6, 1 << 7),
        },
    ),
    "frdm_mcxn947": Expected(
        0x500B4000,
        12_000_000,
        {
            "SYSCON_AHBCLKCTRL0.PORT1": (0x50000200, 1 << 14, 1 << 14),
            "SYSCON_AHBCLKCTRL1.FC4": (0x50000204, 1 << 15, 1 << 15),
            "SYSCON_PRESETCTRL1.FC4_RST": (0x50000104, 1 << 15, 0),
            "SYSCON_FCCLKSEL4": (0x500002C0, 7, 2),
            "SYSCON_FLEXCOMM4CLKDIV": (0x50000860, 0xFF | 1 << 30, 0),
            "PORT1_PCR9.MUX": (0x501170A4, 15 << 8, 2 << 8),
            "PORT1_PCR8.MUX, IBE": (0x501170A0, 31 << 8, 18 << 8),
        },
        flash=0,
    ),
    "lpc55s69_evk": Expected(
        0x40086000,
        12_000_000,
        {
            "SYSCON_MAINCLKSELA": (0x40000280, 7, 0),
            "SYSCON_MAINCLKSELB": (0x40000284, 7, 0),
            "SYSCON_AHBCLKDIV": (0x40000380, 0xFF, 0),
            "SYSCON_AHBCLKCTRL0.IOCON": (0x40000200, 1 << 13, 1 << 13),
            "SYSCON_AHBCLKCTRL1.FC0": (0x40000204, 1 << 11, 1 << 11),
            "SYSCON_FCCLKSEL0": (0x400002B0, 7, 2),
            "IOCON_PIO0_30": (0x40001078, 0x10F, 0x101),
            "IOCON_PIO0_29": (0x40001074, 0x10F, 0x101),
        },
        flash=0,
    ),
    "max78000fthr_max": Expected(
        0x40042000,
        7_372_800,
        {
            "GCR_PCLKDIS0.GPIO0, UART0": (0x40000024, 1 << 9 | 1, 0),
            "GCR_MEMCTRL.FWS": (0x40000028, 7, 5),
            "GCR_CLKCTRL.SYSCLK_DIV, SYSCLK_SEL, IPO_EN, IBRO_EN": (
                0x40000008,
                63 << 6 | 3 << 19,
                4 << 9 | 3 << 19,
            ),
            "GPIO0_EN0": (0x40008000, 3, 0),
            "GPIO0_EN1": (0x40008068, 3, 0),
            "GPIO0_EN2": (0x40008074, 3, 0),
        },
        flash=0x10000000,
        reads={
            0x40000008: lambda registers: (
                registers.get(0x40000008, 0)
                | 1 << 13
                | (registers.get(0x40000008, 0) >> 19 & 3) << 27
            ),
            0x40000024: lambda registers: registers.get(0x40000024, 0xFFFFFFFF),
        },
    ),
    "microbit_v2": Expected(
        0x40002000,
        16_000_000,
        _NRF52_OPEN | _pin_cnf(1, 8, 0x50000A00),
        6,
        0,
        _nrf52(0x52833, 0x41414230),  # AAB0
        32 + 8,
    ),
    "mimxrt700_evk": Expected(
        0x50110000,
        64_000_000,
        {
            "CLKCTL0_CMPTBASECLKSEL": (0x50001420, 3, 0),
            "CLKCTL0_MAINCLKSEL": (0x50001434, 3, 0),
            "CLKCTL0_CMPTMAINCLKDIV": (0x50001400, 0xFF, 0),
            "CLKCTL0_FCCLK0SEL": (0x50001800, 3, 0),
            "CLKCTL0_FCCLK0DIV": (0x50001804, 0xFF, 0),
            "CLKCTL0_FC0FCLKSEL": (0x50001808, 3, 0),
            "CLKCTL0_PSCCTL1.LP_FLEXCOMM0": (0x50001014, 1 << 30, 1 << 30),
            "CLKCTL0_PSCCTL5.IOPCTL0": (0x50001024, 1 << 3, 1 << 3),
            "RSTCTL0_PRSTCTL2.LP_FLEXCOMM0": (0x50000018, 1 << 30, 0),
            "RSTCTL0_PRSTCTL0.IOPCTL0": (0x50000010, 1 << 6, 0),
            "IOPCTL0_PIO1_0.FSEL": (0x50004080, 15, 1),
            "IOPCTL0_PIO0_31.FSEL, IBENA": (0x5000407C, 0x4F, 0x41),
        },
        flash=0x28000000,
    ),
    "nrf52840dk": Expected(
        *(0x40002000, 16_000_000, _NRF52_OPEN | _pin_cnf(0, 8, 0x50000700), 6, 0),
        *(_NRF52840_READS, 8),
    ),
    "nrf52dk": Expected(
        0x40002000,
        16_000_000,
        _NRF52_OPEN | _pin_cnf(0, 8, 0x50000700),
        6,
        0,
        _nrf52(0x52832, 0x41414730),  # AAG0
        8,
    ),
    "nrf5340dk": Expected(0x50008000, 16_000_000, _NRF5340_OPEN, 20, 0, _NRF5340_READS, 22),
    "nrf5340dk_max": Expected(
        0x50008000,
        16_000_000,
        _NRF5340_OPEN | {"CLOCK_HFCLKCTRL.HCLK": (0x50005558, 3, 0)},
        20,
        0,
        _NRF5340_READS,
        22,
    ),
    "nucleo_f446re": Expected(0x40004400, 16_000_000, _STM32F4_USART2_ON_PA2_PA3),
    "nucleo_h743zi": Expected(0x40004800, 64_000_000, _STM32H7_USART3_ON_PD8_PD9),
    "nucleo_h743zi_max": Expected(
        0x40004800,
        64_000_000 // 4 * 50 // 2 // 2 // 2,
        _STM32H7_USART3_ON_PD8_PD9
        | {
            "PWR_CR3 LDOEN, SCUEN, BYPASS": (0x5802480C, 7, 2),
            "PWR_D3CR.VOS": (0x58024818, 3 << 14, 3 << 14),
            "FLASH_ACR LATENCY, WRHIGHFREQ": (0x52002000, 0x3F, 0x22),
            "RCC_PLLCKSELR PLLSRC, DIVM1": (0x58024428, 0x3F3, 4 << 4),
            "RCC_PLLCFGR PLL1VCOSEL, PLL1RGE, DIVP1EN": (0x5802442C, 0x1000E, 0x1000C),
            "RCC_PLL1DIVR N, P": (0x58024430, 0xFFFF, 49 | 1 << 9),
            "RCC_CR.PLL1ON": (0x58024400, 1 << 24, 1 << 24),
            "RCC_D1CFGR HPRE, D1PPRE, D1CPRE": (0x58024418, 0xF7F, 8 | 4 << 4),
            "RCC_D2CFGR D2PPRE1, D2PPRE2": (0x5802441C, 0x770, 0x440),
            "RCC_D3CFGR.D3PPRE": (0x58024420, 0x70, 0x40),
            "RCC_CFGR.SW": (0x58024410, 7, 3),
        },
        reads={
            0x58024804: lambda registers: 1 << 13,
            **_on(0x58024818, 3 << 14, 1 << 13),
            **_on(0x58024400, 1 << 24, 1 << 25),
            **_follows(0x58024410, 3),
        },
    ),
    "nucleo_l476rg": Expected(0x40004400, 4_000_000, _STM32L4_USART2_ON_PA2_PA3),
    "nucleo_l476rg_max": Expected(
        0x40004400,
        4_000_000 * 40 // 2,
        _STM32L4_USART2_ON_PA2_PA3
        | {
            "FLASH_ACR": (0x40022000, 0xFFF, 0x704),
            "RCC_CR.PLLON": (0x40021000, 1 << 24, 1 << 24),
            "RCC_PLLCFGR.PLLSRC, PLLM, PLLN, PLLREN, PLLR": (
                0x4002100C,
                0x7007F73,
                1 | 40 << 8 | 1 << 24,
            ),
            "RCC_CFGR.SW, HPRE, PPRE1, PPRE2": (0x40021008, 0x3FF3, 3),
        },
        reads={**_on(0x40021000, 1 << 24, 1 << 25), **_follows(0x40021008, 2)},
    ),
    "nucleo_u575zi": Expected(0x40013800, 4_000_000, _STM32U5_USART1_ON_PA9_PA10),
    "nucleo_u575zi_max": Expected(
        0x40013800,
        4_000_000 * 80 // 2,
        _STM32U5_USART1_ON_PA9_PA10
        | {
            "RCC_AHB3ENR.PWREN": (0x46020C94, 1 << 2, 1 << 2),
            "PWR_VOSR VOS, BOOSTEN": (0x4602080C, 7 << 16, 7 << 16),
            "FLASH_ACR.LATENCY": (0x40022000, 15, 4),
            "RCC_PLL1CFGR SRC, RGE, M, MBOOST, REN": (0x46020C28, 0x4FF0F, 1 << 18 | 1),
            "RCC_PLL1DIVR N, R": (0x46020C34, 0x7F0001FF, 79 | 1 << 24),
            "RCC_CR.PLL1ON": (0x46020C00, 1 << 24, 1 << 24),
            "RCC_CFGR1.SW": (0x46020C1C, 3, 3),
        },
        reads={
            # Ready with a voltage; the booster only with the PLL's clock.
            0x4602080C: lambda registers: (
                registers.get(0x4602080C, 0)
                | (1 << 15 if registers.get(0x4602080C, 0) & 3 << 16 else 0)
                | (1 << 14 if registers.get(0x4602080C, 0) & 1 << 18 else 0)
            ),
            **_on(0x46020C00, 1 << 24, 1 << 25),
            **_follows(0x46020C1C, 2),
        },
    ),
    "pico": Expected(0x40034000, 12_000_000, _RP2040FieldsS, flash=0x10000000, reads=_RP2040_READS),
    "pico_max": Expected(
        0x40034000,
        12_000_000 * 125 // 6 // 2,
        _RP2040FieldsS
        | {
            "CLK_SYS_CTRL.SRC": (0x4000803C, 0xE1, 1),
            "RESETS_RESET of PLL_SYS": (0x4000C000, 1 << 12, 0),
            "PLL_SYS_CS.REFDIV": (0x40028000, 63, 1),
            "PLL_SYS_PWR": (0x40028004, 0x29, 0),
            "PLL_SYS_FBDIV_INT": (0x40028008, 0xFFF, 125),
            "PLL_SYS_PRIM": (0x4002800C, 0x77000, 6 << 16 | 2 << 12),
        },
        flash=0x10000000,
        reads=_RP2040_READS,
    ),
    "pico2": Expected(
        0x40070000, 12_000_000, _RP2350FieldsS, flash=0x10000000, reads=_RP2350_READS
    ),
    "pico2_max": Expected(
        0x40070000,
        12_000_000 * 125 // 5 // 2,
        _RP2350FieldsS
        | {
            "CLK_SYS_CTRL.SRC": (0x4001003C, 0xE1, 1),
            "RESETS_RESET of PLL_SYS": (0x40020000, 1 << 14, 0),
            "PLL_SYS_CS.REFDIV": (0x40050000, 63, 1),
            "PLL_SYS_PWR": (0x40050004, 0x29, 0),
            "PLL_SYS_FBDIV_INT": (0x40050008, 0xFFF, 125),
            "PLL_SYS_PRIM": (0x4005000C, 0x77000, 5 << 16 | 2 << 12),
        },
        flash=0x10000000,
        reads=_RP2350_READS,
    ),
    "rt1060_evk": Expected(0x40184000, 24_000_000, _RT1062, flash=0x60000000),
    "rt1060_evk_max": Expected(
        0x40184000,
        24_000_000,
        {name: value for name, value in _RT1062.items() if not name.startswith("CCM_CB")}
        | {
            "CCM_CBCMR.PERIPH_CLK2_SEL, PRE_PERIPH_CLK_SEL": (
                *(0x400FC018, 3 << 18 | 3 << 12, 3 << 18 | 1 << 12),
            ),
            "CCM_CBCDR.PERIPH_CLK_SEL, PERIPH_CLK2_PODF, AHB_PODF, IPG_PODF": (
                *(0x400FC014, 1 << 25 | 7 << 27 | 31 << 8, 3 << 8),
            ),
            "CCM_CSCMR1.PERCLK_PODF, PERCLK_CLK_SEL": (0x400FC01C, 0x7F, 1),
            "CCM_CACRR.ARM_PODF": (0x400FC010, 7, 1),
            "CCM_ANALOG_PLL_ARM.DIV_SELECT, POWERDOWN, ENABLE, BYPASS_CLK_SRC, BYPASS": (
                *(0x400D8000, 0x1F07F, 1 << 13 | 100),
            ),
            "DCDC_REG3.TRG": (0x4008000C, 31, 0x13),
        },
        flash=0x60000000,
        reads={
            # The PLL, which is bypassed and without power after reset, locks when it has some.
            0x400D8000: lambda registers: (
                registers.get(0x400D8000, 0x13063)
                | (0 if registers.get(0x400D8000, 0x13063) & 1 << 12 else 1 << 31)
            ),
            0x40080000: lambda registers: 1 << 31 if 0x4008000C in registers else 0,
        },
    ),
}
