# SPDX-License-Identifier: Apache-2.0
"""All kernels: finds the kernel of an op call.

Every folder beside this file that has a kernel.py takes part; a program sees the kernels whose
targets it depends on, //kernels:registry depends on all.
"""

import importlib
from pathlib import Path

from kernels.common.kernel import KERNELS, Isa, KernelCall, OpCall

for _module in sorted(Path(__file__).parent.glob("*/kernel.py")):
    if _module.parent.name != "common":
        importlib.import_module(f"kernels.{_module.parent.name}.kernel")


def kernel_call(call: OpCall, isa: Isa) -> KernelCall:
    """The kernel call of an op; KernelError if the library has none."""
    planner = KERNELS.get(call.op)
    if planner is None:
        raise call.error(
            f"no kernel for this op; there are kernels for {', '.join(sorted(KERNELS))}"
        )
    return planner(call, isa)
