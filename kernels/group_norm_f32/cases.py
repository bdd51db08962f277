# SPDX-License-Identifier: Apache-2.0
"""Cases of float32 native_group_norm."""

import math
from collections.abc import Iterator
from typing import Any

from kernels.testing.case import Case
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    shapes = [((2, 6, 3, 4), 3), ((1, 4, 5), 2), ((1, 3, 2, 2), 1), ((2, 5, 7), 5), ((1, 8, 1), 4)]
    for index, (shape, groups) in enumerate(shapes * 4):
        values = Values("group_norm", index)
        # The weight in one of two cases, the bias in two of three.
        constants = {}
        attributes: dict[str, Any] = {
            "N": shape[0],
            "C": shape[1],
            "HxW": math.prod(shape[2:]),
            "group": groups,
            "eps": 1e-5,
        }
        for name, present in (("weight", index % 2 == 0), ("bias", index % 3 != 0)):
            if present:
                constants[name] = values.float32(shape[1])
            else:
                attributes[name] = None
        yield Case(
            name=f"{index}: {shape}, {groups} groups",
            op="aten::native_group_norm.out",
            inputs={"input": values.float32(*shape) - 2},
            constants=constants,
            attributes=attributes,
            board=index < 4,
            # Sums of 24 values of order 2 in float32; rstd, at most 316, enlarges the error.
            tolerance=1e-4,
        )
