# SPDX-License-Identifier: Apache-2.0
"""Plans models for packages: one arena, and only calls that firmware can check."""

from dataclasses import replace
from pathlib import PurePosixPath

from aot.plan.delegates import STEP
from aot.plan.graph import Step
from aot.plan.plan import DoesNotFitError, Plan, make_plan
from aot.plan.program import PlanProgram
from boards.board import Board, Pool
from kernels.accesses import access_of
from kernels.common.access import OutsideError, check

NAME = "pl_package_plan"
"""C name of a package's plan."""


def package_board(board: Board, arena: int) -> Board:
    """Return the board of a package: one arena of this size, and no engines."""
    return replace(board, arena=(Pool(board.arena[0].name, arena),), engines=(), npu=None)


def package_plan(program: PlanProgram, board: Board, optimize: str = "speed") -> Plan:
    """Return the plan of a package.

    Raises:
      KernelError, DoesNotFitError: as make_plan.
      OutsideError: the plan has content not allowed in packages. The message has a line for
        each such step: op, place, reason and remedy.
    """
    try:
        plan = make_plan(program, board, optimize, rows=False)
    except DoesNotFitError:
        plan = make_plan(program, board, optimize)
    refused = [text for step in plan.sharing.steps if (text := _refusal(step, board))]
    if refused:
        raise OutsideError("\n".join(["a package cannot hold its plan:", *refused]))
    return plan


def _refusal(step: Step, board: Board) -> str:
    """Return the reason why a step cannot be in a package; "" if it can."""
    if step.rows is not None:
        ops = ", ".join(f"{m.step.op.op} ({m.step.op.place})" for m in step.rows.members)
        return f"{ops}: run row by row, which is code. Give it a larger arena"
    place = f"{step.op.op} ({step.op.place})" if step.op.place else step.op.op
    if step.kernel.function == STEP:
        return f"{place}: runs on an NPU, whose payload is not checked. Lower it for the core alone"
    access = access_of(step.kernel)
    if access is None:
        folder = PurePosixPath(step.kernel.header).parent
        return (
            f"{place}: {step.kernel.function} has no access map. "
            f"Write {folder}/access.py, see kernels/common/access.py"
        )
    try:
        check(access, step.kernel, board.isa)
    except OutsideError as error:
        return f"{place}: {error}. Split the tensor, or build the model into the image"
    return ""
