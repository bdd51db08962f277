# SPDX-License-Identifier: Apache-2.0
"""What a test case of a kernel is; the cases.py of each op yields them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kernels.common.kernel import AnyArray


@dataclass(frozen=True, eq=False)
class Case:
    """One op call with concrete values. What comes out is the dialect's business, not the case's.

    Attributes:
      name: unique within an op.
      op: "pl::conv2d".
      inputs: activations by argument name; a sequence for a list of tensors.
      constants: tensors that are known at build time.
      attributes: all other arguments.
      board: the case is small and telling enough to run on boards too.
      tolerance: by how much a float32 result may differ, relative to the larger of `floor` and the
        expected magnitude; any NaN is as good as another. None asks for the same bits.
      floor: see there.
    """

    name: str
    op: str
    inputs: Mapping[str, AnyArray | Sequence[AnyArray]]
    constants: Mapping[str, AnyArray] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    board: bool = False
    tolerance: float | None = None
    floor: float = 1.0
