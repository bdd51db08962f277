# SPDX-License-Identifier: Apache-2.0
"""Whole float files: folding, shapes, names, states, and their way through `lower`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper, numpy_helper

from aot.errors import LoweringError
from aot.importers.onnx.graph import OnnxModule
from aot.importers.onnx.module import onnx_module
from aot.importers.onnx.testing.graphs import GraphCase, file, values
from aot.importers.onnx.testing.networks import by_rate, classifier, stream
from aot.importers.onnx.testing.oracle import least_sqnr, session
from aot.lower import lower
from aot.options import Measure, Quantize

_LEAST = 110.0


def _calibration(module: OnnxModule, count: int = 32) -> list[tuple[torch.Tensor, ...]]:
    generator = torch.Generator().manual_seed(0)
    return [
        tuple(torch.rand(x.shape, generator=generator) for x in module.example)
        for _ in range(count)
    ]


def test_folds_shapes_and_joins_layers() -> None:
    module = onnx_module(classifier(), shapes={"height": 8})
    names = [name for name, _ in module.named_children()]
    assert names == ["net_conv_1_Conv", "relu", "pool", "flat", "fc"]
    x = values(1, 3, 8, 8)
    (wanted,) = session(classifier()).run(None, {"x": x})
    assert np.allclose(module(torch.from_numpy(x)).detach().numpy(), wanted, atol=1e-5)
    assert [*dict(module.named_parameters())][:2] == [
        "net_conv_1_Conv.weight",
        "net_conv_1_Conv.bias",
    ]


def test_lowers_with_names_of_nodes() -> None:
    module = onnx_module(classifier(), shapes={"height": 8})
    quantize = Quantize(quantization={"default": "int8", "fc": "int16"})
    lowered = lower(module, module.example, calibration=_calibration(module), quantize=quantize)
    modules = {op["module"] for op in lowered.report["ops"]}
    assert {"net_conv_1_Conv (Conv)", "fc (Linear)"} <= modules
    assert not any(op["source"] for op in lowered.report["ops"])
    assert [x["name"] for x in lowered.report["inputs"]] == ["x"]
    assert lowered.report["outputs"][0]["dtype"] == "int16"


_CHANNELS = [[values(4)], [values(4, seed=1)], [values(4, seed=2)], [np.ones(4, np.float32)]]
_LOWERED = [
    GraphCase("BatchNormalization", [values(1, 4, 5, 5), *_CHANNELS]),
    GraphCase("BatchNormalization", [values(1, 4), *_CHANNELS]),
    GraphCase("InstanceNormalization", [values(1, 4, 5, 5), *_CHANNELS[:2]]),
    GraphCase("LayerNormalization", [values(1, 3, 4), *_CHANNELS[:2]]),
    GraphCase("PRelu", [values(1, 4, 5, 5), [values(4, 1, 1)]]),
    GraphCase("Mul", [values(1, 4, 5, 5), [values(4, 1, 1)]]),
]


@pytest.mark.parametrize("case", _LOWERED, ids=lambda case: case.operator)
def test_lowers_with_constants(case: GraphCase) -> None:
    """Parameters of a node are trainable, statistics are not."""
    module = onnx_module(case.bytes())
    measure = Measure(min_sqnr=20.0, min_agreement=0.0)
    lowered = lower(module, module.example, calibration=_calibration(module), measure=measure)
    assert lowered.report["float_ops"] == 0


def test_a_whole_shape_by_input() -> None:
    module = onnx_module(classifier(), shapes={"x": [2, 3, 4, 16]})
    assert [*module.example[0].shape] == [2, 3, 4, 16]


@pytest.mark.parametrize("rate", [8, 16])
def test_branch_of_a_bound_input(rate: int) -> None:
    module = onnx_module(by_rate(), bind={"rate": [rate]})
    x = np.array([[1.0, -2.0, 3.0, -4.0]], np.float32)
    feeds = {"x": x, "rate": np.array([rate], np.float32)}
    (wanted,) = session(by_rate()).run(None, feeds)
    assert np.array_equal(module(torch.from_numpy(x)).numpy(), wanted)


def test_names_that_python_or_torch_take() -> None:
    names = ("training", "example", "state_h", "3d", "float", "a/b", "a.b", "")
    nodes, last = [], "self"
    for index, name in enumerate(names):
        nodes.append(helper.make_node("Relu", [last], [f"v{index}"], name))
        last = f"v{index}"
    nodes.append(helper.make_node("Add", ["h", "self"], ["hn"], "add"))
    data = file(nodes, {"self": [1, 4], "h": [1, 4]}, [last, "hn"], {})
    module = onnx_module(data, states={"h": "hn"})
    children = [name for name, _ in module.named_children()]
    assert children == [
        *("n_training", "n_example", "state_h", "n_3d", "n_float", "a_b", "a_b_2", "v7", "add"),
    ]
    assert torch.equal(module(-torch.ones(1, 4)), torch.zeros(1, 4))


def test_outputs_are_chosen() -> None:
    module = onnx_module(classifier(), shapes={"height": 8}, outputs=["p"])
    assert module.output_names == ("p",)
    assert [name for name, _ in module.named_children()] == ["net_conv_1_Conv", "relu", "pool"]


def test_states() -> None:
    module = onnx_module(stream(), states={"h": "hn"})
    assert module.input_names == ("x",) and module.output_names == ("y",)
    lowered = lower(
        module,
        module.example,
        calibration=[_calibration(module)],
        measure=Measure(min_sqnr=20.0, min_agreement=0.0),
    )
    assert len(lowered.report["states"]) == 1
    state = np.zeros((1, 5), np.float32)
    for seed in range(3):
        x = values(1, 3, seed=seed)
        y, state = session(stream()).run(None, {"x": x, "h": state})
        with torch.no_grad():
            given = module(torch.from_numpy(x)).numpy()
        assert np.allclose(given, y, atol=1e-6)


def test_external_data(tmp_path: Path) -> None:
    model = onnx.load_model_from_string(classifier())
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, size_threshold=0)
    module = onnx_module(tmp_path / "m.onnx", shapes={"height": 8})
    x = torch.from_numpy(values(1, 3, 8, 8))
    assert torch.equal(module(x), onnx_module(classifier(), shapes={"height": 8})(x))


_SIZES = st.integers(1, 3)


@settings(max_examples=60, deadline=None)
@given(
    operator=st.sampled_from(["Conv", "MaxPool", "AveragePool"]),
    height=st.integers(5, 12),
    kernel=st.tuples(_SIZES, _SIZES),
    stride=st.tuples(_SIZES, _SIZES),
    pads=st.lists(st.integers(0, 2), min_size=4, max_size=4),
    auto=st.sampled_from(["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]),
)
def test_windows(
    operator: str,
    height: int,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    pads: list[int],
    auto: str,
) -> None:
    # onnxruntime takes no stride above the window with SAME padding.
    strides = [min(pair) for pair in zip(stride, kernel, strict=True)]
    attributes: dict[str, Any] = {"kernel_shape": [*kernel], "strides": strides, "auto_pad": auto}
    if auto == "NOTSET":  # onnxruntime wants padding smaller than the window
        pads = [min(pad, size - 1) for pad, size in zip(pads, [*kernel, *kernel], strict=True)]
        attributes["pads"] = pads
    weights = [[values(4, 2, *kernel)]] if operator == "Conv" else []
    case = GraphCase(operator, [values(1, 2, height, 7), *weights], attributes)
    assert least_sqnr(case.bytes(), case.feeds) >= _LEAST


@settings(max_examples=80, deadline=None)
@given(
    size=st.integers(1, 7),
    start=st.integers(-9, 9),
    end=st.integers(-9, 9),
    step=st.integers(-3, 3).filter(bool),
)
def test_slices(size: int, start: int, end: int, step: int) -> None:
    picks = [np.array([n]) for n in (start, end, 1, step)]
    case = GraphCase("Slice", [values(2, size), *([pick] for pick in picks)])
    wanted = session(case.bytes()).run(None, case.feeds)[0]
    if wanted.size:
        assert least_sqnr(case.bytes(), case.feeds) >= _LEAST


@settings(max_examples=60, deadline=None)
@given(
    operator=st.sampled_from(["Add", "Mul", "Sub", "Div", "Max"]),
    shape=st.lists(st.integers(1, 4), min_size=1, max_size=5),
    data=st.data(),
)
def test_broadcasts(operator: str, shape: list[int], data: st.DataObject) -> None:
    other = [data.draw(st.sampled_from([1, size])) for size in shape]
    other = other[data.draw(st.integers(0, len(other))) :]
    case = GraphCase(operator, [values(*shape), [values(*other)]])
    assert least_sqnr(case.bytes(), case.feeds) >= _LEAST


def _refusal(data: Any, **settings: Any) -> str:
    with pytest.raises(LoweringError) as error:
        onnx_module(data, **settings)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_refusals_name_the_node() -> None:
    data = GraphCase("NonZero", [values(2, 3)]).bytes()
    assert _refusal(data) == ("node 'node' NonZero: the shape of its result depends on values")
    weights = [[values(1, 16, 3)], [values(1, 16, 4)], None]
    short = GraphCase(
        "LSTM", [values(5, 1, 3), *weights, [np.array([3], np.int32)]], {"hidden_size": 4}
    )
    assert "node 'node' LSTM: sequence lengths [3] in an input of 5 steps" in _refusal(
        short.bytes()
    )
    gelu = helper.make_node("Gelu", ["x"], ["y"], "g", domain="com.microsoft")
    assert "node 'g' com.microsoft::Gelu: is not supported" in _refusal(
        file([gelu], {"x": [1, 4]}, ["y"], {})
    )


def test_refusals_of_settings(tmp_path: Path) -> None:
    assert "no fixed size for height" in _refusal(classifier())
    assert "shapes: the .onnx file has no width; it has batch, height, x" in _refusal(
        classifier(), shapes={"width": 3}
    )
    assert "bind the input that decides it" in _refusal(by_rate())
    assert "bind: the .onnx file has no sr" in _refusal(by_rate(), bind={"sr": 3})
    assert "no value 'nothing'" in _refusal(stream(), outputs=["nothing"])
    assert "'h' is [1, 5], but 'sums' is" not in _refusal(stream(), states={"h": "x"})
    assert "No such file" in _refusal(tmp_path / "none.onnx")
    assert "no .onnx file" in _refusal(b"")
    assert "opset 7" in _refusal(GraphCase("Relu", [values(2)], opset=7).bytes())


def test_external_data_stays_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "secret").write_bytes(bytes(24))
    tensor = numpy_helper.from_array(values(6), "w")
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    model = onnx.load_model_from_string(GraphCase("Add", [values(6), [values(6)]]).bytes())
    for location in ("../secret", str(tmp_path / "secret"), "", "nothing"):
        del tensor.external_data[:]
        tensor.external_data.add(key="location", value=location)
        tensor.name = "x1"
        model.graph.initializer[0].CopyFrom(tensor)
        path = tmp_path / "in" / "m.onnx"
        path.write_bytes(model.SerializeToString())
        assert "no file" in _refusal(path)
