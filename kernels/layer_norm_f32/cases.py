# SPDX-License-Identifier: Apache-2.0
"""Cases of float32 native_layer_norm."""

from collections.abc import Iterator

from kernels.testing.case import Case
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    for index, (shape, dims) in enumerate(
        [((2, 3, 8), 1), ((4, 5), 1), ((2, 3, 4), 2), ((7,), 1), ((1, 100), 1), ((2, 1), 1)] * 4
    ):
        values = Values("layer_norm", index)
        normalized = shape[-dims:]
        # The weight in one of two cases, the bias in two of three.
        constants = {}
        attributes = {"normalized_shape": list(normalized), "eps": 1e-5}
        for name, present in (("weight", index % 2 == 0), ("bias", index % 3 != 0)):
            if present:
                constants[name] = values.float32(*normalized)
            else:
                attributes[name] = None
        yield Case(
            name=f"{index}: {shape}, last {dims}",
            op="aten::native_layer_norm.out",
            inputs={"input": values.float32(*shape) + 3},
            constants=constants,
            attributes=attributes,
            board=index < 4,
            # Sums of 100 values of order 3 in float32; rstd, at most 316, enlarges the error.
            tolerance=1e-4,
        )
