# SPDX-License-Identifier: Apache-2.0
"""Cases of float32 convolution."""

from collections.abc import Iterator
from typing import Any

from kernels.common.kernel import OpCall
from kernels.testing.calls import floats
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values


def cases() -> Iterator[Case]:
    for index in range(60):
        values = Values("convolution", index)
        axes, transposed = index % 3 + 1, index % 2 == 1
        most = 3 if axes < 3 else 2
        groups, inputs, outputs = (values.integer(1, 2) for _ in range(3))
        kernel, stride = ([values.integer(1, most) for _ in range(axes)] for _ in range(2))
        dilation = [values.integer(1, 2) for _ in range(axes)]
        more = [values.integer(0, max(s, d) - 1) for s, d in zip(stride, dilation, strict=True)]
        reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
        padding = [values.integer(0, (r - 1) // 2) for r in reach]
        size = [values.integer(1, most) + (0 if transposed else r - 1) for r in reach]
        channels = [inputs * groups, outputs] if transposed else [outputs * groups, inputs]
        arrays = {
            "input": values.float32(2 if axes < 3 else 1, inputs * groups, *size),
            "weight": values.float32(*channels, *kernel),
        }
        if index % 4:
            arrays["bias"] = values.float32(groups * outputs)
        attributes: dict[str, Any] = {
            **({} if index % 4 else {"bias": None}),
            "stride": stride,
            "padding": padding,
            "dilation": dilation,
            "transposed": transposed,
            "output_padding": more if transposed else [0] * axes,
            "groups": groups,
        }
        # Up to 18 products of order 1, each rounded and added with an error of 2^-24 of the sum.
        name = f"{index}: {'transposed ' * transposed}{axes}d"
        op = "aten::convolution.out"
        yield Case(name, op, arrays, {}, attributes, board=index < 6, tolerance=1e-5)


_CALL: dict[str, Any] = {
    "input": floats(1, 4, 5, 6),
    "weight": floats(8, 4, 3, 3),
    "bias": floats(8),
    "stride": [1, 1],
    "padding": [1, 1],
    "dilation": [1, 1],
    "transposed": False,
    "output_padding": [0, 0],
    "groups": 1,
}

CALLS = [
    Valid(
        OpCall("aten::convolution.out", _CALL, (floats(1, 8, 5, 6, name="y"),)),
        refused=[
            ({"weight": floats(8, 3, 3, 3)}, "does not make"),
            ({"weight": floats(8, 4, 3)}, "no convolution over"),
            ({"stride": [0, 1]}, "at least 1"),
            ({"bias": floats(7)}, "bias has 7 elements, not 8"),
        ],
    ),
]

MUTANTS = [
    Mutant("convolution_f32/convolution_f32_scalar.c", "from % stride != 0", "0"),
    Mutant("convolution_f32/convolution_f32_scalar.c", "at < dims->input[axis]", "1"),
    Mutant(
        "convolution_f32/convolution_f32_scalar.c", "dims->outputs * kernel : kernel", "0 : kernel"
    ),
]


def layers() -> Iterator[Layer]:
    call = OpCall("aten::convolution.out", _CALL, (floats(1, 8, 5, 6, name="y"),))
    yield Layer("convolution_f32 5x6x4 to 8", call)
