# SPDX-License-Identifier: Apache-2.0
"""Building blocks of the cases.py of a kernel's folder; kernels/README.md describes
their contents.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernels.common.kernel import AnyArray, Isa, OpCall


@dataclass(frozen=True, eq=False)
class Case:
    """One op call with concrete values. The dialect defines the result, not the case.

    Attributes:
      name: unique within an op.
      op: "pl::conv2d".
      inputs: activations by argument name; a sequence for a list of tensors.
      constants: tensors known at build time, likewise.
      attributes: all other arguments.
      board: True if the case is small and useful enough for boards too, or a class for
        its boards only.
      tolerance: largest difference of a float32 result, relative to the larger of `floor`
        and the expected magnitude. Any NaN equals any other. None requires the same bits.
      floor: see `tolerance`.
      reference: computation of an op from the plan compiler, not the dialect, in ops of
        the dialect. Takes the arguments by name, as tensors.
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
    """A valid call of an op's kernels, and refused arguments.

    Attributes:
      call: on every class of cores.
      refused: replacement arguments for the call, and a regular expression for the message.
    """

    call: OpCall
    refused: Sequence[tuple[Mapping[str, Any], str]]


@dataclass(frozen=True)
class Mutant:
    """A bug for the folder's cases to find: one changed place of a source.

    The path `file` is below kernels/; `before` occurs in it once.
    """

    file: str
    before: str
    after: str


@dataclass(frozen=True, eq=False)
class Layer:
    """A call with an instruction count.

    The key of the same layer in bench/cmsis_nn.json is `peer`, "" if there is none. `nearest`
    selects the last fallback call (KernelCall.fallback), on cores with such calls.
    """

    name: str
    call: OpCall
    peer: str = ""
    nearest: bool = False
