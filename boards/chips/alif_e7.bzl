# SPDX-License-Identifier: Apache-2.0
"""Alif Ensemble E7 (AE722F80F55D5), its high-performance core: a Cortex-M55 with an Ethos-U55-256."""

load("//boards:board.bzl", "KB", "MB", "MHZ", "chip", "ethos_u", "flash", "jlink", "ns16550", "ram", "set_bits", "set_field", "systick", "write")

_UARTS = {
    "uart%d" % number: 0x49018000 + 0x1000 * number
    for number in range(8)
}

def _uart(uart, tx, rx):
    """Returns writes for the UART's clock, from the crystal, and the pins' second function.

    UART4 has it on P12_2 and P12_1.
    """
    number = int(uart.removeprefix("uart"))
    return [
        set_bits(0x1a602014, 1 << 23),  # CLK_ENA: the crystal's 38.4 MHz
        set_field(0x4902f008, number, 1 << 8 | 1, 1),  # UART_CTRL: on, from it
        write(0x1a603000 + 4 * tx, 2),
    ] + ([write(0x1a603000 + 4 * rx, 1 << 16 | 2)] if rx != None else [])  # its input is on

# The chip's secure enclave starts the core from the MRAM if its table of contents (ATOC, made by
# Alif's tools) requests it. The ATOC also sets the clock; this is the default. The NPU does not
# reach the core's own memory at this address. The list of interrupts has those of the UARTs,
# timers, microphones and the NPU.
ALIF_E7 = chip(
    core = "cortex-m55",
    memories = [
        flash("mram", 0x80000000, 5632 * KB, write = 16),
        ram("dtcm", 0x20000000, 1 * MB),
        ram("sram0", 0x02000000, 4 * MB),
        ram("sram1", 0x08000000, 2560 * KB),
    ],
    code = "mram",
    data = "dtcm",
    arena = ["dtcm", "sram0", "sram1"],
    uart_driver = ns16550(_uart),
    uarts = _UARTS,
    clock_hz = 38400 * 1000,
    max_clock = "the secure enclave sets the core's clock: 400 MHz by default, the highest. Change it with Alif's tools in the table of contents (ATOC)",
    timer = systick(400 * MHZ),
    irqs = {
        "LPUART": 45,
        "LPPDM": 49,
        "NPU_HP": 55,
        "LPTIMER0": 60,
        "LPTIMER1": 61,
        "LPTIMER2": 62,
        "LPTIMER3": 63,
        "UART0": 124,
        "UART1": 125,
        "UART2": 126,
        "UART3": 127,
        "UART4": 128,
        "UART5": 129,
        "UART6": 130,
        "UART7": 131,
        "PDM_WARN": 145,
        "PDM_ERROR": 146,
        "PDM_AUDIO_DET": 147,
    },
    npu = ethos_u(
        base = 0x400e1000,
        configuration = "ethos-u55-256",
        irq = 55,
        memory_mode = "Shared_Sram",
        out_of_reach = ["dtcm"],
        scratch = "sram0",
    ),
    flash_method = [jlink("AE722F80F55D5_M55_HP")],
)
