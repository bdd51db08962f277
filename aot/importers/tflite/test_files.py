# SPDX-License-Identifier: Apache-2.0
"""Whole files: networks, streaming ones, refused ones, and damaged ones."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from importlib import resources

import numpy as np
import pytest
import torch
from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema

from aot.dialect.graph import State, initial_state
from aot.errors import LoweringError
from aot.importers.tflite.importing import import_tflite
from aot.importers.tflite.testing import cases
from aot.importers.tflite.testing.build import RESOURCE, File
from aot.importers.tflite.testing.drawing import draw
from aot.importers.tflite.testing.networks import network, streaming
from aot.importers.tflite.testing.oracle import differences

_LIMIT_BYTES = 3 * 2**30  # in addition to torch's own mappings


def test_network() -> None:
    assert differences(network().bytes(), count=4) == []


@pytest.mark.parametrize("initialized", [True, False])
def test_streaming(initialized: bool) -> None:
    """Its variable persists between runs, from the value assigned by CALL_ONCE."""
    data = streaming(initialized).bytes()
    (before,) = initial_state(import_tflite(data))
    assert bool(before.any()) == initialized
    assert differences(data, count=5) == []


def test_origins_name_the_ops() -> None:
    module = import_tflite(network().bytes())
    first = next(n for n in module.graph.nodes if n.op == "call_function")
    assert first.meta["origin"].module == "op 0 CONV_2D (t3)"
    assert first.meta["origin"].ops == ("tflite.CONV_2D",)
    assert not any(isinstance(n.meta.get("state"), State) for n in module.graph.nodes)


def _refused(file: File) -> str:
    with pytest.raises(LoweringError) as error:
        import_tflite(file.bytes())
    return str(error.value)


def _one_op(name: str, options: str = "", dtype: object = np.int8) -> File:
    file = File()
    quantized = (0.1, 0) if dtype == np.int8 else None
    x, y = file.input((1, 4), quantized, dtype), file.tensor((1, 4), dtype, quantized)
    file.op(name, [x], [y], options)
    file.output(y)
    return file


def test_an_unsupported_builtin() -> None:
    text = _refused(_one_op("COS"))
    assert text.startswith("op 0 COS: this op is not supported; supported are ADD, ARG_MAX, ")


def test_a_custom_op() -> None:
    file = _one_op("CUSTOM")
    file.model.operatorCodes[0].customCode = b"MyOp"
    assert _refused(file).startswith(
        "op 0 CUSTOM MyOp: this op is not supported; supported are ADD"
    )


def test_a_file_that_vela_made() -> None:
    file = _one_op("CUSTOM")
    file.model.operatorCodes[0].customCode = b"ethos-u"
    assert _refused(file).endswith("Vela made: give the .tflite file it was made of")


def test_a_float_model() -> None:
    """TFLite Micro's package has one, of FULLY_CONNECTED."""
    folder = resources.files("tflite_micro.python.tflite_micro")
    with pytest.raises(LoweringError, match="op 0 FULLY_CONNECTED: .* FLOAT32.* is a float file"):
        import_tflite((folder / "sine_float.tflite").read_bytes())


@pytest.mark.parametrize(
    ("values", "weights", "kind"),
    [
        (np.float32, np.int8, "a hybrid file: its weights are integers, its values float"),
        (np.uint8, np.uint8, "a file of uint8 (by a converter before 2020)"),
    ],
)
def test_files_of_other_kinds_say_how_to_convert(values: type, weights: type, kind: str) -> None:
    file, of = File(values), None if values == np.float32 else (0.1, 3)
    x, y = file.input((1, 4), of), file.tensor((1, 2), quantized=of)
    w = file.tensor((2, 4), weights, (0.01, 7), np.ones((2, 4)))
    file.op("FULLY_CONNECTED", [x, w, -1], [y], "FullyConnectedOptions", 4)
    file.output(y)
    text = _refused(file)
    assert kind in text and "representative_dataset" in text


def test_options_that_are_left_out() -> None:
    assert _refused(_one_op("ADD")) == "op 0 ADD: it lacks AddOptions"


def test_another_quantization_where_bytes_are_moved() -> None:
    file = _one_op("RESHAPE")
    file.at.tensors[1].quantization.scale = [0.2]
    assert "its input and tensor 1 `t1` must have one quantization" in _refused(file)


def test_scales_that_are_none() -> None:
    for scale in (0.0, -1.0, float("inf"), float("nan")):
        file = _one_op("RELU")
        file.at.tensors[0].quantization.scale = [scale]
        assert "a scale of" in _refused(file)


def test_a_shape_that_is_not_what_the_op_gives() -> None:
    file = _one_op("LOGISTIC")
    file.at.tensors[1].quantization.scale = [1 / 256]
    file.at.tensors[1].quantization.zeroPoint = [-128]
    file.at.tensors[1].shape = [1, 5]
    assert "gives torch.int8[1, 4], where tensor 1 `t1` is INT8[1, 5]" in _refused(file)


def test_a_variable_without_a_handle() -> None:
    file = File()
    handle = file.tensor((), RESOURCE)
    y = file.tensor((1, 4), np.int8, (0.1, 0))
    file.op("READ_VARIABLE", [handle], [y])
    file.output(y)
    assert _refused(file) == "op 0 READ_VARIABLE: its variable has no handle"


def test_what_is_no_file() -> None:
    for data in (b"", b"TFL3", b"PK\x03\x04abcdefghijkl", b"\x00" * 64):
        with pytest.raises(LoweringError, match=r"this is not a \.tflite file"):
            import_tflite(data)


@pytest.fixture
def limited_memory() -> Iterator[None]:
    """Limit the memory: excessive requests of a file then fail."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as statm:
        mapped = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + _LIMIT_BYTES, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.usefixtures("limited_memory")
def test_damaged_files() -> None:
    """Truncated files, or files with changed bytes, give an error or a verified graph; nothing
    else.
    """
    random = np.random.default_rng(5)
    names = ("CONV_2D", "STRIDED_SLICE", "SPLIT_V", "RESIZE_BILINEAR", "MEAN", "MIRROR_PAD")
    files = [cases.INT8[name](np.random.default_rng(2)).bytes() for name in names]
    files += [network().bytes(), streaming(True).bytes()]
    files += [draw(np.random.default_rng(seed), np.int8, 12) for seed in range(3)]
    refused = 0
    for data in files:
        damaged = [data[: int(n)] for n in random.integers(0, len(data), 10)]
        for _ in range(60):
            changed = np.frombuffer(data, np.uint8).copy()
            # Most bytes are weights: the structure is after and before them.
            places = random.integers(8, len(changed), int(random.integers(1, 6)))
            changed[places] = random.integers(0, 256, len(places))
            damaged.append(changed.tobytes())
        for one in damaged:
            try:
                import_tflite(one)
            except LoweringError as error:
                refused += 1
                assert str(error)
    assert refused > len(files) * 10


def test_numbers_that_ask_for_much() -> None:
    """Sizes, counts and indices at the edges of their types."""
    extremes = (-1, 0, 2**31 - 1, -(2**31), 2**26, 2**20)
    for value in extremes:
        for field in ("shape", "inputs", "outputs"):
            file = network()
            target = file.at.tensors[1] if field == "shape" else file.at.operators[1]
            getattr(target, field)[0] = value
            try:
                module = import_tflite(file.bytes())
            except LoweringError:
                continue
            assert isinstance(module, torch.fx.GraphModule)
            assert (field, value) == ("outputs", 0) or field == "shape"


def test_another_schema() -> None:
    file = network()
    file.model.version = 2
    assert _refused(file) == "the .tflite file has schema version 2, not 3"


def test_weights_with_a_zero_point() -> None:
    file = network()
    weights = next(t for t in file.at.tensors if t.type == schema.TensorType.INT8 and t.buffer)
    weights.quantization.zeroPoint = [3] * len(weights.quantization.zeroPoint)
    assert "must have the zero point 0" in _refused(file)
