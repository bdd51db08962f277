# SPDX-License-Identifier: Apache-2.0
"""A model as a list of operator calls: what the reader of .pte files hands over."""

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aot.pte.conventions import Layout, PteError
from kernels.common.kernel import AnyArray, OpCall, Value


class ProgramError(ValueError):
    """A file is no decoded program; the text says why."""


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
class State:
    """A tensor that is kept between runs.

    Attributes:
      value: it, as a run finds it.
      initial: its elements before the first run.
      new: it, as a run leaves it, in the same place: the result of one of the last calls, each of
        which is a cat of one tensor.
    """

    value: Value
    initial: AnyArray
    new: Value


@dataclass(frozen=True, eq=False)
class Program:
    """The method "forward": its calls in order of execution, on contiguous tensors."""

    calls: tuple[OpCall, ...]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    states: tuple[State, ...] = ()


def is_row_major(sizes: Sequence[int], order: Sequence[int]) -> bool:
    """True if dimensions of more than one element lie in memory in the order of the shape.

    Args:
      sizes: of the dimensions.
      order: the dimensions from the outermost in memory to the innermost.
    """
    moved = [dim for dim in order if sizes[dim] > 1]
    return moved == sorted(moved)


def save_program(path: Path, program: Program | PteError) -> None:
    """Keeps a decoded program for plans of the same build, or why the .pte is none for a plan; no
    format to rely on.
    """
    path.write_bytes(pickle.dumps(program, protocol=pickle.HIGHEST_PROTOCOL))


def load_program(path: Path) -> Program:
    """What `save_program` kept.

    Raises:
        PteError: why the .pte is none for a plan.
        ProgramError: the file is something else.
    """
    data = path.read_bytes()
    try:
        program = pickle.loads(data)
    except Exception as error:  # whatever another file provokes in the reader
        raise ProgramError("is no decoded program") from error
    if isinstance(program, PteError):
        raise program
    if not isinstance(program, Program):
        raise ProgramError("is no decoded program")
    return program
