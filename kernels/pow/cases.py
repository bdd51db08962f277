# SPDX-License-Identifier: Apache-2.0
"""Cases of float32 pow with a number as exponent."""

from collections.abc import Iterator

import numpy as np

from kernels.testing.case import Case
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    special = np.array([0.0, -0.0, 1.0, -1.0, 2.0, np.inf, -np.inf, np.nan, 1e-30], np.float32)
    for exponent in (2, 0.5, -0.5, 3, -1, -2, 0, 1, 4, 1.7, -0.3):
        values = Values("pow", str(exponent))
        # powf is right to an ulp, the exponent is rounded to float32: 2^-22 relative.
        for name, given in (
            (f"random, {exponent}", values.float32(3, 17)),
            (f"positive, {exponent}", np.abs(values.float32(40))),
            (f"special, {exponent}", special),
        ):
            inputs, attributes = {"self": given}, {"exponent": exponent}
            board = exponent in (2, 0.5, -1, 1.7)
            yield Case(name, "aten::pow.Tensor_Scalar_out", inputs, {}, attributes, board, 1e-6)
