# SPDX-License-Identifier: Apache-2.0
"""A model as a list of operator calls, decoded from a .pte."""

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aot.pte.conventions import Layout, PteError
from kernels.common.kernel import AnyArray, OpCall, Value


class ProgramError(ValueError):
    """A file is not a decoded program. The text has the reason."""


@dataclass(frozen=True, eq=False)
class Port:
    """An input or output of the model.

    `shape` is in memory order. `scale` is 0.0 where the tensor is not quantized. `name` is that of
    forward's argument, "" if the .pte has none.
    """

    value: Value
    shape: tuple[int, ...]
    scale: float
    zero_point: int
    layout: Layout
    name: str = ""


@dataclass(frozen=True, eq=False)
class PlanState:
    """A tensor that keeps its value between runs.

    Attributes:
      value: the tensor at the start of a run.
      initial: its elements before the first run.
      new: the tensor at the end of a run, in the same place. It is the result of one of
        the last calls, a cat of one tensor.
    """

    value: Value
    initial: AnyArray
    new: Value


@dataclass(frozen=True, eq=False)
class PlanProgram:
    """The calls of "forward" in order of execution, on contiguous tensors."""

    calls: tuple[OpCall, ...]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    states: tuple[PlanState, ...] = ()


def is_row_major(sizes: Sequence[int], order: Sequence[int]) -> bool:
    """Return True if dimensions with more than one element have row-major order in memory.

    Args:
      sizes: of the dimensions.
      order: the dimensions from the outermost in memory to the innermost.
    """
    moved = [dim for dim in order if sizes[dim] > 1]
    return moved == sorted(moved)


def save_program(path: Path, program: PlanProgram | PteError) -> None:
    """Save a decoded program, or the reason why it has no plan, for plans of the same build.

    The format is not stable.
    """
    path.write_bytes(pickle.dumps(program, protocol=pickle.HIGHEST_PROTOCOL))


def load_program(path: Path) -> PlanProgram:
    """Load a file of `save_program`.

    Raises:
        PteError: the reason why the .pte has no plan.
        ProgramError: the file is something else.
    """
    data = path.read_bytes()
    try:
        program = pickle.loads(data)
    except Exception as error:  # whatever another file provokes in the reader
        raise ProgramError("is not a decoded program") from error
    if isinstance(program, PteError):
        raise program
    if not isinstance(program, PlanProgram):
        raise ProgramError("is not a decoded program")
    return program
