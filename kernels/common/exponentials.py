# SPDX-License-Identifier: Apache-2.0
"""The table of exponentials of softmax and log_softmax (kernels/common/exponentials.h)."""

import numpy as np

from kernels.common.kernel import Constant, OpCall

_UINT32_MAX = 2**32 - 1


def exp_table(call: OpCall, size: int, steps: int = 256) -> Constant:
    """Argument exp_table [256], checked: sums over `size` values, and `steps` times an entry, stay
    inside uint32.
    """
    table = call.constant("exp_table", "int32", rank=1)
    call.require(table.size == 256, f"exp_table has {table.size} entries, not 256")
    call.require(
        bool((table >= 0).all()) and table[0] == table.max() > 0,
        "exp_table must not be negative and its first entry must be the largest",
    )
    largest = int(table[0])
    reach = steps * largest + size * largest // 2
    call.require(
        size * largest <= _UINT32_MAX and reach <= _UINT32_MAX,
        f"exp_table[0] is {largest}: sums over {size} values overflow uint32",
    )
    return Constant(table.astype(np.int32))
