# SPDX-License-Identifier: Apache-2.0
"""Calls whose instructions are counted: layers of the MLPerf Tiny networks and common ops."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kernels.common.kernel import OpCall, Value
from kernels.testing.values import Values, spread


@dataclass(frozen=True, eq=False)
class Layer:
    """A call; `peer` is the key of the same layer in cmsis_nn.json, "" if there is none."""

    name: str
    call: OpCall
    peer: str = ""


def layers() -> Iterator[Layer]:
    yield _conv("conv 10x4 s2, 1 to 64", (49, 10, 1), (64, 10, 4), 2, (4, 5, 1, 1), "dscnn/conv1")
    yield _conv("conv 3x3 s2, 3 to 8", (96, 96, 3), (8, 3, 3), 2, (0, 1, 0, 1), "vww/conv1")
    yield _conv("conv 3x3, 16 to 16", (32, 32, 16), (16, 3, 3), 1, (1, 1, 1, 1), "resnet8/s1c1")
    yield _conv("conv 3x3, 64 to 64", (8, 8, 64), (64, 3, 3), 1, (1, 1, 1, 1), "resnet8/s3c2")
    yield _conv("conv 1x1 s2, 16 to 32", (32, 32, 16), (32, 1, 1), 2, (0,) * 4, "resnet8/s2sc")
    yield _conv("conv 1x1, 8 to 16", (48, 48, 8), (16, 1, 1), 1, (0,) * 4, "vww/pw1")
    yield _conv("conv 1x1, 64 to 64", (25, 5, 64), (64, 1, 1), 1, (0,) * 4, "dscnn/pw1")
    yield _conv("conv 1x1, 128 to 128", (6, 6, 128), (128, 1, 1), 1, (0,) * 4, "vww/pw7")
    yield _conv("conv 3x3, 8 to 8, small", (8, 8, 8), (8, 3, 3), 1, (1,) * 4)
    yield _depthwise("depthwise 3x3, 8", (48, 48, 8), 1, (1,) * 4, "vww/dw1")
    yield _depthwise("depthwise 3x3 s2, 16", (48, 48, 16), 2, (0, 1, 0, 1), "vww/dw2")
    yield _depthwise("depthwise 3x3, 64", (25, 5, 64), 1, (1,) * 4, "dscnn/dw1")
    yield _depthwise("depthwise 3x3, 128", (6, 6, 128), 1, (1,) * 4, "vww/dw7")
    yield _depthwise("depthwise 3x3, 16, small", (10, 10, 16), 1, (1,) * 4)
    yield _linear("linear 640 to 128", 640, 128, "ae/fc1")
    yield _linear("linear 128 to 128", 128, 128, "ae/fc2")
    yield _linear("linear 64 to 12", 64, 12, "dscnn/fc")
    yield _add("add 16384", (16384,), (16384,), "resnet8/add1")
    yield _add("add 4096", (4096,), (4096,), "resnet8/add3")
    yield _add("add 4096, one value", (64, 64), (1,))
    yield _mul("mul 4096", (4096,), (4096,))
    yield _mul("mul 4096, per channel", (64, 64), (64,))
    yield from _pools()
    yield from _rows()
    yield from _movers()


def _activation(name: str, *shape: int, dtype: str = "int8") -> Value:
    return Value(name, dtype, shape)


def _constants(channels: int, depth: int, **weights: tuple[int, ...]) -> dict[str, Value]:
    values = Values("bench", channels, depth)
    arrays = {name: values.int8(*shape) for name, shape in weights.items()}
    arrays["bias"] = values.int32(64 * depth, channels)
    arrays |= values.factors(spread(depth), channels)
    return {name: Value(name, a.dtype.name, a.shape, a) for name, a in arrays.items()}


# After a ReLU: the whole range is the activation's.
_STAGE = {"output_zero_point": -128, "activation_min": -128, "activation_max": 127}


def _conv(
    name: str,
    image: tuple[int, int, int],
    kernel: tuple[int, int, int],
    stride: int,
    padding: tuple[int, ...],
    peer: str = "",
) -> Layer:
    (h, w, c), (channels, kh, kw) = image, kernel
    oh = (h + padding[0] + padding[1] - kh) // stride + 1
    ow = (w + padding[2] + padding[3] - kw) // stride + 1
    arguments = {
        "input": _activation("input", 1, h, w, c),
        **_constants(channels, kh * kw * c, weight=(channels, kh, kw, c)),
        "stride": [stride, stride],
        "padding": list(padding),
        "dilation": [1, 1],
        "groups": 1,
        "input_zero_point": -128,
        **_STAGE,
    }
    return Layer(
        name, OpCall("pl::conv2d", arguments, (_activation("o", 1, oh, ow, channels),)), peer
    )


def _depthwise(
    name: str, image: tuple[int, int, int], stride: int, padding: tuple[int, ...], peer: str = ""
) -> Layer:
    h, w, c = image
    oh = (h + padding[0] + padding[1] - 3) // stride + 1
    ow = (w + padding[2] + padding[3] - 3) // stride + 1
    arguments = {
        "input": _activation("input", 1, h, w, c),
        **_constants(c, 9, weight=(3, 3, c)),
        "stride": [stride, stride],
        "padding": list(padding),
        "dilation": [1, 1],
        "input_zero_point": -128,
        **_STAGE,
    }
    return Layer(
        name, OpCall("pl::depthwise_conv2d", arguments, (_activation("o", 1, oh, ow, c),)), peer
    )


def _linear(name: str, depth: int, channels: int, peer: str = "") -> Layer:
    arguments = {
        "input": _activation("input", 1, depth),
        **_constants(channels, depth, weight=(channels, depth)),
        "input_zero_point": -128,
        **_STAGE,
    }
    return Layer(name, OpCall("pl::linear", arguments, (_activation("o", 1, channels),)), peer)


def _add(name: str, a: tuple[int, ...], b: tuple[int, ...], peer: str = "") -> Layer:
    arguments = {
        "a": _activation("a", *a),
        "b": _activation("b", *b),
        "a_zero_point": -128,
        "a_multiplier": 2**30,
        "a_shift": 0,
        "b_zero_point": 4,
        "b_multiplier": 1623821475,
        "b_shift": -2,
        "left_shift": 20,
        "output_multiplier": 1098017566,
        "output_shift": -18,
        **_STAGE,
    }
    return Layer(name, OpCall("pl::add", arguments, (_activation("o", *a),)), peer)


def _mul(name: str, a: tuple[int, ...], b: tuple[int, ...]) -> Layer:
    arguments = {
        "a": _activation("a", *a),
        "b": _activation("b", *b),
        "a_zero_point": -3,
        "b_zero_point": -128,
        "multiplier": 1623821475,
        "shift": -7,
        **_STAGE,
    }
    return Layer(name, OpCall("pl::mul", arguments, (_activation("o", *a),)))


def _pools() -> Iterator[Layer]:
    image, pooled = _activation("input", 1, 16, 16, 16), _activation("o", 1, 8, 8, 16)
    window = {"kernel": [2, 2], "stride": [2, 2], "padding": [0] * 4, "output_size": [8, 8]}
    yield Layer(
        "max_pool 2x2, 16x16x16",
        OpCall("pl::max_pool2d", {"input": image, **window, "dilation": [1, 1]}, (pooled,)),
    )
    average = {"count_include_pad": True, "divisor_override": 0, "zero_point": -128}
    yield Layer(
        "avg_pool 2x2, 16x16x16",
        OpCall("pl::avg_pool2d", {"input": image, **window, **average}, (pooled,)),
    )
    for h, w, c, peer in ((25, 5, 64, "dscnn/avgpool"), (8, 8, 64, "resnet8/avgpool")):
        arguments = {
            "input": _activation("input", 1, h, w, c),
            "dim": [1, 2],
            "keepdim": True,
            "input_zero_point": -128,
            "output_zero_point": -128,
            "multiplier": 1098017566,
            "shift": -5,
        }
        call = OpCall("pl::mean", arguments, (_activation("o", 1, 1, 1, c),))
        yield Layer(f"mean {h}x{w}x{c}", call, peer)


def _rows() -> Iterator[Layer]:
    table = np.array([round(2**23 * np.exp(-d * 0.1)) for d in range(256)], np.int32)
    for count, peer in ((12, "dscnn/softmax"), (1000, "")):
        arguments = {
            "input": _activation("input", 1, count),
            "exp_table": Value("exp_table", "int32", (256,), table // 4),
            "dim": 1,
        }
        call = OpCall("pl::softmax", arguments, (_activation("o", 1, count),))
        yield Layer(f"softmax {count}", call, peer)
    arguments = {
        "input": _activation("input", 1, 12),
        "exp_table": Value("exp_table", "int32", (256,), table),
        "dim": 1,
        "fraction_bits": 23,
        "input_multiplier": 1623821475,
        "input_shift": -8,
        "log_multiplier": 1098017566,
        "log_shift": -2,
        "output_zero_point": 127,
    }
    yield Layer("log_softmax 12", OpCall("pl::log_softmax", arguments, (_activation("o", 1, 12),)))


def _movers() -> Iterator[Layer]:
    flat = _activation("input", 4096)
    identity = Value("table", "int8", (256,), np.arange(-128, 128, dtype=np.int8))
    result = (_activation("o", 4096),)
    yield Layer("lut 4096", OpCall("pl::lut", {"input": flat, "table": identity}, result))
    yield Layer(
        "quantize 1024",
        OpCall(
            "pl::quantize",
            {"input": _activation("input", 1024, dtype="float32"), "scale": 0.1, "zero_point": -3},
            (_activation("o", 1024),),
        ),
    )
    yield Layer(
        "dequantize 1024",
        OpCall(
            "pl::dequantize",
            {"input": _activation("input", 1024), "scale": 0.1, "zero_point": -3},
            (_activation("o", 1024, dtype="float32"),),
        ),
    )
    for c in (3, 16):
        call = OpCall(
            "pl::transpose",
            {"input": _activation("input", 1, c, 16, 16), "perm": [0, 2, 3, 1]},
            (_activation("o", 1, 16, 16, c),),
        )
        yield Layer(f"transpose to NHWC, 16x16x{c}", call)
    halves = [_activation("a", 1, 16, 16, 8), _activation("b", 1, 16, 16, 8)]
    joined = (_activation("o", 1, 16, 16, 16),)
    yield Layer("cat channels, 8 and 8", OpCall("pl::cat", {"inputs": halves, "dim": 3}, joined))
    yield Layer(
        "pad 16x16x8 by 1",
        OpCall(
            "pl::pad",
            {"input": halves[0], "padding": [0, 0, 1, 1, 1, 1, 0, 0], "value": -128},
            (_activation("o", 1, 18, 18, 8),),
        ),
    )
