# SPDX-License-Identifier: Apache-2.0
"""Arm's subsystem Corstone-300 as in FPGA image AN547: a Cortex-M55 with an Ethos-U55 or, in
Arm's FVP, an Ethos-U65. With a functional model in the firmware, also an Ethos-U85.

Everything runs in the secure world, so addresses are the secure aliases. A loader fills the
instruction memory at the start.
"""

load("//boards:board.bzl", "CMSDK_UART", "KB", "MB", "MHZ", "chip", "ethos_u", "flash", "ram", "systick")

def _corstone300(npu):
    return chip(
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
        timer = systick(32 * MHZ),
        irqs = {
            "NONSEC_WATCHDOG_RESET": 0,
            "NONSEC_WATCHDOG": 1,
            "SLOWCLK_TIMER": 2,
            "TIMER0": 3,
            "TIMER1": 4,
            "TIMER2": 5,
            "MPC": 9,
            "PPC": 10,
            "MSC": 11,
            "BRIDGE_ERROR": 12,
            "TIMER3_AON": 27,
            "UARTRX0": 33,
            "UARTTX0": 34,
            "ETHOS_U": 56,
        },
        npu = npu,
    )

# Its NPU is left alone: everything runs on the core.
CORSTONE300 = _corstone300(None)

def _ethos_u55(configuration):
    return _corstone300(ethos_u(
        configuration = configuration,
        base = 0x48102000,
        irq = 56,
        memory_mode = "Shared_Sram",
        out_of_reach = ["itcm", "dtcm"],
        scratch = "sram",
        simulated = True,
    ))

CORSTONE300_ETHOS_U55 = _ethos_u55("ethos-u55-128")

CORSTONE300_ETHOS_U55_256 = _ethos_u55("ethos-u55-256")

# Configured like Arm's FVP; its cache is that of Vela's Dedicated_Sram_384KB.
CORSTONE300_ETHOS_U65 = _corstone300(ethos_u(
    configuration = "ethos-u65-256",
    base = 0x48102000,
    fast_bytes = 384 * KB,
    fast_memory = "sram",
    irq = 56,
    memory_mode = "Dedicated_Sram",
    out_of_reach = ["itcm", "dtcm"],
    scratch = "ddr",
    simulated = True,
))

CORSTONE300_ETHOS_U85 = _corstone300(ethos_u(
    configuration = "ethos-u85-256",
    base = 0x48102000,
    irq = 56,
    memory_mode = "Sram_Only",
    out_of_reach = ["itcm", "dtcm"],
    scratch = "sram",
    simulated = True,
))
