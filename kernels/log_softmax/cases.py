# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::log_softmax."""

import math
from collections.abc import Iterator

from kernels.testing.case import Case
from kernels.testing.exponentials import exp_table, rows

GUARD = 2**10
"""The scaled terms have 10 guard bits."""


def cases() -> Iterator[Case]:
    for name, given, dim, board, values in rows("log_softmax", 100):
        scale = values.choice([0.001, 0.02, 0.1, 0.5, 4.0])
        output_scale = values.choice([0.03, 0.06, 0.5] if board else [1e-6, 0.03, 0.06, 0.5])
        table, bits = exp_table(scale, given.shape[dim])
        input_multiplier, input_shift = values.factor(scale / output_scale * GUARD / 2**20)
        log_multiplier, log_shift = values.factor(math.log(2) / output_scale * GUARD / 2**16)
        attributes = {
            "dim": dim,
            "fraction_bits": bits,
            "input_multiplier": input_multiplier,
            "input_shift": input_shift,
            "log_multiplier": log_multiplier,
            "log_shift": log_shift,
            "output_zero_point": values.choice([127, 127, values.zero_point()]),
        }
        inputs, constants = {"input": given}, {"exp_table": table}
        yield Case(name, "pl::log_softmax", inputs, constants, attributes, board)
