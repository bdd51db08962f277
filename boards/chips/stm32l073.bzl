# SPDX-License-Identifier: Apache-2.0
"""ST STM32L073 with 192 KB of flash: a Cortex-M0+."""

load("//boards:board.bzl", "KB", "MHZ", "chip", "clock", "flash", "jlink", "openocd", "ram", "set_bits", "set_field", "st_link", "stm32_usart", "systick", "wait_for")

_CR = 0x40021000
_CFGR = 0x4002100c
_CLOCKS_2 = 0x40021034  # RCC_APB2ENR
_CLOCKS_1 = 0x40021038  # RCC_APB1ENR
_ACR = 0x40022000
_PWR_CR = 0x40007000

def _system_clock(source):
    """Returns writes that select the core's clock: 1 is the oscillator of 16 MHz, 3 the PLL."""
    return [set_field(_CFGR, 0, 3, source), wait_for(_CFGR, 3 << 2, source << 2)]

# The oscillator that runs after reset, of 2.1 MHz, is too inexact for a UART. The one of 16 MHz is
# within 1%. It needs a wait state at the voltage after reset.
_WRITES = [
    set_bits(_ACR, 1),
    wait_for(_ACR, 1, 1),
    set_bits(_CR, 1),
    wait_for(_CR, 1 << 2, 1 << 2),
] + _system_clock(1)

# The PLL makes 32 MHz from it, at the highest voltage.
_MAX = clock(
    core_hz = 32 * MHZ,
    uart_hz = 32 * MHZ,
    writes = [
        set_bits(_CLOCKS_1, 1 << 28),  # clock of PWR
        set_field(_PWR_CR, 11, 3, 1),
        wait_for(_PWR_CR + 4, 1 << 4, 0),
        set_field(_CFGR, 16, 0xfd, 1 << 2 | 1 << 6),  # 16 MHz * 4 / 2
        set_bits(_CR, 1 << 24),
        wait_for(_CR, 1 << 25, 1 << 25),
    ] + _system_clock(3),
)

# The USARTs' functions are those of the pins of port A.
STM32L073 = chip(
    core = "cortex-m0plus",
    memories = [
        flash("flash", 0x08000000, 192 * KB),
        ram("sram", 0x20000000, 20 * KB),
    ],
    code = "flash",
    data = "sram",
    arena = ["sram"],
    uart_driver = stm32_usart(
        version = 2,
        gpio = 0x50000000,
        gpio_clocks = 0x4002102c,  # RCC_IOPENR
        clocks = {
            "usart1": (_CLOCKS_2, 14),
            "usart2": (_CLOCKS_1, 17),
        },
        functions = {
            "usart1": 4,
            "usart2": 4,
        },
    ),
    uarts = {
        "usart1": 0x40013800,
        "usart2": 0x40004400,
    },
    clock_hz = 16 * MHZ,
    max_clock = _MAX,
    timer = systick(16 * MHZ),
    irqs = {
        "WWDG": 0,
        "PVD": 1,
        "RTC": 2,
        "FLASH": 3,
        "RCC_CRS": 4,
        "EXTI0_1": 5,
        "EXTI2_3": 6,
        "EXTI4_15": 7,
        "TSC": 8,
        "DMA1_Channel1": 9,
        "DMA1_Channel2_3": 10,
        "DMA1_Channel4_5_6_7": 11,
        "ADC1_COMP": 12,
        "LPTIM1": 13,
        "USART4_5": 14,
        "TIM2": 15,
        "TIM3": 16,
        "TIM6_DAC": 17,
        "TIM7": 18,
        "TIM21": 20,
        "I2C3": 21,
        "TIM22": 22,
        "I2C1": 23,
        "I2C2": 24,
        "SPI1": 25,
        "SPI2": 26,
        "USART1": 27,
        "USART2": 28,
        "RNG_LPUART1": 29,
        "LCD": 30,
        "USB": 31,
    },
    writes = _WRITES,
    flash_method = [
        openocd("interface/stlink.cfg", "target/stm32l0.cfg"),
        jlink("STM32L073RZ"),
    ] + st_link(),
)
