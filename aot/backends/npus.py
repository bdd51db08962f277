# SPDX-License-Identifier: Apache-2.0
"""The NPUs of lowering; this module imports no code that lowers."""

from __future__ import annotations

from dataclasses import dataclass

ARM_INI = "Arm/vela.ini"
"""Arm's file of memories, in Vela."""


@dataclass(frozen=True)
class Npu:
    """A configuration.

    Attributes:
      name: in Vela, boards and targets, e.g. "ethos-u55-128".
      system_config: Vela's system configuration with the memories for estimated cycles.
      memory_mode: Vela's memory mode: the memories at its AXI ports.
      cache_bytes: size of its own memory that Vela plans with; 0 without such a memory.
      vela_ini: Vela's file with both.
    """

    name: str
    system_config: str
    memory_mode: str
    cache_bytes: int = 0
    vela_ini: str = ARM_INI

    @property
    def macs(self) -> int:
        """Multiply-accumulates in a cycle, at most."""
        return int(self.name.rpartition("-")[2])

    @property
    def product(self) -> str:
        """Return "u55", "u65" or "u85"."""
        return self.name.split("-")[1]

    @property
    def is_u55(self) -> bool:
        return self.product == "u55"

    @property
    def is_u85(self) -> bool:
        return self.product == "u85"

    @property
    def keeps_inputs_far(self) -> bool:
        """Return True if a region's inputs and outputs lie in the memory behind the cache."""
        return self.cache_bytes > 0

    @property
    def is_smallest(self) -> bool:
        """Return True if Vela 5.1.0 loads tables fused with a transpose past the end of
        the memory.
        """
        return self.name in ("ethos-u55-32", "ethos-u55-64")


# System configurations and memory modes are ExecuTorch's for each product.
_PRODUCTS = {
    "u55": ((32, 64, 128, 256), "Ethos_U55_High_End_Embedded", "Shared_Sram", 0),
    "u65": ((256, 512), "Ethos_U65_High_End", "Dedicated_Sram_384KB", 384 << 10),
    "u85": ((128, 256, 512, 1024, 2048), "Ethos_U85_SYS_DRAM_Mid", "Sram_Only", 0),
}
NPUS: dict[str, Npu] = {
    name: Npu(name, system_config, memory_mode, cache)
    for product, (all_macs, system_config, memory_mode, cache) in _PRODUCTS.items()
    for name in (f"ethos-{product}-{macs}" for macs in all_macs)
}


@dataclass(frozen=True)
class Neutron:
    """A part with NXP's eIQ Neutron NPU.

    Attributes:
      name: in boards and targets, e.g. "imxrt700".
      sdk_target: the name in NXP's converter.
      fetches_weights: True if the NPU's program copies its weights to SRAM, because the
        NPU cannot reach their flash memory.
    """

    name: str
    sdk_target: str
    fetches_weights: bool


NEUTRONS = {
    part.name: part
    for part in (
        Neutron("imxrt700", "imxrt700", fetches_weights=True),  # N3-64
        Neutron("mcxn947", "mcxn94x", fetches_weights=False),  # N1-16
    )
}

CUT, FAIL, OFF = "cut", "fail", "off"
VERIFICATIONS = (CUT, FAIL, OFF)
"""Choices for a part of a model with wrong values on the NPU.

Cut the part where they start; fail; do not check.
"""

REQUIRED, AUTO = "required", "auto"
PRESENCES = (REQUIRED, AUTO)
"""Choices for a Neutron NPU without NXP's converter.

Fail; or run everything on the CPU, with a note in the report.
"""
