# SPDX-License-Identifier: Apache-2.0
"""What runs a board's images where there is no board: QEMU, and Arm's models."""

def qemu(machine, serial = 0, vectors = None):
    """Simulated by QEMU.

    Args:
      machine: its name.
      serial: which of its serial ports is the console.
      vectors: address of the vector table, where a ROM that the machine lacks would find it; None if
        the core starts from where the machine has it.
    """
    return {"kind": "qemu", "machine": machine, "serial": serial, "vectors": vectors}

def fvp(program, parameters):
    """Arm's model of a board, a program that users bring.

    Args:
      program: its name.
      parameters: dict of what it is told, `-C name=value` each.
    """
    return {"program": program, "parameters": parameters}

def corstone300_fvp(npu, macs):
    """Arm's model of Corstone-300 with an Ethos-U.

    Args:
      npu: "U55" or "U65".
      macs: of it.
    """
    return fvp("FVP_Corstone_SSE-300_Ethos-" + npu, {
        "cpu0.semihosting-enable": "1",
        "ethosu.num_macs": str(macs),
        "mps3_board.telnetterminal0.start_telnet": "0",
        "mps3_board.uart0.out_file": "-",
        "mps3_board.uart0.unbuffered_output": "1",
        "mps3_board.visualisation.disable-visualisation": "1",
    })
