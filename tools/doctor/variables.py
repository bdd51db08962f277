# SPDX-License-Identifier: Apache-2.0
"""Environment variables of Pilotlight; docs/settings.md explains them."""

VARIABLES = {
    "PILOTLIGHT_ARM_GNU_TOOLCHAIN": "a folder with bin/arm-none-eabi-gcc",
    "PILOTLIGHT_BUILDIFIER": "the program buildifier",
    "PILOTLIGHT_CHROMIUM": "a Chromium for tests of reports",
    "PILOTLIGHT_DEBIAN_MIRROR": "address of the Debian archive",
    "PILOTLIGHT_FLASH_TOOLS": "a folder with OpenOCD and st-flash",
    "PILOTLIGHT_GDB": "a GDB for Arm",
    "PILOTLIGHT_LLVM": "a folder with bin/llvm-mca",
    "PILOTLIGHT_MONOCYPHER": "a folder with Monocypher's sources",
    "PILOTLIGHT_NEUTRON_PYTHON": "the Python that has NXP's SDK",
    "PILOTLIGHT_ON_BOARD": "options of .run for tests on a board",
    "PILOTLIGHT_PAGE_LIBRARIES": "a folder with d3 and dagre",
    "PILOTLIGHT_PYTHON_ENV": "a virtual environment for the build",
    "PILOTLIGHT_QEMU": "the program qemu-system-arm, or its folder",
}
