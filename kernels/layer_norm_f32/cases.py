# SPDX-License-Identifier: Apache-2.0
"""Cases of float32 native_layer_norm."""

from collections.abc import Iterator

from kernels.common.kernel import OpCall
from kernels.testing.calls import activation, floats
from kernels.testing.case import Case, Layer, Mutant, Valid
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


CALLS = [
    Valid(
        OpCall(
            "aten::native_layer_norm.out",
            {
                "input": floats(2, 8),
                "normalized_shape": [8],
                "weight": floats(8),
                "bias": None,
                "eps": 1e-5,
            },
            (floats(2, 8, name="y"), floats(2, 1, name="m"), floats(2, 1, name="r")),
        ),
        refused=[
            ({"normalized_shape": [4]}, "does not end in"),
            ({"bias": activation(8)}, "bias is int8"),
        ],
    ),
]

MUTANTS = [
    Mutant("common/moments_f32.h", "size + epsilon", "size"),
    Mutant(
        "layer_norm_f32/layer_norm_f32_scalar.c", "data->bias[i] : 0.0f", "data->bias[0] : 0.0f"
    ),
]


def layers() -> Iterator[Layer]:
    arguments = {
        "input": floats(16, 64),
        "normalized_shape": [64],
        "weight": floats(64),
        "bias": floats(64),
        "eps": 1e-5,
    }
    results = (floats(16, 64, name="y"), floats(16, 1, name="m"), floats(16, 1, name="r"))
    yield Layer("layer_norm_f32 16x64", OpCall("aten::native_layer_norm.out", arguments, results))
