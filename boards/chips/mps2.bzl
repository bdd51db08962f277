# SPDX-License-Identifier: Apache-2.0
"""The FPGA images of Arm's MPS2 and MPS2+: a core, and where its memories lie."""

load("//boards:board.bzl", "CMSDK_UART", "MB", "MHZ", "chip", "flash", "ram")

def _fpga_image(
        core,
        psram,
        flash_base = 0x00000000,
        sram = 0x20000000,
        uart0 = 0x40004000,
        clock_hz = 25 * MHZ):
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
    )

AN385 = _fpga_image("cortex-m3", psram = 0x21000000)

# With FPU.
AN386 = _fpga_image("cortex-m4", psram = 0x21000000)

AN500 = _fpga_image("cortex-m7", psram = 0x60000000)

# With FPU and DSP extension, always in the secure world.
AN505 = _fpga_image(
    "cortex-m33",
    clock_hz = 20 * MHZ,
    flash_base = 0x10000000,
    psram = 0x80000000,
    sram = 0x38000000,
    uart0 = 0x50200000,
)
