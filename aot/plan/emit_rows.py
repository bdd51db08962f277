# SPDX-License-Identifier: Apache-2.0
"""Writes the C code of row groups (firmware/runtime/rows.h).

A plan has one function for each kernel in row groups. It takes the call's structs, sets the fields
changing from row to row, and calls the kernel.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from aot.plan.graph import Step
from aot.plan.row_group import Member, RowGroup
from aot.plan.streaming import INPUT
from kernels.common import emit
from kernels.common.kernel import Array, Constant, Value

RUN = "run_pl_rows"
HEADER = "firmware/runtime/rows.h"

Operand = Callable[[Value | Constant], str]


@dataclass(frozen=True)
class _Kernel:
    """A kernel, and the struct fields that change from row to row.

    `items` is the element type of an array, if the inputs are in one.
    """

    function: str
    prefix: str
    inputs: tuple[str, ...]
    items: str
    output: str
    pad: str
    place: str
    height: str
    row: str

    @staticmethod
    def of(member: Member) -> "_Kernel":
        call = member.step.kernel
        if call.function == INPUT:
            return _Kernel(INPUT, "", (), "", "", "", "", "", "")
        output = next(
            name
            for name, value in call.data.items()
            if isinstance(value, Value) and value.name == member.output.name
        )
        inputs = tuple(source.field for source in member.inputs)
        rows = member.rows
        array = call.data.get(inputs[0].partition("[")[0])
        items = array.element_type.removeprefix("const ") if isinstance(array, Array) else ""
        return _Kernel(
            call.function,
            call.struct_prefix,
            inputs,
            items,
            output,
            rows.pad,
            rows.place,
            rows.height,
            rows.row,
        )

    @property
    def name(self) -> str:
        """Return a name that is unique among the functions for one kernel."""
        inputs = (str(len(self.inputs)),) if self.items else self.inputs
        changes = self.pad, self.place, self.height, self.row
        return "_".join(filter(None, ("row", self.function, *inputs, *changes)))


class RowGroups:
    """C code for the row groups of a plan."""

    def __init__(self, steps: Sequence[Step]) -> None:
        members = [m for step in steps if step.rows is not None for m in step.rows.members]
        self._kernels = sorted({_Kernel.of(member) for member in members}, key=lambda k: k.name)
        self.headers = {HEADER} if members else set()
        self.headers |= {member.step.kernel.header for member in members}

    def functions(self) -> str:
        """Return the function of each kernel, and the function that runs a group; "" without
        groups.
        """
        if not self._kernels:
            return ""
        last = len(self._kernels) - 1
        cases = "".join(
            f"    {'default' if i == last else f'case {i}'}:\n"
            f"      return {kernel.name}(call, row);\n"
            for i, kernel in enumerate(self._kernels)
        )
        return (
            "".join(map(_function, self._kernels))
            + "static pl_status run_row(const pl_row_call *call, const pl_row *row) {\n"
            + f"  switch (call->kernel) {{\n{cases}  }}\n}}\n\n"
            + f"static pl_status {RUN}(const pl_context *context, const pl_step *step) {{\n"
            "  (void)context;\n"
            "  pl_rows rows;\n"
            "  pl_rows_begin(&rows, step->data);\n"
            "  for (const pl_row_call *call = pl_rows_next(&rows); call != NULL;\n"
            "       call = pl_rows_next(&rows)) {\n"
            "    const pl_status status = run_row(call, &rows.row);\n"
            "    if (status != PL_OK) return status;\n"
            "  }\n"
            "  return PL_OK;\n}\n\n"
        )

    def table(self, group: RowGroup, name: str, scratch: Callable[[int], str], at: Operand) -> str:
        """Return the definition of the table `name`.

        Args:
          group: see there.
          name: of the pl_row_group.
          scratch: the pointer so many bytes into the step's scratch memory.
          at: the address of an operand.
        """
        parts, rows = [], []
        for index, member in enumerate(group.members):
            kernel = member.step.kernel
            changing = {source.value.name for source in member.inputs} | {member.output.name}

            def operand(value: Value | Constant, changing: set[str] = changing) -> str:
                by_rows = isinstance(value, Value) and value.name in changing
                return "NULL" if by_rows else at(value)

            call = emit.call_text(
                replace(
                    kernel,
                    params={**kernel.params, **member.rows.params},
                    dims={**kernel.dims, **member.rows.dims},
                ),
                f"{name}_{index}",
                operand,
            )
            parts.append(call.definitions)
            slots = group.slots[index]
            output = scratch(group.ring_offsets[index]) if slots else at(member.output)
            own = group.scratch_offsets[index], member.scratch
            if member.keeps:
                own = group.ring_offsets[index], member.keeps
            context = f"{{{scratch(own[0])}, {own[1]}}}" if own[1] else "{NULL, 0}"
            inputs = ",\n    ".join(
                f"{{{'NULL' if s.producer is not None else at(s.value)}, {s.row_bytes}, "
                f"{s.taps.rows}, {s.taps.stride}, {s.taps.pad}, {s.taps.reach}, {s.taps.shift}, "
                f"{'PL_NO_CALL' if s.producer is None else s.producer}}}"
                for s in member.inputs
            )
            if inputs:
                parts.append(
                    f"static const pl_row_input {name}_{index}_inputs[] = {{\n    {inputs},\n}};\n"
                )
            rows.append(
                f"    {{{context}, {call.params}, {call.dims}, {call.data},\n"
                f"     {output}, {member.row_bytes}, {member.made}, {slots}, "
                f"{self._kernels.index(_Kernel.of(member))}, {len(member.inputs)}, "
                f"{f'{name}_{index}_inputs' if inputs else 'NULL'}}},\n"
            )
        return (
            "".join(parts)
            + f"static const pl_row_call {name}_calls[] = {{\n{''.join(rows)}}};\n"
            + f"static const pl_row_group {name} = {{{name}_calls, {len(rows)}}};\n"
        )


def _function(kernel: _Kernel) -> str:
    if kernel.function == INPUT:
        return (
            f"static pl_status {kernel.name}(const pl_row_call *call, const pl_row *row) {{\n"
            "  (void)call;\n"
            "  return row_source.read(row_source.user, row->index, row->output);\n}\n\n"
        )
    lines = []

    def part(kind: str, changes: Mapping[str, str]) -> str:
        changed = {field: change for field, change in changes.items() if field}
        if not changed:
            return f"call->{kind}"
        lines.append(
            f"  {kernel.prefix}_{kind} {kind} = *(const {kernel.prefix}_{kind} *)call->{kind};\n"
        )
        lines.extend(f"  {kind}.{field} {change};\n" for field, change in changed.items())
        return f"&{kind}"

    params = part("params", {kernel.pad: "-= row->place", kernel.place: "+= row->place"})
    dims = part("dims", {kernel.height: "= row->height", kernel.row: "= (int32_t)row->index"})
    lines.append(f"  {kernel.prefix}_data data = *(const {kernel.prefix}_data *)call->data;\n")
    if kernel.items:
        array = kernel.inputs[0].partition("[")[0]
        given = ", ".join(f"data.{array}[{i}]" for i in range(len(kernel.inputs)))
        lines.append(f"  {kernel.items} {array}[] = {{{given}}};\n")
        lines += [f"  {field} = row->inputs[{i}];\n" for i, field in enumerate(kernel.inputs)]
        lines.append(f"  data.{array} = {array};\n")
    else:
        lines += [f"  data.{field} = row->inputs[{i}];\n" for i, field in enumerate(kernel.inputs)]
    lines.append(f"  data.{kernel.output} = row->output;\n")
    return (
        f"static pl_status {kernel.name}(const pl_row_call *call, const pl_row *row) {{\n"
        f"{''.join(lines)}"
        f"  return {kernel.function}(&call->context, {params}, {dims}, &data);\n}}\n\n"
    )
