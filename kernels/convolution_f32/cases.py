# SPDX-License-Identifier: Apache-2.0
"""Cases of float32 convolution."""

from collections.abc import Iterator
from typing import Any

from kernels.common.kernel import OpCall
from kernels.testing.calls import floats
from kernels.testing.case import Case, Layer, Mutant, Valid
from kernels.testing.values import Values

_OP = "aten::convolution.out"


def cases() -> Iterator[Case]:
    yield from _small()
    yield from _blocks()


def _blocks() -> Iterator[Case]:
    """Blocks of channels and of columns, with a rest of each."""
    for index in range(24):
        values = Values("convolution blocks", index)
        kernel = [values.integer(1, 3) for _ in range(2)]
        stride = [1, index % 3 + 1]
        transposed = index % 8 == 7
        groups, inputs = values.integer(1, 2), values.integer(1, 2)
        outputs = 1 + index % (5 if transposed else 9)
        size = [values.integer(1, 2), values.integer(8, 14)]
        channels = [inputs * groups, outputs] if transposed else [outputs * groups, inputs]
        padding = [0, 0] if index % 2 else [values.integer(0, k - 1) for k in kernel]
        arrays = {
            "input": values.float32(1, inputs * groups, size[0] + 2, size[1]),
            "weight": values.float32(*channels, *kernel),
            "bias": values.float32(groups * outputs),
        }
        attributes: dict[str, Any] = {
            "stride": stride,
            "padding": padding,
            "dilation": [1, 1 + index % 2],
            "transposed": transposed,
            "output_padding": [0, 0],
            "groups": groups,
        }
        # As many products as below.
        name = f"blocks {index}: {outputs} channels of {size[1]} columns"
        yield Case(name, _OP, arrays, {}, attributes, board=index < 9, tolerance=1e-5)


def _small() -> Iterator[Case]:
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
        yield Case(name, _OP, arrays, {}, attributes, board=index < 6, tolerance=1e-5)


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
        OpCall(_OP, _CALL, (floats(1, 8, 5, 6, name="y"),)),
        refused=[
            ({"weight": floats(8, 3, 3, 3)}, "does not make"),
            ({"weight": floats(8, 4, 3)}, "no convolution over"),
            ({"stride": [0, 1]}, "at least 1"),
            ({"bias": floats(7)}, "bias has 7 elements, not 8"),
        ],
    ),
]

MUTANTS = [
    Mutant("convolution_f32/convolve.h", "from % stride != 0", "0"),
    Mutant("convolution_f32/convolve.h", "at < dims->input[axis]", "1"),
    Mutant("convolution_f32/convolve.h", "dims->outputs * kernel : kernel", "0 : kernel"),
    Mutant("convolution_f32/convolve.h", "PL_BLOCK_F32 <= end", "1 <= end"),
    Mutant("convolution_f32/convolve.h", "found.step = tap - found.first;", "found.step = 1;"),
    Mutant("convolution_f32/convolve.h", "    loops.count[3] = dims->inputs;", ""),
]


def layers() -> Iterator[Layer]:
    call = OpCall(_OP, _CALL, (floats(1, 8, 5, 6, name="y"),))
    yield Layer("convolution_f32 5x6x4 to 8", call)
    shapes = [("3x3", 16, 16, 3, 1), ("1x1", 32, 32, 1, 1), ("depthwise 3x3", 16, 16, 3, 16)]
    for name, inputs, outputs, kernel, groups in shapes:
        changed = {
            "input": floats(1, inputs, 16, 16),
            "weight": floats(outputs, inputs // groups, kernel, kernel),
            "bias": floats(outputs),
            "padding": [kernel // 2] * 2,
            "groups": groups,
        }
        output = floats(1, outputs, 16, 16, name="y")
        call = OpCall(_OP, _CALL | changed, (output,))
        yield Layer(f"convolution_f32 {name} 16x16x{inputs} to {outputs}", call)
