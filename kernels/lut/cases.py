# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::lut."""

from collections.abc import Iterator

import numpy as np

from kernels.common.kernel import AnyArray
from kernels.testing.case import Case
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    every_value = np.arange(-128, 128, dtype=np.int8)
    identity = every_value.copy()
    yield _case("identity", every_value, identity, board=True)
    yield _case("reversed", every_value.reshape(4, 64), identity[::-1].copy())
    for size in [*range(1, 12), 100, 1000]:
        values = Values("lut", size)
        yield _case(f"size {size}", values.int8(size), values.int8(256), board=size in (1, 7, 100))
    for rank in range(1, 7):
        values = Values("lut rank", rank)
        shape = [values.integer(1, 4) for _ in range(rank)]
        yield _case(f"rank {rank}", values.int8(*shape), values.int8(256))


def _case(name: str, given: AnyArray, table: AnyArray, board: bool = False) -> Case:
    return Case(name, "pl::lut", {"input": given}, {"table": table}, board=board)
