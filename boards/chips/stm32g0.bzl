# SPDX-License-Identifier: Apache-2.0
"""ST STM32G071 with 128 KB of flash, and STM32C031 with 32 KB: a Cortex-M0+, one bus, one set of addresses."""

load("//boards:board.bzl", "KB", "MHZ", "chip", "clock", "flash", "jlink", "openocd", "ram", "set_bits", "set_field", "st_link", "stm32_usart", "systick", "wait_for")

_CR = 0x40021000
_CFGR = 0x40021008
_PLLCFGR = 0x4002100c
_CLOCKS_1 = 0x4002103c  # RCC_APBENR1
_CLOCKS_2 = 0x40021040  # RCC_APBENR2
_ACR = 0x40022000

def _wait_states(count):
    """Returns writes for the wait states of the flash memory, with prefetch."""
    return [
        set_bits(_ACR, 1 << 8),
        set_field(_ACR, 0, 7, count),
        wait_for(_ACR, 7, count),
    ]

# The PLL makes 64 MHz from the internal oscillator. The precision is the same as after reset:
# within 1%.
_MAX_G071 = clock(
    core_hz = 64 * MHZ,
    uart_hz = 64 * MHZ,
    writes = _wait_states(2) + [
        set_field(_PLLCFGR, 0, 0xf1017f73, 2 | 8 << 8 | 1 << 28 | 1 << 29),  # 16 MHz * 8 / 2
        set_bits(_CR, 1 << 24),
        wait_for(_CR, 1 << 25, 1 << 25),
        set_field(_CFGR, 0, 7, 2),
        wait_for(_CFGR, 7 << 3, 2 << 3),
    ],
)

# The internal oscillator of 48 MHz, which is divided by 4 after reset.
_MAX_C031 = clock(
    core_hz = 48 * MHZ,
    uart_hz = 48 * MHZ,
    writes = _wait_states(1) + [set_field(_CR, 11, 7, 0)],
)

# Interrupts of both chips.
_IRQS = {
    "WWDG": 0,
    "FLASH": 3,
    "RCC": 4,
    "EXTI0_1": 5,
    "EXTI2_3": 6,
    "EXTI4_15": 7,
    "DMA1_Channel1": 9,
    "DMA1_Channel2_3": 10,
    "TIM1_BRK_UP_TRG_COM": 13,
    "TIM1_CC": 14,
    "TIM3": 16,
    "TIM14": 19,
    "TIM16": 21,
    "TIM17": 22,
    "I2C1": 23,
    "SPI1": 25,
    "USART1": 27,
    "USART2": 28,
}

def _chip(flash_size, ram_size, clock_hz, max_clock, irqs, flash_method):
    """Describes a chip that runs from its internal oscillator, as after reset.

    The USARTs' functions are those of the pins of port A.
    """
    return chip(
        core = "cortex-m0plus",
        memories = [
            flash("flash", 0x08000000, flash_size, write = 8),
            ram("sram", 0x20000000, ram_size),
        ],
        code = "flash",
        data = "sram",
        arena = ["sram"],
        uart_driver = stm32_usart(
            version = 2,
            gpio = 0x50000000,
            gpio_clocks = 0x40021034,  # RCC_IOPENR
            clocks = {
                "usart1": (_CLOCKS_2, 14),
                "usart2": (_CLOCKS_1, 17),
            },
            functions = {
                "usart1": 1,
                "usart2": 1,
            },
        ),
        uarts = {
            "usart1": 0x40013800,
            "usart2": 0x40004400,
        },
        clock_hz = clock_hz,
        max_clock = max_clock,
        timer = systick(clock_hz),
        irqs = _IRQS | irqs,
        flash_method = flash_method,
    )

STM32G071 = _chip(
    clock_hz = 16 * MHZ,
    flash_method = [
        openocd("interface/stlink.cfg", "target/stm32g0x.cfg"),
        jlink("STM32G071RB"),
    ] + st_link(),
    flash_size = 128 * KB,
    irqs = {
        "PVD": 1,
        "RTC_TAMP": 2,
        "UCPD1_2": 8,
        "DMA1_Ch4_7_DMAMUX1_OVR": 11,
        "ADC1_COMP": 12,
        "TIM2": 15,
        "TIM6_DAC_LPTIM1": 17,
        "TIM7_LPTIM2": 18,
        "TIM15": 20,
        "I2C2": 24,
        "SPI2": 26,
        "USART3_4_LPUART1": 29,
        "CEC": 30,
    },
    max_clock = _MAX_G071,
    ram_size = 36 * KB,
)

# OpenOCD 0.12 has no file for it.
STM32C031 = _chip(
    clock_hz = 12 * MHZ,
    flash_method = st_link() + [jlink("STM32C031C6")],
    flash_size = 32 * KB,
    irqs = {
        "RTC": 2,
        "DMAMUX1": 11,
        "ADC1": 12,
    },
    max_clock = _MAX_C031,
    ram_size = 12 * KB,
)
