# SPDX-License-Identifier: Apache-2.0
"""The table of exponentials of softmax and log_softmax (kernels/common/exponentials.h)."""

import numpy as np

from kernels.common.kernel import Constant, OpCall

_UINT32_MAX = 2**32 - 1


MAX_WIDE_SIZE = 2**16
"""Upper limit for a row of int16 values (kernels/common/wide_exponentials.h)."""

_WIDE_STEPS = 2**15
_WIDE_ONE = 2**30


def wide_shares_table(call: OpCall, size: int) -> Constant:
    """Return `wide_exp_table` of a call, after checking its argument steps against it."""
    steps = call.integer("steps")
    call.require(steps == _WIDE_STEPS, f"steps is {steps}: of int16 it is {_WIDE_STEPS}")
    return wide_exp_table(call, size)


def wide_log_table(call: OpCall, size: int) -> Constant:
    """Return `wide_exp_table` of a call, after checking its argument fraction_bits against it."""
    bits = call.integer("fraction_bits")
    call.require(1 << bits == _WIDE_ONE, f"fraction_bits is {bits}: of int16 it is 30")
    return wide_exp_table(call, size)


def wide_exp_table(call: OpCall, size: int) -> Constant:
    """Return the checked argument exp_table [512] of a call on int16 rows of `size` values."""
    call.require(size <= MAX_WIDE_SIZE, f"rows have {size} values, more than {MAX_WIDE_SIZE}")
    table = call.constant("exp_table", "int32", rank=1)
    call.require(table.size == 512, f"exp_table has {table.size} entries, not 512")
    call.require(
        table.min() >= 0 and table.max() == table[0] == table[256] == _WIDE_ONE,
        f"exp_table must not be negative, and both halves start with {_WIDE_ONE}, the largest",
    )
    return Constant(table.astype(np.int32))


def exp_table(call: OpCall, size: int, steps: int = 256) -> Constant:
    """Return the checked argument exp_table [256]: sums over `size` values, and `steps` times an
    entry, stay inside uint32.
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
