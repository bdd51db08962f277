# SPDX-License-Identifier: Apache-2.0
"""ST STM32F100, the variant with 128 KB of flash: a Cortex-M3."""

load("//boards:board.bzl", "KB", "MHZ", "chip", "flash", "jlink", "openocd", "ram", "st_link", "stm32_usart", "systick")
load("//boards/chips:stm32_irqs.bzl", "STM32_IRQS")

_CLOCKS_1 = 0x4002101c  # RCC_APB1ENR
_CLOCKS_2 = 0x40021018  # RCC_APB2ENR, ports too

# It runs from its internal oscillator, as after reset.
STM32F100 = chip(
    core = "cortex-m3",
    memories = [
        flash("flash", 0x08000000, 128 * KB, write = 2),
        ram("sram", 0x20000000, 8 * KB),
    ],
    code = "flash",
    data = "sram",
    arena = ["sram"],
    uart_driver = stm32_usart(
        version = 1,
        gpio = 0x40010800,
        gpio_clocks = _CLOCKS_2,
        clocks = {
            "usart1": (_CLOCKS_2, 14),
            "usart2": (_CLOCKS_1, 17),
            "usart3": (_CLOCKS_1, 18),
        },
        first_port = 2,
        is_f1 = True,
    ),
    uarts = {
        "usart1": 0x40013800,
        "usart2": 0x40004400,
        "usart3": 0x40004800,
    },
    clock_hz = 8 * MHZ,
    timer = systick(8 * MHZ),
    irqs = STM32_IRQS | {
        "PVD": 1,
        "TAMPER": 2,
        "RTC": 3,
        "DMA1_Channel1": 11,
        "DMA1_Channel2": 12,
        "DMA1_Channel3": 13,
        "DMA1_Channel4": 14,
        "DMA1_Channel5": 15,
        "DMA1_Channel6": 16,
        "DMA1_Channel7": 17,
        "ADC1": 18,
        "TIM1_BRK_TIM15": 24,
        "TIM1_UP_TIM16": 25,
        "TIM1_TRG_COM_TIM17": 26,
        "CEC": 42,
    },
    flash_method = [
        openocd("interface/stlink.cfg", "target/stm32f1x.cfg"),
        jlink("STM32F100RB"),
    ] + st_link(),
)
