# SPDX-License-Identifier: Apache-2.0
"""Targets of the corpus: NPU configurations and Vela's memory modes."""

from __future__ import annotations

# Vela's memory modes by product, its default first. Those with Dedicated_Sram differ in the bytes
# of fast scratch available to Vela's plan.
_MODES = {
    "u55": ("Shared_Sram", "Sram_Only"),
    "u65": (
        "Dedicated_Sram_384KB",
        "Dedicated_Sram",
        "Dedicated_Sram_256KB",
        "Dedicated_Sram_512KB",
        "Shared_Sram",
        "Sram_Only",
    ),
    "u85": ("Sram_Only", "Dedicated_Sram", "Dedicated_Sram_384KB", "Shared_Sram"),
}
ACCELERATORS = (
    "ethos-u55-32",
    "ethos-u55-64",
    "ethos-u55-128",
    "ethos-u55-256",
    "ethos-u65-256",
    "ethos-u65-512",
    "ethos-u85-128",
    "ethos-u85-256",
    "ethos-u85-512",
    "ethos-u85-1024",
    "ethos-u85-2048",
)


def targets() -> list[tuple[str, str]]:
    """Return pairs of accelerator and memory mode."""
    return [
        (accelerator, mode)
        for accelerator in ACCELERATORS
        for mode in _MODES[accelerator.split("-")[1]]
    ]
