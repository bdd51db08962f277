# SPDX-License-Identifier: Apache-2.0
"""The FPGA images of Arm's MPS2, MPS2+ and MPS3: a core, and where its memories lie."""

load("//boards:board.bzl", "CMSDK_UART", "KB", "MB", "MHZ", "chip", "flash", "ram", "systick")

_IRQS = {
    "UARTRX0": 0,
    "UARTTX0": 1,
    "UARTRX1": 2,
    "UARTTX1": 3,
    "UARTRX2": 4,
    "UARTTX2": 5,
    "PORT0_ALL": 6,
    "PORT1_ALL": 7,
    "TIMER0": 8,
    "TIMER1": 9,
    "DUALTIMER": 10,
    "SPI": 11,
    "UARTOVF": 12,
    "ETHERNET": 13,
    "I2S": 14,
    "TSC": 15,
}

_IOT_KIT_IRQS = {
    "NONSEC_WATCHDOG_RESET": 0,
    "NONSEC_WATCHDOG": 1,
    "S32K_TIMER": 2,
    "TIMER0": 3,
    "TIMER1": 4,
    "DUALTIMER": 5,
    "MPC": 9,
    "PPC": 10,
    "MSC": 11,
    "BRIDGE_ERROR": 12,
    "UARTRX0": 32,
    "UARTTX0": 33,
}

def _fpga_image(
        core,
        psram,
        flash_base = 0x00000000,
        sram = 0x20000000,
        uart0 = 0x40004000,
        clock_hz = 25 * MHZ,
        irqs = _IRQS):
    return chip(
        core = core,
        memories = [
            flash("flash", flash_base, 4 * MB),
            ram("sram", sram, 4 * MB),
            ram("psram", psram, 16 * MB),
        ],
        code = "flash",
        data = "sram",
        arena = ["sram", "psram"],
        uart_driver = CMSDK_UART,
        uarts = {"uart0": uart0},
        clock_hz = clock_hz,
        timer = systick(clock_hz),
        irqs = irqs,
    )

AN385 = _fpga_image("cortex-m3", psram = 0x21000000)

# Core with FPU.
AN386 = _fpga_image("cortex-m4", psram = 0x21000000)

AN500 = _fpga_image("cortex-m7", psram = 0x60000000)

# Core with FPU and DSP extension, always in the secure world.
AN505 = _fpga_image(
    "cortex-m33",
    clock_hz = 20 * MHZ,
    flash_base = 0x10000000,
    irqs = _IOT_KIT_IRQS,
    psram = 0x80000000,
    sram = 0x38000000,
    uart0 = 0x50200000,
)

# MPS3. Its core has neither FPU nor DSP extension; in the secure world too.
AN524 = chip(
    core = "cortex-m33+nofp+nodsp",
    memories = [
        flash("bram", 0x10000000, 512 * KB),
        ram("sram", 0x30000000, 128 * KB),
    ],
    code = "bram",
    data = "sram",
    arena = ["sram"],
    uart_driver = CMSDK_UART,
    uarts = {"uart0": 0x51303000},
    clock_hz = 32 * MHZ,
    timer = systick(32 * MHZ),
    irqs = _IOT_KIT_IRQS,
)
