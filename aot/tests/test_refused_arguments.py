# SPDX-License-Identifier: Apache-2.0
"""A refusal of a model, a sample or a setting gives its name, the reason, and a remedy."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.ao.quantization as ao
from torch import nn
from torch.ao.quantization.quantize_fx import prepare_fx
from torchao.quantization import Int8WeightOnlyConfig, quantize_
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from aot.errors import LoweringError
from aot.lower import lower
from aot.options import Measure
from aot.quantizer.quantizer import Int8Quantizer
from aot.testing.fixtures import lower_with, model

X = torch.randn(2, 8, generator=torch.Generator().manual_seed(3))
LAYER = nn.Linear(8, 8).eval()
NET = nn.Sequential(LAYER, nn.ReLU()).eval()


def prepared(prepare: Callable[..., object], config: Callable[..., Any]) -> nn.Module:
    net = copy.deepcopy(NET).train(prepare is ao.prepare_qat)
    net.qconfig = config("fbgemm")
    prepare(net, inplace=True)
    net(X)
    return net.eval()


def in_pt2e(convert: Callable[[Any], Any]) -> Any:
    net = prepare_pt2e(torch.export.export(NET, (X,)).module(), Int8Quantizer(None))
    net(X)
    return convert(net)


def with_torchao() -> nn.Module:
    net = nn.Sequential(nn.Linear(64, 32)).eval()
    quantize_(net, Int8WeightOnlyConfig())
    return net


def with_hook(halve: Callable[[nn.Parameter], object]) -> nn.Module:
    net = nn.Sequential(nn.Linear(8, 8)).eval()

    def hook(layer: Any, _inputs: object) -> None:
        halve(layer.weight)

    net[0].register_forward_pre_hook(hook)
    return net


def halved(weight: nn.Parameter) -> None:
    with torch.no_grad():
        weight.mul_(0.5)


def exported(net: nn.Module) -> Any:
    return torch.export.export(net, (X,))


def with_exported_part() -> nn.Module:
    return nn.Sequential(exported(NET).module(), nn.ReLU())


def dynamic() -> Any:
    sizes = ({0: torch.export.Dim("batch", min=2, max=8)},)
    return torch.export.export(NET, (X,), dynamic_shapes=sizes)


def text_of(make: Callable[[], Any], example: Any = X, **options: Any) -> str:
    """The refusal."""
    given = {"calibration": [example] * 2, "per_op": False, **options}
    with pytest.raises(LoweringError) as caught:
        lower_with(make(), example, **given)
    return str(caught.value)


_FLOAT = "Pass the float model"

# name: the model, texts of the refusal, texts of other causes
MODELS: dict[str, tuple[Callable[[], Any], tuple[str, ...], tuple[str, ...]]] = {
    "training mode": (
        lambda: nn.Sequential(nn.Linear(8, 4), nn.Dropout()),
        ("training mode (the model, 0, 1)", "Call .eval() first"),
        (),
    ),
    "a part that is exported": (
        with_exported_part,
        ("training mode (the model, 1)", "part.training = False"),
        (".eval()",),
    ),
    "exported in training mode": (
        lambda: exported(nn.Sequential(nn.Linear(8, 4), nn.Dropout())),
        ("dropout", "call eval() before you export"),
        (),
    ),
    "a module of what was exported in training mode": (
        lambda: exported(nn.Sequential(nn.Linear(8, 4), nn.Dropout())).module(),
        ("dropout", "call eval() before you export"),
        ("in Python",),
    ),
    "observers": (
        lambda: prepared(ao.prepare, ao.get_default_qconfig),
        ("0.activation_post_process is a HistogramObserver", _FLOAT),
        ("state",),
    ),
    "fake quantizers": (
        lambda: prepared(ao.prepare_qat, ao.get_default_qat_qconfig),
        ("0.weight_fake_quant is a FusedMovingAvgObsFakeQuantize", _FLOAT),
        ("state",),
    ),
    "observers of FX": (
        lambda: prepare_fx(copy.deepcopy(NET), ao.get_default_qconfig_mapping(), (X,)),
        ("activation_post_process_0 is a HistogramObserver", _FLOAT),
        (".eval()",),
    ),
    "observers of PT2E": (
        lambda: in_pt2e(lambda net: net),
        ("activation_post_process_0 is a Histogram", _FLOAT),
        (".eval()",),
    ),
    "quantized by PT2E": (
        lambda: in_pt2e(convert_pt2e),
        ("quantized already", "quantized_decomposed", _FLOAT),
        (".eval()",),
    ),
    "quantized by PT2E, exported again": (
        lambda: torch.export.export(in_pt2e(convert_pt2e), (X,)),
        ("quantized already", "quantized_decomposed", _FLOAT),
        ("neither an int8 form",),
    ),
    "quantized by torchao": (
        with_torchao,
        ("weight 0.weight is a Int8Tensor", _FLOAT),
        (),
    ),
    "CrossMapLRN2d": (
        lambda: nn.Sequential(nn.CrossMapLRN2d(3)).eval(),
        ("0 is a CrossMapLRN2d", "nn.LocalResponseNorm"),
        ("changes",),
    ),
    "a hook that changes weight.data": (
        lambda: with_hook(lambda weight: weight.data.mul_(0.5)),
        ("changes its parameter 0.weight", "register_buffer"),
        (),
    ),
    "a hook that changes a weight": (
        lambda: with_hook(halved),
        ("changes its parameter 0.weight", "register_buffer"),
        (),
    ),
    "weights": (
        lambda: NET.state_dict(),
        ("got OrderedDict", "model.load_state_dict(...)"),
        (),
    ),
    "a path": (lambda: "model.pt", ("got str", "torch.load(...)"), ()),
    "float16": (lambda: copy.deepcopy(NET).half(), ("weight 0.weight is float16", ".float()"), ()),
    "dynamic shapes": (
        dynamic,
        ("dynamic dimensions [0]", "without dynamic_shapes"),
        (),
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_models(name: str) -> None:
    make, causes, others = MODELS[name]
    text = text_of(make)
    assert [cause for cause in causes if cause not in text] == []
    assert [other for other in (*others, "torch.export cannot") if other in text] == []


def test_a_part_that_is_exported_lowers_by_its_remedy() -> None:
    net = with_exported_part()
    for part in net.modules():
        part.training = False
    lower(
        net,
        X,
        calibration=[X] * 2,
        measure=Measure(per_op=False, min_sqnr=-torch.inf, min_agreement=0.0),
    )


def test_a_local_norm_is_one_across_maps_but_for_the_first_channel() -> None:
    image = torch.randn(2, 6, 5, 5, generator=torch.Generator().manual_seed(5))
    image[:, 0] = 0.0
    arguments = (3, 0.02, 0.6, 1.5)
    expected = nn.CrossMapLRN2d(*arguments)(image)
    assert torch.allclose(nn.LocalResponseNorm(*arguments)(image), expected, atol=1e-6)


_SUM = model(lambda x: x + 1)
_OF_TWO = model(lambda x, name: x * 2.0 if name == "a" else x)
_ROWS = nn.Embedding(10, 4).eval()

# name: the model, the example, texts of the refusal
EXAMPLES: dict[str, tuple[nn.Module, Any, tuple[str, ...]]] = {
    "complex": (_SUM, X + 1j, ("complex64[2, 8]", "instead: torch.view_as_real(x)")),
    "float64": (_SUM, X.double(), ("float64[2, 8]", "instead: x.to(torch.float32)")),
    "uint16": (_SUM, X.to(torch.uint16), ("uint16[2, 8]", "instead: x.to(torch.int32)")),
    "sparse": (_SUM, X.to_sparse(), ("example_inputs, input 0", "torch.sparse_coo", "dense")),
    "no int32": (
        _SUM,
        torch.tensor([2**40]),
        ("input 0 holds 1099511627776", "keep them within [-2147483648, 2147483647]"),
    ),
    "rows that are not there": (
        _ROWS,
        torch.tensor([3, 12]),
        ("outside of its table", "within the rows"),
    ),
    "a text alone": (_SUM, ("a",), ("example_inputs is (str)", "has no tensor in it")),
    "another name": (
        LAYER,
        {"inpt": X},
        ("argument 'input' (position 1) must be Tensor, not dict", "names of its arguments"),
    ),
    "too many": (LAYER, (X, X, X), ("too many positional arguments", "forward(input)")),
    "another shape": (LAYER, X[:, :7], ("does not run on its first sample", "float32[2, 7]")),
    "a dimension of nothing": (_SUM, X[:0], ("float32[0, 8]", "at least one element")),
    "rank 7": (_SUM, X.reshape(2, 2, 2, 2, 1, 1, 1), ("at most 6 dimensions",)),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str) -> None:
    net, example, causes = EXAMPLES[name]
    text = text_of(lambda: net, example)
    assert [cause for cause in causes if cause not in text] == []
    assert "inputs.py" not in text  # a line of the user's


def train_nothing() -> None: ...


# name: setting, value, texts of the refusal
SETTINGS: dict[str, tuple[str, Any, tuple[str, ...]]] = {
    "a core": ("target", "cortex-m4", ("the nearest is 'cortex-m'", "covers all cores")),
    "another NPU": ("target", "ethos-u55-127", ("the nearest is 'ethos-u55-128'",)),
    "no target": ("target", 3, ("must be a Target", "got int", "pkg.module:name")),
    "bits": ("quantization", "int4", ("quantization 'int4' does not exist", "int8w4")),
    "a type": ("quantization", torch.int8, ("quantization is dtype", "one text")),
    "no layer": ("quantization", {"1": "int8", "head": "int16"}, ("'head' matches no layer",)),
    "an observer": ("observer", ao.MinMaxObserver, ("the class MinMaxObserver", "histogram")),
    "yes": ("equalize", "yes", ("got 'yes'", "equalize must be True or False")),
    "no loop": ("train", "yes", ("a function that trains", "got str")),
    "a loop of nothing": ("train", train_nothing, ("it takes ()", "one argument, the module")),
    "a class": ("train", dict, ("a function that trains", "got the class dict")),
    "a layout": ("io_layout", "NHWC", ("got 'NHWC'", "nhwc")),
    "must be the report of the previous model": (
        "input_from",
        "x.json",
        ("got str", "lowered.report"),
    ),
    "no scale": (
        "input_from",
        {
            "outputs": [
                {
                    "dtype": "int8",
                    "shape": [2, 8],
                    "scale": 0.0,
                    "zero_point": 0,
                    "layout": "row_major",
                }
            ]
        },
        ("got dict", "lowered.report"),
    ),
    "percent": ("min_agreement", 95, ("must be a share", "[0, 1]")),
    "decibels": ("min_sqnr", "high", ("got 'high'", "decibels")),
    "a quantizer": ("quantizer", Int8Quantizer, ("the class Int8Quantizer", "an object of")),
    "no samples": ("calibration", [], ("calibration data are empty", "at least one sample")),
    "NaN": ("calibration", [X, X * torch.nan], ("calibration sample 1, input 0", "Fix the")),
    "samples of another shape": (
        "calibration",
        [X, X.T],
        ("sample 1, input 0 is float32[8, 2]", "x.permute(1, 0)"),
    ),
    "samples of another type": (
        "calibration",
        [X.long()],
        ("sample 0, input 0 is int64[2, 8]", "x.to(torch.float32)"),
    ),
    "samples by name": ("calibration", {"x": X}, ("got dict", "[sample]")),
    "evaluation of nothing": (
        "evaluation",
        [],
        ("evaluation data are empty", "leave evaluation out"),
    ),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings(name: str) -> None:
    setting, value, causes = SETTINGS[name]
    text = text_of(lambda: NET, **{setting: value})
    assert [cause for cause in causes if cause not in text] == []


def test_a_text_of_another_sample() -> None:
    text = text_of(lambda: _OF_TWO, (X, "a"), calibration=[(X, "b")])
    assert "inputs[1] is 'b', but 'a' in the example" in text and "equal in all samples" in text


def test_what_a_lowered_model_is_given() -> None:
    found = lower(
        NET,
        X,
        calibration=[X] * 2,
        measure=Measure(per_op=False, min_sqnr=-torch.inf, min_agreement=0.0),
    )
    (output,) = found.reference(X)
    assert torch.equal(found.dequantize_outputs(output)[0], found.dequantize_outputs([output])[0])
    with pytest.raises(ValueError, match="the model has 1 outputs; got 0"):
        found.dequantize_outputs([])
    with pytest.raises(ValueError, match="an input must be a tensor or a numpy array; got str"):
        found.reference(("x",))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"must be int8\[2, 8\], or float32\[2, 8\]"):
        found.reference(X.double())
