# SPDX-License-Identifier: Apache-2.0
"""Cases of float32 upsample_nearest2d."""

from collections.abc import Iterator

from kernels.testing.case import Case
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    for index, (shape, size, scale) in enumerate(
        [
            ((1, 2, 3, 4), (6, 8), 2.0),
            ((2, 1, 3, 3), (9, 6), None),
            ((1, 3, 5, 4), (7, 9), None),
            ((1, 1, 7, 6), (4, 3), None),
            ((1, 2, 4, 4), (6, 6), 1.5),
            ((1, 1, 1, 1), (3, 5), None),
            ((1, 1, 5, 5), (11, 12), 2.3),
            ((1, 1, 10, 10), (33, 49), None),
        ]
    ):
        inputs = {"self": Values("upsample", index).float32(*shape)}
        attributes = {"output_size": list(size), "scales_h": scale, "scales_w": scale}
        name = f"{index}: {shape} to {size}, {scale}"
        op = "aten::upsample_nearest2d.out"
        yield Case(name, op, inputs, attributes=attributes, board=index < 4)
