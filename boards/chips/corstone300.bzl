# SPDX-License-Identifier: Apache-2.0
"""Arm's subsystem Corstone-300 as in FPGA image AN547: a Cortex-M55 with an Ethos-U55.

Everything runs in the secure world, so addresses are the secure aliases. A loader fills the
instruction memory at the start.
"""

load("//boards:board.bzl", "CMSDK_UART", "KB", "MB", "MHZ", "chip", "ethos_u", "flash", "ram")

CORSTONE300 = chip(
    core = "cortex-m55",
    memories = [
        flash("itcm", 0x00000000, 512 * KB),
        ram("dtcm", 0x20000000, 512 * KB),
        ram("sram", 0x31000000, 4 * MB),
    ],
    code = "itcm",
    data = "dtcm",
    arena = ["dtcm", "sram"],
    uart_driver = CMSDK_UART,
    uarts = {"uart0": 0x59303000},
    clock_hz = 25 * MHZ,
    npu = ethos_u(
        configuration = "ethos-u55-128",
        base = 0x48102000,
        irq = 56,
        memory_mode = "Shared_Sram",
        out_of_reach = ["itcm", "dtcm"],
        scratch = "sram",
        simulated = True,
    ),
)
