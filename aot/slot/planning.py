# SPDX-License-Identifier: Apache-2.0
"""Model plans for packages: on one arena, with kernels whose bounds are known."""

from dataclasses import replace

from aot.plan.delegates import STEP
from aot.plan.plan import Plan, make_plan
from aot.plan.program import PlanProgram
from boards.board import Board, Pool
from firmware.slot.bounds import BOUNDS
from firmware.slot.expressions import OutsideError, check

NAME = "pl_package_plan"
"""C name of a package's plan."""


def package_board(board: Board, arena: int) -> Board:
    """A board as packages see it: one arena of so many bytes, and no engines."""
    return replace(board, arena=(Pool(board.arena[0].name, arena),), engines=(), npu=None)


def package_plan(program: PlanProgram, board: Board, optimize: str = "speed") -> Plan:
    """Return the plan of a package.

    Raises:
      KernelError, DoesNotFitError: as make_plan.
      OutsideError: the plan has content not allowed in packages. The message lists it.
    """
    plan = make_plan(program, board, optimize)
    for step in plan.sharing.steps:
        if step.rows is not None:
            raise OutsideError(
                "its plan runs row by row, which is code and cannot be in a package: "
                "give it a larger arena"
            )
        if step.kernel.function == STEP:
            raise OutsideError("a part of it runs on an engine: packages have the core's alone")
        check(BOUNDS, step.kernel, board.isa)
    return plan
