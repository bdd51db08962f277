# SPDX-License-Identifier: Apache-2.0
"""Cases of pl::softmax."""

from collections.abc import Iterator

from kernels.testing.case import Case
from kernels.testing.exponentials import exp_table, rows


def cases() -> Iterator[Case]:
    for name, given, dim, board, values in rows("softmax", 100):
        table, _ = exp_table(values.choice([0.001, 0.02, 0.1, 0.5, 4.0]), given.shape[dim])
        inputs, constants = {"input": given}, {"exp_table": table}
        yield Case(name, "pl::softmax", inputs, constants, {"dim": dim}, board)
