# SPDX-License-Identifier: Apache-2.0
"""GCC's flags of C files. The wheel takes them, too (tools/wheel/make.py)."""

COMPILE_FLAGS = [
    "-g",
    "-fno-common",
    "-ffunction-sections",
    "-fdata-sections",
    # The same floats on every core, with and without fused multiply-add.
    "-ffp-contract=off",
    "-fno-math-errno",
]

C_FLAGS = ["-std=c11"]

KERNEL_FLAGS = [
    # A copy loop stays a loop: no calls of memcpy and memset for a few bytes.
    "-fno-tree-loop-distribute-patterns",
    # Pointers after a loop are kept, not computed again from the count.
    "-fno-tree-scev-cprop",
]

# The bounds of a saturation stay constants in its loop, where they are one SSAT.
NO_HELIUM_FLAGS = ["-fno-move-loop-invariants"]

# GCC turns a vector loop with a tail into DLSTP and LETP if no address in it was rewritten. This
# flag slows down code without Helium.
HELIUM_FLAGS = ["-fno-ivopts"]
