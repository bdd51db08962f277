# SPDX-License-Identifier: Apache-2.0
"""C of the table of kernels that packages may use: what a firmware has, and its checks."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

from firmware.slot.abi import kernel_abi, plan_abi
from firmware.slot.bounds import BOUNDS, Bounds, Extent
from firmware.slot.expressions import array_size, c_text


def header(name: str) -> str:
    guard = f"{name.upper()}_H_"
    return (
        f"// Written by firmware/slot/kernel_table.py; do not edit.\n"
        f'#ifndef {guard}\n#define {guard}\n\n#include "firmware/slot/package.h"\n\n'
        f"extern const pl_slot_kernels {name};\n\n#endif  // {guard}\n"
    )


def source(name: str, include: str, core: str, functions: Iterable[str]) -> str:
    """The C file with the table; KeyError if a kernel has no bounds."""
    found = {function: BOUNDS[function] for function in sorted(set(functions))}
    headers = {bounds.header for bounds in found.values()}
    # Functions with the same bounds have one check.
    checked = {function: min(f for f in found if found[f] == found[function]) for function in found}
    rows = "".join(
        f'    {{"{function}", {kernel_abi(function):#010x}u, run_{function}, '
        f"check_{checked[function]}}},\n"
        for function in found
    )
    return (
        "// Written by firmware/slot/kernel_table.py; do not edit.\n"
        f'#include "{include}"\n\n#include <stddef.h>\n\n#include "firmware/slot/bounds.h"\n'
        + "".join(f'#include "{path}"\n' for path in sorted(headers))
        + "\n// Output channels that weights are packed by.\n"
        "#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE\n#define PL_BLOCK 1\n"
        "#else\n#define PL_BLOCK 4\n#endif\n\n"
        + "".join(map(_run, found))
        + "".join(_check(function, found[function]) for function in sorted(set(checked.values())))
        + f"static const pl_slot_kernel table[] = {{\n{rows}}};\n\n"
        f"const pl_slot_kernels {name} = "
        f'{{"{core}", {plan_abi():#010x}u, table, {len(found)}}};\n'
    )


def _run(function: str) -> str:
    return (
        f"static pl_status run_{function}(const pl_context *context, const pl_step *step) {{\n"
        f"  return {function}(context, step->params, step->dims, step->data);\n}}\n\n"
    )


def _check(function: str, bounds: Bounds) -> str:
    prefix = "pl_" + Path(bounds.header).stem
    parts = ["data", "dims"] + (["params"] if bounds.has_params else [])
    lines = [f"  const {prefix}_{part} *const {part} = step->{part};\n" for part in parts]
    asserts: list[str] = []
    sizes = [f"sizeof *{p}" if p in parts else "0" for p in ("params", "dims", "data")]
    lines.append(f"  if (!pl_has_structs(bounds, step, {', '.join(sizes)})) return false;\n")
    for struct, ranges in (("dims", bounds.dims), ("params", bounds.params)):
        for fields, count, (low, high) in _runs(bounds, ranges):
            address = f"(const int32_t *)&{struct}->{fields[0]}"
            lines.append(f"  if (!pl_are_in({address}, {count}, {low}, {high})) return false;\n")
            asserts += [
                f"_Static_assert(offsetof({prefix}_{struct}, {field}) == "
                f'offsetof({prefix}_{struct}, {fields[0]}) + {4 * i}, "in this order");\n'
                for i, field in enumerate(fields[1:], 1)
            ]
    if "params" in parts and not bounds.params:
        lines.append("  (void)params;\n")
    lines += [f"  if (!({c_text(bounds, text, False)})) return false;\n" for text in bounds.needs]
    checks = [
        *(_inside(bounds, "readable", field, extent) for field, extent in bounds.reads.items()),
        *(_inside(bounds, "writable", field, extent) for field, extent in bounds.writes.items()),
    ]
    if bounds.factors:
        factors = c_text(bounds, bounds.factors)
        checks.append(f"pl_are_factors(bounds, data->multiplier, data->shift, {factors})")
    if bounds.scratch != "0":
        checks.append(f"{c_text(bounds, bounds.scratch)} <= step->context.scratch_size")
    lines.append(f"  return {' && '.join(checks)};\n")
    return (
        f"{''.join(asserts)}"
        f"static bool check_{function}(const pl_bounds *bounds, const pl_step *step) {{\n"
        f"{''.join(lines)}}}\n\n"
    )


def _runs(
    bounds: Bounds, ranges: Mapping[str, tuple[int, int]]
) -> Iterator[tuple[list[str], int, tuple[int, int]]]:
    """Fields one after another of the same range, how many words they are, and the range."""
    for limits, names in groupby(ranges, lambda name: (ranges[name], array_size(bounds, name))):
        fields = list(names)
        if limits[1] == 1:
            yield fields, len(fields), limits[0]
        else:
            yield from (([field], limits[1], limits[0]) for field in fields)


def _inside(bounds: Bounds, kind: str, field: str, extent: Extent) -> str:
    elements = c_text(bounds, extent.elements)
    return f"pl_is_{kind}(bounds, data->{field}, {elements}, {extent.size})"
