# SPDX-License-Identifier: Apache-2.0
"""ST STM32F4: a Cortex-M4 with FPU."""

load("//boards:board.bzl", "KB", "MHZ", "STM32F4_USART", "chip", "clock", "dfu_util", "flash", "jlink", "openocd", "pyocd", "ram", "set_bits", "set_field", "st_link", "systick", "wait_for", "write")
load("//boards/chips:stm32_irqs.bzl", "STM32_F4_H7_IRQS")

_UARTS = {
    "usart1": 0x40011000,
    "usart2": 0x40004400,
    "usart3": 0x40004800,
    "uart4": 0x40004c00,
    "uart5": 0x40005000,
    "usart6": 0x40011400,
}

# Interrupts of the whole family.
_IRQS = STM32_F4_H7_IRQS | {
    "PVD": 1,
    "CAN1_TX": 19,
    "CAN1_RX0": 20,
    "CAN1_RX1": 21,
    "CAN1_SCE": 22,
    "TIM1_BRK_TIM9": 24,
    "TIM1_UP_TIM10": 25,
    "TIM1_TRG_COM_TIM11": 26,
    "OTG_FS_WKUP": 42,
    "SDIO": 49,
    "CAN2_TX": 63,
    "CAN2_RX0": 64,
    "CAN2_RX1": 65,
    "CAN2_SCE": 66,
    "OTG_FS": 67,
}

_ACR = 0x40023c00
_CR = 0x40023800
_PLLCFGR = 0x40023804
_CFGR = 0x40023808

# The PLL makes 168 MHz from the internal oscillator. The precision is the same as after reset:
# within 1%.
_MAX = clock(
    core_hz = 168 * MHZ,
    uart_hz = {
        uart: (84 if uart in ["usart1", "usart6"] else 42) * MHZ
        for uart in _UARTS
    },
    writes = [
        write(_ACR, 0x705),  # 5 wait states, prefetch and both caches
        # 16 MHz / 8 * 168 / 2, USB / 7; above are reserved bits, and STM32F446's PLLR
        set_field(_PLLCFGR, 0, (1 << 28) - 1, 8 | 168 << 6 | 7 << 24),
        set_bits(_CR, 1 << 24),
        wait_for(_CR, 1 << 25, 1 << 25),
        set_field(_CFGR, 10, 63, 5 | 4 << 3),  # APB1 is a quarter of it, APB2 a half
        set_field(_CFGR, 0, 3, 2),
        wait_for(_CFGR, 3 << 2, 2 << 2),
    ],
)

def _stm32f4(flash_kb, ccm, irqs, flash_method):
    """Describes an STM32F4. It runs from the internal oscillator, as after reset."""
    return chip(
        core = "cortex-m4",
        memories = [
            flash("flash", 0x08000000, flash_kb * KB),
            ram("sram", 0x20000000, 128 * KB),
        ] + ccm,
        code = "flash",
        data = "sram",
        arena = ["sram"] + [memory["name"] for memory in ccm],
        uart_driver = STM32F4_USART,
        uarts = _UARTS,
        clock_hz = 16 * MHZ,
        max_clock = _MAX,
        timer = systick(16 * MHZ),
        irqs = _IRQS | irqs,
        flash_method = flash_method + st_link() + [dfu_util("0483:df11", 0x08000000)],
    )

_OPENOCD = openocd("interface/stlink.cfg", "target/stm32f4x.cfg")

# The variant with 1 MB of flash.
STM32F405 = _stm32f4(
    ccm = [ram("ccm", 0x10000000, 64 * KB)],
    flash_kb = 1024,
    flash_method = [
        pyocd("stm32f405rgtx"),
        _OPENOCD,
        jlink("STM32F405RG"),
    ],
    irqs = {
        "FSMC": 48,
        "RNG": 80,
    },
)

# The variant with 1 MB of flash.
STM32F407 = _stm32f4(
    ccm = [ram("ccm", 0x10000000, 64 * KB)],
    flash_kb = 1024,
    flash_method = [
        _OPENOCD,
        jlink("STM32F407VG"),
    ],
    irqs = {
        "FSMC": 48,
        "ETH": 61,
        "ETH_WKUP": 62,
        "DCMI": 78,
        "RNG": 80,
    },
)

# The variant with 512 KB of flash.
STM32F446 = _stm32f4(
    ccm = [],
    flash_kb = 512,
    flash_method = [
        _OPENOCD,
        jlink("STM32F446RE"),
    ],
    irqs = {
        "FMC": 48,
        "DCMI": 78,
        "SPI4": 84,
        "SAI1": 87,
        "SAI2": 91,
        "QUADSPI": 92,
        "CEC": 93,
        "SPDIF_RX": 94,
        "FMPI2C1_EV": 95,
        "FMPI2C1_ER": 96,
    },
)
