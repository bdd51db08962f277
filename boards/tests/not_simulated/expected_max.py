# SPDX-License-Identifier: Apache-2.0
"""Expected register writes of start-up on boards at their chip's highest clock."""

from boards.tests.not_simulated.fields import (
    LPC55S69,
    LPC55S69_FACTORY,
    NRF5340,
    NRF5340_READS,
    RA8M1,
    RA8M1_READS,
    RP2040_FIELDS,
    RP2040_READS,
    RP2350_FIELDS,
    RP2350_READS,
    RT1062,
    SAMD21_SERCOM5_ON_PB22_PB23,
    STM32F4_USART2_ON_PA2_PA3,
    STM32G0_USART2_ON_PA2_PA3,
    STM32H7_READS,
    STM32H7_USART3_ON_PD8_PD9,
    STM32L0_READS,
    STM32L0_USART2_ON_PA2_PA3,
    STM32L4_USART2_ON_PA2_PA3,
    STM32U5_USART1_ON_PA9_PA10,
    Expected,
    Fields,
    follows,
    on,
)


def _rp2_pll(clocks: int, reset: tuple[int, int], pll: int, first: int, second: int) -> Fields:
    """Return the core's clock: the crystal's, times 125, divided twice."""
    register, bit = reset
    return {
        "CLK_SYS_CTRL.SRC": (clocks + 0x3C, 0xE1, 1),
        "RESETS_RESET of PLL_SYS": (register, 1 << bit, 0),
        "PLL_SYS_CS.REFDIV": (pll, 63, 1),
        "PLL_SYS_PWR": (pll + 4, 0x29, 0),
        "PLL_SYS_FBDIV_INT": (pll + 8, 0xFFF, 125),
        "PLL_SYS_PRIM": (pll + 12, 0x77000, first << 16 | second << 12),
    }


_SAMD21_COARSE = 0x1B  # the factory's value of an imagined chip

FASTEST = {
    "arduino_zero_max": Expected(
        0x42001C00,
        48_000_000,
        SAMD21_SERCOM5_ON_PB22_PB23
        | {
            "NVMCTRL_CTRLB.RWS": (0x41004004, 15 << 1, 1 << 1),
            "SYSCTRL_DFLLCTRL ENABLE, without ONDEMAND and MODE": (0x40000824, 0xFFFF, 2),
            "SYSCTRL_DFLLVAL.COARSE, FINE": (0x40000828, 0xFFFF, _SAMD21_COARSE << 10 | 0x200),
            "GCLK_GENCTRL ID, SRC, GENEN": (0x40000C04, 0x11F0F, 1 << 16 | 7 << 8),
        },
        flash=0x2000,
        reads={
            0x00806024: lambda registers: _SAMD21_COARSE << 26 | 0x12345,
            # Ready for the next value, and with a value.
            0x4000080C: lambda registers: 1 << 4 if registers.get(0x40000824) == 2 else 0,
        },
    ),
    "disco_f407_max": Expected(
        0x40004400,
        16_000_000 // 8 * 168 // 2 // 4,
        STM32F4_USART2_ON_PA2_PA3
        | {
            "FLASH_ACR": (0x40023C00, 0xFFF, 0x705),
            "RCC_CR.PLLON": (0x40023800, 1 << 24, 1 << 24),
            # The mask's upper bits include those that stay as after reset; PLLR of STM32F446.
            "RCC_PLLCFGR M, N, P, SRC": (0x40023804, 0xF043FFFF, 2 << 28 | 8 | 168 << 6),
            "RCC_CFGR SW, HPRE, PPRE1, PPRE2": (0x40023808, 0xFCF3, 2 | 5 << 10 | 4 << 13),
        },
        reads={
            **on(0x40023800, 1 << 24, 1 << 25),
            0x40023804: lambda registers: registers.get(0x40023804, 0x24003010),
            **follows(0x40023808, 2),
        },
    ),
    "ek_ra8m1_max": Expected(
        0x40358900,
        20_000_000,
        RA8M1
        | {
            "FLWT": (0x4001C11C, 7, 4),
            "SCKDIVCR": (0x4001E020, 0xFFFFFFFF, 0x31122332),
            "SCKSCR.CKSEL": (0x4001E026, 7, 5),
            "PLLCCR PLIDIV, PLSRCSEL, PLLMULNF, PLLMUL": (0x4001E028, 0xFFD3, 95 << 8 | 1),
            "PLLCR.PLLSTP": (0x4001E02A, 1, 0),
            "PLLCCR2 PLODIVP, PLODIVQ, PLODIVR": (0x4001E04C, 0xFFF, 0x111),
        },
        flash=0x02000000,
        reads=RA8M1_READS
        | {
            0x4001E03C: lambda registers: (
                (1 << 3 if registers.get(0x4001E032) == 0 else 0)
                | (1 << 5 if registers.get(0x4001E02A) == 0 else 0)
            )
        },
    ),
    "lpc55s69_evk_max": Expected(
        0x40086000,
        12_000_000,
        LPC55S69
        | {
            "SYSCON_MAINCLKSELB": (0x40000284, 7, 2),
            "SYSCON_PLL1CLKSEL": (0x40000294, 7, 0),
            "SYSCON_PLL1CTRL.SELR, SELI, SELP, CLKEN": (
                *(0x40000560, 0x1FFFFFF, 53 << 4 | 31 << 10 | 1 << 21),
            ),
            "SYSCON_PLL1NDEC.NDIV, NREQ": (0x40000568, 0x1FF, 6 | 1 << 8),
            "SYSCON_PLL1MDEC.MDIV, MREQ": (0x4000056C, 0x1FFFF, 150 | 1 << 16),
            "SYSCON_PLL1PDEC.PDIV, PREQ": (0x40000570, 0x3F, 1 | 1 << 5),
            "SYSCON_FMCCR.FLASHTIM": (0x40000400, 15 << 12, 11 << 12),
            "FLASH_INT_CLR_STATUS": (0x40034FE8, 31, 31),
            "FLASH_DATAW[0]": (0x40034080, 15, 11),
            "FLASH_CMD": (0x40034000, 0xFF, 2),
            "PMC_PDRUNCFGSET0": (0x400200C0, 0xFFFFFFFF, 1 << 10),
            "PMC_PDRUNCFGCLR0": (0x400200C8, 0xFFFFFFFF, 1 << 10),
            "PMC_LDOPMU": (0x4002001C, 31 << 10 | 31, 31 << 10 | 30),
            "PMC_DCDC0, VOUT": (0x40020010, 0xFFFFFFFF, 0x010C4E68 & ~(15 << 17) | 8 << 17),
            "PMC_DCDC1": (0x40020014, 0xFFFFFFFF, 0x01803A98),
        },
        flash=0,
        reads=LPC55S69_FACTORY
        | {
            0x40034FE0: lambda registers: 1 << 2 if registers.get(0x40034000) == 2 else 0,
            # Locked, with power and all three dividers taken over.
            0x40000564: lambda registers: int(
                registers.get(0x400200C8) == 1 << 10
                and bool(registers.get(0x40000568, 0) & 1 << 8)
                and bool(registers.get(0x4000056C, 0) & 1 << 16)
                and bool(registers.get(0x40000570, 0) & 1 << 5)
            ),
        },
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
    "nrf5340dk_max": Expected(
        0x50008000,
        16_000_000,
        NRF5340 | {"CLOCK_HFCLKCTRL.HCLK": (0x50005558, 3, 0)},
        20,
        0,
        NRF5340_READS,
        22,
    ),
    "nucleo_c031c6_max": Expected(
        0x40004400,
        48_000_000,
        STM32G0_USART2_ON_PA2_PA3
        | {
            "FLASH_ACR.PRFTEN, LATENCY": (0x40022000, 0x107, 0x101),
            "RCC_CR.HSIDIV": (0x40021000, 7 << 11, 0),
        },
        reads={0x40021000: lambda registers: registers.get(0x40021000, 0x1540)},
    ),
    "nucleo_g071rb_max": Expected(
        0x40004400,
        16_000_000 * 8 // 2,
        STM32G0_USART2_ON_PA2_PA3
        | {
            "FLASH_ACR.PRFTEN, LATENCY": (0x40022000, 0x107, 0x102),
            "RCC_CR.PLLON": (0x40021000, 1 << 24, 1 << 24),
            "RCC_PLLCFGR.PLLSRC, PLLM, PLLN, PLLREN, PLLR": (
                0x4002100C,
                0xF0007F73,
                2 | 8 << 8 | 1 << 28 | 1 << 29,
            ),
            "RCC_CFGR.SW, HPRE, PPRE": (0x40021008, 0x7F07, 2),
        },
        reads={
            **on(0x40021000, 1 << 24, 1 << 25),
            0x40021008: lambda registers: (
                registers.get(0x40021008, 0) | (registers.get(0x40021008, 0) & 7) << 3
            ),
        },
    ),
    "nucleo_h743zi_max": Expected(
        0x40004800,
        64_000_000 // 4 * 50 // 2 // 2 // 2,
        STM32H7_USART3_ON_PD8_PD9
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
            **STM32H7_READS,
            0x58024804: lambda registers: 1 << 13,
            **on(0x58024818, 3 << 14, 1 << 13),
            **on(0x58024400, 1 << 24, 1 << 25),
            **follows(0x58024410, 3),
        },
    ),
    "nucleo_l073rz_max": Expected(
        0x40004400,
        16_000_000 * 4 // 2,
        STM32L0_USART2_ON_PA2_PA3
        | {
            "RCC_APB1ENR PWREN, USART2EN": (0x40021038, 1 << 28 | 1 << 17, 1 << 28 | 1 << 17),
            "PWR_CR.VOS": (0x40007000, 3 << 11, 1 << 11),
            "RCC_CR PLLON, HSI16ON": (0x40021000, 1 << 24 | 1, 1 << 24 | 1),
            "RCC_CFGR.SW": (0x4002100C, 0xFD3FF3, 3 | 1 << 18 | 1 << 22),
        },
        reads=STM32L0_READS
        | {
            # The regulator is ready.
            0x40007004: lambda registers: 0,
            0x40007000: lambda registers: registers.get(0x40007000, 0x1000),
        },
    ),
    "nucleo_l476rg_max": Expected(
        0x40004400,
        4_000_000 * 40 // 2,
        STM32L4_USART2_ON_PA2_PA3
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
        reads={**on(0x40021000, 1 << 24, 1 << 25), **follows(0x40021008, 2)},
    ),
    "nucleo_u575zi_max": Expected(
        0x40013800,
        4_000_000 * 80 // 2,
        STM32U5_USART1_ON_PA9_PA10
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
            **on(0x46020C00, 1 << 24, 1 << 25),
            **follows(0x46020C1C, 2),
        },
    ),
    "pico_max": Expected(
        0x40034000,
        12_000_000 * 125 // 6 // 2,
        RP2040_FIELDS | _rp2_pll(0x40008000, (0x4000C000, 12), 0x40028000, 6, 2),
        flash=0x10000000,
        reads=RP2040_READS,
    ),
    "pico2_max": Expected(
        0x40070000,
        12_000_000 * 125 // 5 // 2,
        RP2350_FIELDS | _rp2_pll(0x40010000, (0x40020000, 14), 0x40050000, 5, 2),
        flash=0x10000000,
        reads=RP2350_READS,
    ),
    "rt1060_evk_max": Expected(
        0x40184000,
        24_000_000,
        {name: value for name, value in RT1062.items() if not name.startswith("CCM_CB")}
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
            # The PLL is bypassed and without power after reset. It locks once it has power.
            0x400D8000: lambda registers: (
                registers.get(0x400D8000, 0x13063)
                | (0 if registers.get(0x400D8000, 0x13063) & 1 << 12 else 1 << 31)
            ),
            0x40080000: lambda registers: 1 << 31 if 0x4008000C in registers else 0,
        },
    ),
}
