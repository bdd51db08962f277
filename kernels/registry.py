# SPDX-License-Identifier: Apache-2.0
"""All kernels: finds the kernel of an op call.

Every folder next to this file with a kernel.py takes part. A program has the kernels in its
dependencies; //kernels:registry depends on all. Kernels are imported on demand.
"""

import importlib
from collections.abc import Mapping
from pathlib import Path

from kernels.common.kernel import KERNELS, Isa, KernelCall, OpCall, Planner

_FOLDERS = {path.parent.name for path in Path(__file__).parent.glob("*/kernel.py")} - {"common"}


def all_kernels() -> Mapping[str, Planner]:
    """Return all planners by op name."""
    for folder in sorted(_FOLDERS):
        _import(folder)
    return KERNELS


def kernel_call(call: OpCall, isa: Isa) -> KernelCall:
    """Return the kernel call of an op; KernelError if the library has none."""
    # Importing all takes a third of a plan's time. Most ops have a folder of the same name.
    folder = call.op.rpartition("::")[2]
    if call.op not in KERNELS and folder in _FOLDERS:
        _import(folder)
    planner = KERNELS.get(call.op) or all_kernels().get(call.op)
    if planner is None:
        raise call.error(f"this op has no kernel; kernels exist for {', '.join(sorted(KERNELS))}")
    return planner(call, isa)


def _import(folder: str) -> None:
    importlib.import_module(f"{__package__}.{folder}.kernel")
