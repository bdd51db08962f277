# SPDX-License-Identifier: Apache-2.0
"""ST STM32H743, the variant with 2 MB of flash: a Cortex-M7 with double precision FPU."""

load("//boards:board.bzl", "KB", "MB", "MHZ", "chip", "clock", "flash", "jlink", "openocd", "pyocd", "ram", "set_bits", "set_field", "st_link", "stm32_usart", "systick", "wait_for", "write")
load("//boards/chips:stm32_irqs.bzl", "STM32_F4_H7_IRQS")

_CLOCKS_1 = 0x580244e8  # RCC_APB1LENR
_CLOCKS_2 = 0x580244f0  # RCC_APB2ENR

_RCC = 0x58024400
_PWR = 0x58024800

# The PLL makes 400 MHz from the internal oscillator. The precision is the same as after reset:
# within 1%. Buses run at half of it, peripherals at a quarter.
_MAX = clock(
    core_hz = 400 * MHZ,
    uart_hz = 100 * MHZ,
    writes = [
        set_field(_PWR + 0x0c, 0, 7, 2),  # supplied by the regulator, as the Nucleo is wired
        wait_for(_PWR + 0x04, 1 << 13, 1 << 13),
        set_field(_PWR + 0x18, 14, 3, 3),  # its highest voltage
        wait_for(_PWR + 0x18, 1 << 13, 1 << 13),
        set_field(0x52002000, 0, 0x3f, 2 | 2 << 4),  # wait states of the flash memory
        set_field(_RCC + 0x28, 0, 0x3f3, 4 << 4),  # 64 MHz / 4
        set_field(_RCC + 0x2c, 0, 1 << 16 | 15, 1 << 16 | 3 << 2),
        write(_RCC + 0x30, 50 - 1 | 1 << 9 | 1 << 16 | 1 << 24),  # * 50 / 2
        set_bits(_RCC, 1 << 24),
        wait_for(_RCC, 1 << 25, 1 << 25),
        set_field(_RCC + 0x18, 0, 0xf7f, 8 | 4 << 4),
        set_field(_RCC + 0x1c, 4, 0x77, 4 | 4 << 4),
        set_field(_RCC + 0x20, 4, 7, 4),
        set_field(_RCC + 0x10, 0, 7, 3),
        wait_for(_RCC + 0x10, 7 << 3, 3 << 3),
    ],
)

# It runs from its internal oscillator of 64 MHz, as after reset, with its caches off.
STM32H743 = chip(
    core = "cortex-m7",
    memories = [
        flash("flash", 0x08000000, 2 * MB, write = 32),
        ram("dtcm", 0x20000000, 128 * KB),
        ram("axi_sram", 0x24000000, 512 * KB),
    ],
    code = "flash",
    data = "dtcm",
    arena = ["dtcm", "axi_sram"],
    uart_driver = stm32_usart(
        version = 2,
        gpio = 0x58020000,
        gpio_clocks = 0x580244e0,  # RCC_AHB4ENR
        clocks = {
            "usart1": (_CLOCKS_2, 4),
            "usart2": (_CLOCKS_1, 17),
            "usart3": (_CLOCKS_1, 18),
        },
    ),
    uarts = {
        "usart1": 0x40011000,
        "usart2": 0x40004400,
        "usart3": 0x40004800,
    },
    clock_hz = 64 * MHZ,
    max_clock = _MAX,
    timer = systick(64 * MHZ),
    init = Label("//boards/chips:stm32h743_init"),
    irqs = STM32_F4_H7_IRQS | {
        "PVD_AVD": 1,
        "FDCAN1_IT0": 19,
        "FDCAN2_IT0": 20,
        "FDCAN1_IT1": 21,
        "FDCAN2_IT1": 22,
        "TIM1_BRK": 24,
        "TIM1_UP": 25,
        "TIM1_TRG_COM": 26,
        "FMC": 48,
        "SDMMC1": 49,
        "ETH": 61,
        "ETH_WKUP": 62,
        "FDCAN_CAL": 63,
        "DCMI": 78,
        "RNG": 80,
        "UART7": 82,
        "UART8": 83,
        "SPI4": 84,
        "SPI5": 85,
        "SPI6": 86,
        "SAI1": 87,
        "LTDC": 88,
        "LTDC_ER": 89,
        "DMA2D": 90,
        "SAI2": 91,
        "QUADSPI": 92,
        "LPTIM1": 93,
        "CEC": 94,
        "I2C4_EV": 95,
        "I2C4_ER": 96,
        "SPDIF_RX": 97,
        "OTG_FS_EP1_OUT": 98,
        "OTG_FS_EP1_IN": 99,
        "OTG_FS_WKUP": 100,
        "OTG_FS": 101,
        "DMAMUX1_OVR": 102,
        "HRTIM1_Master": 103,
        "HRTIM1_TIMA": 104,
        "HRTIM1_TIMB": 105,
        "HRTIM1_TIMC": 106,
        "HRTIM1_TIMD": 107,
        "HRTIM1_TIME": 108,
        "HRTIM1_FLT": 109,
        "DFSDM1_FLT0": 110,
        "DFSDM1_FLT1": 111,
        "DFSDM1_FLT2": 112,
        "DFSDM1_FLT3": 113,
        "SAI3": 114,
        "SWPMI1": 115,
        "TIM15": 116,
        "TIM16": 117,
        "TIM17": 118,
        "MDIOS_WKUP": 119,
        "MDIOS": 120,
        "JPEG": 121,
        "MDMA": 122,
        "SDMMC2": 124,
        "HSEM1": 125,
        "ADC3": 127,
        "DMAMUX2_OVR": 128,
        "BDMA_Channel0": 129,
        "BDMA_Channel1": 130,
        "BDMA_Channel2": 131,
        "BDMA_Channel3": 132,
        "BDMA_Channel4": 133,
        "BDMA_Channel5": 134,
        "BDMA_Channel6": 135,
        "BDMA_Channel7": 136,
        "COMP": 137,
        "LPTIM2": 138,
        "LPTIM3": 139,
        "LPTIM4": 140,
        "LPTIM5": 141,
        "LPUART1": 142,
        "CRS": 144,
        "ECC": 145,
        "SAI4": 146,
        "WAKEUP_PIN": 149,
    },
    flash_method = [
        pyocd("stm32h743xx"),
        openocd("interface/stlink.cfg", "target/stm32h7x_dual_bank.cfg"),
        jlink("STM32H743ZI"),
    ] + st_link(),
)
