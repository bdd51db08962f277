# SPDX-License-Identifier: Apache-2.0
"""ST STM32L475 and STM32L476 with 1 MB of flash: a Cortex-M4 with FPU."""

load("//boards:board.bzl", "KB", "MB", "MHZ", "chip", "clock", "flash", "jlink", "openocd", "pyocd", "ram", "set_bits", "set_field", "st_link", "stm32_usart", "systick", "wait_for", "write")
load("//boards/chips:stm32_irqs.bzl", "STM32_F4_H7_L4_IRQS")

_CLOCKS_1 = 0x40021058  # RCC_APB1ENR1
_CLOCKS_2 = 0x40021060  # RCC_APB2ENR

_ACR = 0x40022000
_CR = 0x40021000
_CFGR = 0x40021008
_PLLCFGR = 0x4002100c

# The PLL makes 80 MHz from the internal oscillator. The precision is the same as after reset:
# within 1%.
_MAX = clock(
    core_hz = 80 * MHZ,
    uart_hz = 80 * MHZ,
    writes = [
        write(_ACR, 0x704),  # 4 wait states, prefetch and both caches
        write(_PLLCFGR, 1 | 40 << 8 | 1 << 24),  # 4 MHz * 40 / 2
        set_bits(_CR, 1 << 24),
        wait_for(_CR, 1 << 25, 1 << 25),
        set_field(_CFGR, 0, 3, 3),
        wait_for(_CFGR, 3 << 2, 3 << 2),
    ],
)

# Interrupts of both chips.
_IRQS = STM32_F4_H7_L4_IRQS | {
    "PVD_PVM": 1,
    "DMA1_Channel1": 11,
    "DMA1_Channel2": 12,
    "DMA1_Channel3": 13,
    "DMA1_Channel4": 14,
    "DMA1_Channel5": 15,
    "DMA1_Channel6": 16,
    "DMA1_Channel7": 17,
    "ADC1_2": 18,
    "CAN1_TX": 19,
    "CAN1_RX0": 20,
    "CAN1_RX1": 21,
    "CAN1_SCE": 22,
    "TIM1_BRK_TIM15": 24,
    "TIM1_UP_TIM16": 25,
    "TIM1_TRG_COM_TIM17": 26,
    "DFSDM1_FLT3": 42,
    "TIM8_BRK": 43,
    "TIM8_UP": 44,
    "TIM8_TRG_COM": 45,
    "ADC3": 47,
    "FMC": 48,
    "SDMMC1": 49,
    "DMA2_Channel1": 56,
    "DMA2_Channel2": 57,
    "DMA2_Channel3": 58,
    "DMA2_Channel4": 59,
    "DMA2_Channel5": 60,
    "DFSDM1_FLT0": 61,
    "DFSDM1_FLT1": 62,
    "DFSDM1_FLT2": 63,
    "COMP": 64,
    "LPTIM1": 65,
    "LPTIM2": 66,
    "OTG_FS": 67,
    "DMA2_Channel6": 68,
    "DMA2_Channel7": 69,
    "LPUART1": 70,
    "QUADSPI": 71,
    "SAI1": 74,
    "SAI2": 75,
    "SWPMI1": 76,
    "TSC": 77,
    "RNG": 80,
}

def _stm32l47x(irqs, flash_method):
    """Describes an STM32L47x. It runs from its internal oscillator of 4 MHz, as after reset."""
    return chip(
        core = "cortex-m4",
        memories = [
            flash("flash", 0x08000000, 1 * MB, write = 8),
            ram("sram1", 0x20000000, 96 * KB),
            ram("sram2", 0x10000000, 32 * KB),
        ],
        code = "flash",
        data = "sram1",
        arena = ["sram1", "sram2"],
        uart_driver = stm32_usart(
            version = 2,
            gpio = 0x48000000,
            gpio_clocks = 0x4002104c,  # RCC_AHB2ENR
            clocks = {
                "usart1": (_CLOCKS_2, 14),
                "usart2": (_CLOCKS_1, 17),
                "usart3": (_CLOCKS_1, 18),
            },
        ),
        uarts = {
            "usart1": 0x40013800,
            "usart2": 0x40004400,
            "usart3": 0x40004800,
        },
        clock_hz = 4 * MHZ,
        max_clock = _MAX,
        timer = systick(4 * MHZ),
        irqs = _IRQS | irqs,
        flash_method = flash_method + st_link(),
    )

_OPENOCD = openocd("interface/stlink.cfg", "target/stm32l4x.cfg")

STM32L475 = _stm32l47x(
    flash_method = [
        pyocd("stm32l475xg"),
        _OPENOCD,
        jlink("STM32L475VG"),
    ],
    irqs = {},
)

# Variant with a controller of LCD displays.
STM32L476 = _stm32l47x(
    flash_method = [
        pyocd("stm32l475xg"),
        _OPENOCD,
        jlink("STM32L476RG"),
    ],
    irqs = {"LCD": 78},
)
