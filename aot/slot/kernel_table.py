# SPDX-License-Identifier: Apache-2.0
"""Writes the C table of kernels for packages: a firmware's kernels, and their bounds checks."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from aot.slot.abi import io_hash, kernel_abi, plan_abi
from aot.slot.bounds_code import code_text
from kernels.accesses import accesses


def header(name: str, models: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table's header. Each of `models`, a plan.json by its name, gets a macro."""
    guard = f"{name.upper()}_H_"
    macros = "".join(
        f"#define {name.upper()}_MODEL_{re.sub(r'[^A-Z0-9]', '_', model.upper())} "
        f'{{"{model}", {io_hash(plan):#010x}u}}\n'
        for model, plan in models.items()
    )
    return (
        f"// Written by aot/slot/kernel_table.py; do not edit.\n"
        f'#ifndef {guard}\n#define {guard}\n\n#include "firmware/slot/package.h"\n\n'
        f"extern const pl_slot_kernels {name};\n\n"
        f"// For pl_slot_config.\n{macros}\n#endif  // {guard}\n"
    )


def source(name: str, include: str, core: str, functions: Iterable[str]) -> str:
    """Return the table's C file. Raise KeyError for a kernel without an access map."""
    found = {function: accesses()[function] for function in sorted(set(functions))}
    headers = {access.header for access in found.values()}
    # Functions with the same access map have one code.
    checked = {function: min(f for f in found if found[f] == found[function]) for function in found}
    rows = "".join(
        f'    {{"{function}", {kernel_abi(function):#010x}u, run_{function}, '
        f"bounds_of_{checked[function]}}},\n"
        for function in found
    )
    return (
        "// Written by aot/slot/kernel_table.py; do not edit.\n"
        f'#include "{include}"\n\n#include <stddef.h>\n\n#include "firmware/slot/bounds.h"\n'
        + "".join(f'#include "{path}"\n' for path in sorted(headers))
        + "\n// Output channels that weights are packed by.\n"
        "#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE\n#define PL_BLOCK 1\n"
        "#else\n#define PL_BLOCK 4\n#endif\n\n"
        + "".join(map(_run, found))
        + "".join(code_text(f"bounds_of_{f}", found[f]) for f in sorted(set(checked.values())))
        + f"static const pl_slot_kernel table[] = {{\n{rows}}};\n\n"
        f"const pl_slot_kernels {name} = "
        f'{{"{core}", {plan_abi():#010x}u, table, {len(found)}}};\n'
    )


def _run(function: str) -> str:
    return (
        f"static pl_status run_{function}(const pl_context *context, const pl_step *step) {{\n"
        f"  return {function}(context, step->params, step->dims, step->data);\n}}\n\n"
    )
