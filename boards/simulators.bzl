# SPDX-License-Identifier: Apache-2.0
"""Simulators for images without a board: QEMU, and Arm's models."""

def qemu(machine, serial = 0, vectors = None, properties = {}):
    """Simulates with QEMU.

    Args:
      machine: its name.
      serial: number of the serial port for the console.
      vectors: address of the vector table for a missing ROM. None: the core starts from the machine's
        own.
      properties: dict of the machine's devices' properties, by name: "nrf51-soc.sram-size".
    """
    return {"kind": "qemu", "machine": machine, "serial": serial, "vectors": vectors, "properties": properties}

def fvp(program, parameters):
    """Simulates with Arm's model of the board, a program that users bring.

    Args:
      program: its name.
      parameters: dict of its parameters, each `-C name=value`.
    """
    return {"program": program, "parameters": parameters}

def corstone300_fvp(npu, macs):
    """Simulates with Arm's model of Corstone-300 with an Ethos-U.

    Args:
      npu: "U55" or "U65".
      macs: MACs of the NPU.
    """
    return fvp("FVP_Corstone_SSE-300_Ethos-" + npu, {
        "cpu0.semihosting-enable": "1",
        "ethosu.num_macs": str(macs),
        "mps3_board.telnetterminal0.start_telnet": "0",
        "mps3_board.uart0.out_file": "-",
        "mps3_board.uart0.unbuffered_output": "1",
        "mps3_board.visualisation.disable-visualisation": "1",
    })
