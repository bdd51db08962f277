# SPDX-License-Identifier: Apache-2.0
"""Arm's test chips Musca-A and Musca-B1: two Cortex-M33; programs run on the first.

Everything runs in the secure world, so addresses are the secure aliases.
"""

load("//boards:board.bzl", "KB", "MB", "MHZ", "chip", "flash", "pl011", "pyocd", "ram", "systick")

_IRQS = {
    "NONSEC_WATCHDOG": 1,
    "S32KTIMER": 2,
    "TIMER0": 3,
    "TIMER1": 4,
    "DUALTIMER": 5,
    "MPC": 9,
    "GPTIMERINTR": 33,
    "SPIINTR0": 37,
    "QSPIINTR": 38,
    "UARTRXINTR0": 39,
    "UARTRXINTR1": 45,
    "GPIO0": 68,
}

def _musca(core, code, sram_kb, uart0, target):
    """Describes a Musca chip.

    The first 8 KB of RAM stay free for a debugger, as in its own tools.
    """
    return chip(
        core = core,
        memories = [
            code,
            ram("sram", 0x30002000, sram_kb * KB),
        ],
        code = "flash",
        data = "sram",
        arena = ["sram"],
        uart_driver = pl011(),
        uarts = {
            "uart0": uart0,
            "uart1": uart0 + 0x1000,
        },
        clock_hz = 40 * MHZ,
        timer = systick(40 * MHZ),
        irqs = _IRQS,
        flash_method = [
            pyocd(target),
        ],
    )

# Its first core has neither FPU nor DSP extension.
MUSCA_A = _musca(
    code = flash("flash", 0x10200000, 8 * MB),
    core = "cortex-m33+nofp+nodsp",
    sram_kb = 120,
    target = "musca_a1",
    uart0 = 0x50101000,
)

MUSCA_B1 = _musca(
    code = flash("flash", 0x10000000, 8 * MB),
    core = "cortex-m33",
    sram_kb = 504,
    target = "musca_b1",
    uart0 = 0x50105000,
)
