# SPDX-License-Identifier: Apache-2.0
"""What the cases.py of a kernel's folder is made of; kernels/README.md says what it holds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernels.common.kernel import AnyArray, Isa, OpCall


@dataclass(frozen=True, eq=False)
class Case:
    """One op call with concrete values. What comes out is the dialect's business, not the case's.

    Attributes:
      name: unique within an op.
      op: "pl::conv2d".
      inputs: activations by argument name; a sequence for a list of tensors.
      constants: tensors that are known at build time, likewise.
      attributes: all other arguments.
      board: the case is small and telling enough to run on boards too, or on those of a class.
      tolerance: by how much a float32 result may differ, relative to the larger of `floor` and the
        expected magnitude; any NaN is as good as another. None asks for the same bits.
      floor: see there.
      reference: what an op computes that is none of the dialect but of the plan compiler, in ops of
        the dialect; takes the arguments by name, as tensors.
    """

    name: str
    op: str
    inputs: Mapping[str, AnyArray | Sequence[AnyArray]]
    constants: Mapping[str, AnyArray | Sequence[AnyArray]] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    board: bool | Isa = False
    tolerance: float | None = None
    floor: float = 1.0
    reference: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        # Arithmetic of numpy makes scalars of arrays of rank 0.
        for part in ("inputs", "constants"):
            tensors = getattr(self, part).items()
            kept = {n: np.asarray(t) if isinstance(t, np.generic) else t for n, t in tensors}
            object.__setattr__(self, part, kept)


@dataclass(frozen=True, eq=False)
class Valid:
    """A call that the kernels of an op take, and what they refuse.

    Attributes:
      call: on every class of cores.
      refused: arguments in place of the call's, and a regular expression that the message matches.
    """

    call: OpCall
    refused: Sequence[tuple[Mapping[str, Any], str]]


@dataclass(frozen=True)
class Mutant:
    """A bug that the folder's cases must find: one place of a source, changed.

    `file` is below kernels/; `before` occurs in it once.
    """

    file: str
    before: str
    after: str


@dataclass(frozen=True, eq=False)
class Layer:
    """A call whose instructions are counted; `peer` is the key of the same layer in
    bench/cmsis_nn.json, "" if there is none. `nearest` asks for the last of KernelCall.nearer, on
    cores where there are such calls.
    """

    name: str
    call: OpCall
    peer: str = ""
    nearest: bool = False
