# SPDX-License-Identifier: Apache-2.0
"""Boards with another core than their simulator's."""

load("//boards:board.bzl", "board", "qemu", "uart")

def other_core(name, chip, core, machine):
    """A board like its machine, except for the core its images are compiled for.

    Args:
      name: the folder's name.
      chip: the machine's chip().
      core: as for -mcpu.
      machine: of QEMU.
    """
    fields = {key: getattr(chip, key) for key in dir(chip) if key not in ["to_json", "to_proto"]}
    board(
        name = name,
        chip = struct(**(fields | {"core": core})),
        console = uart("uart0"),
        description = "%s where there is another core" % core,
        simulator = qemu(machine),
    )
