# SPDX-License-Identifier: Apache-2.0
"""Checks that no kernel call of a plan accesses memory outside of its operands.

A kernel's planner chooses a function by the dims of the whole call. Rows have other dims, and the
same function must be correct for them, too. Its access map (kernels/common/access.py)
states the allowed dims and the accessed memory.
"""

from collections.abc import Iterator, Sequence

from aot.plan.check import PlanError
from aot.plan.graph import Step
from aot.plan.row_group import Member
from kernels.accesses import access_of
from kernels.common.access import OutsideError, check_touched
from kernels.common.kernel import Isa, KernelCall
from kernels.common.rows import row_call


def check_calls(steps: Sequence[Step], isa: Isa) -> None:
    """Raise PlanError for a call, or a row's call, whose dims are outside of its kernel's limits.

    Functions without an access map are not checked. Ranges of fields are for packages only.
    """
    for index, step in enumerate(steps, 1):
        for call in _calls(step):
            access = access_of(call)
            if access is None:
                continue
            try:
                check_touched(access, call, isa)
            except OutsideError as error:
                raise PlanError(f"step {index}, {call.function}: {error}") from error


def _calls(step: Step) -> Iterator[KernelCall]:
    if step.rows is None:
        yield step.kernel
        return
    for member in step.rows.members:
        folded = member.rows.folded
        if folded is None:
            yield from _row_calls(member)
        else:
            yield folded


def _row_calls(member: Member) -> Iterator[KernelCall]:
    """Yield the calls of a member's rows, one for each combination of dims and params."""
    rows, taps = member.rows, [*member.rows.inputs.values()]
    seen = set()
    for row in range(member.made):
        sizes = tuple(t.end(row) - t.first(row) for t in taps)
        key = sizes, taps[0].place(row) if rows.pad or rows.place else 0, row if rows.row else 0
        if key not in seen:
            seen.add(key)
            yield row_call(member.step.kernel, member.output, row)
