# SPDX-License-Identifier: Apache-2.0
"""Arm's subsystem Corstone-320 as its FVP has it: a Cortex-M85 with an Ethos-U85.

Everything runs in the secure world, so addresses are the secure aliases. A loader fills the memory
for code at the start.
"""

load("//boards:board.bzl", "CMSDK_UART", "KB", "MB", "MHZ", "chip", "ethos_u", "flash", "ram", "systick")

CORSTONE320 = chip(
    core = "cortex-m85",
    memories = [
        flash("code", 0x12000000, 2 * MB),
        ram("dtcm", 0x30000000, 32 * KB),
        ram("sram", 0x31000000, 4 * MB),
    ],
    code = "code",
    data = "dtcm",
    arena = ["sram"],
    uart_driver = CMSDK_UART,
    uarts = {"uart0": 0x58203000},
    clock_hz = 25 * MHZ,
    timer = systick(25 * MHZ),
    irqs = {
        "ETHOS_U": 16,
        "UARTRX0": 33,
        "UARTTX0": 34,
    },
    npu = ethos_u(
        configuration = "ethos-u85-256",
        base = 0x50004000,
        irq = 16,
        memory_mode = "Sram_Only",
        out_of_reach = ["dtcm"],
        scratch = "sram",
    ),
)
