# SPDX-License-Identifier: Apache-2.0
"""Users' forms of samples become the same tensors. Results needing no device are not in the
artefact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import nn

from aot.accept.inputs import Inputs, first_sample
from aot.accept.program import result_paths, tensor_names
from aot.errors import LoweringError
from aot.lower import lower
from aot.options import Quantize
from aot.testing.fixtures import model


class Net(nn.Module):
    """Arguments of every kind; results of every kind."""

    anchors: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.linear = nn.Linear(4, 3)
        self.register_buffer("anchors", torch.ones(2, 3))

    def forward(
        self, x: torch.Tensor, state: Any, *, mask: torch.Tensor | None = None, power: int = 1
    ) -> dict[str, object]:
        y = self.linear(x.float().contiguous().to(torch.float32)) + state["h"][0].detach()
        assert mask is not None
        scaled = (y * mask).to(state["h"][1].dtype) * power
        return {
            "y": torch.tanh(scaled),
            "nothing": None,
            "more": (3, self.anchors, state["h"][1].to("cpu") * 0.5),
        }


def _inputs(seed: int = 0) -> tuple[torch.Tensor, ...]:
    """Return x, the mask, and the two tensors of the state."""
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(1, n, generator=generator) for n in (4, 3, 3, 2))


X, MASK, H0, H1 = _inputs()
EXAMPLE = {"x": X, "state": {"h": (H0, H1)}, "mask": MASK, "power": 2}

# The same sample.
FORMS: dict[str, object] = {
    "a dict": EXAMPLE,
    "another byte order": {
        **EXAMPLE,
        "x": X.numpy().astype(">f4"),
        "mask": MASK.double().numpy().astype(">f8"),
    },
    "in another order": dict(reversed(EXAMPLE.items())),
    "numpy": {**EXAMPLE, "x": X.double().numpy(), "state": {"h": [H0.numpy(), H1]}},
    "flat": (X, H0, H1, MASK),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_a_sample_with_names(form: str) -> None:
    inputs = Inputs(Net().eval(), EXAMPLE, "example")
    found = inputs.tensors(FORMS[form], "sample")
    assert [torch.equal(a, b) for a, b in zip(found, (X, H0, H1, MASK), strict=True)] == [True] * 4


LINEAR = nn.Linear(4, 2).eval()


@pytest.mark.parametrize(
    ("sample", "rows"),
    [
        (X, 1),
        (X.numpy(), 1),
        ((X,), 1),
        ([X, torch.tensor([3])], 1),
        ({"input": X}, 1),
        ((torch.cat([X, X * 2, X * 3]), torch.tensor([1, 0, 2])), 3),
    ],
)
def test_samples_batches_and_labels(sample: object, rows: int) -> None:
    inputs = Inputs(LINEAR, X, "example")
    found: list[Any] = list(inputs.samples([sample], "calibration", splits=True))
    assert [torch.equal(x, X * (i + 1)) for i, (x,) in enumerate(found)] == [True] * rows


@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("convert", [torch.Tensor.clone, torch.Tensor.numpy])
def test_an_array_is_many_samples(rank: int, convert: Callable[[torch.Tensor], Any]) -> None:
    """An array is a batch of the example's rank, or a series of samples."""
    rows = torch.cat([X, X * 2, X * 3])
    data = convert(rows if rank == 2 else rows[:, None])
    inputs = Inputs(LINEAR, X, "example")
    found: list[Any] = list(inputs.samples(data, "calibration", splits=True))
    assert [torch.equal(x, X * (i + 1)) for i, (x,) in enumerate(found)] == [True] * 3


def test_sequences_stay_sequences() -> None:
    inputs = Inputs(LINEAR, X, "example")
    for item in ([(X,), (X,)], [{"input": X}] * 2, (x for x in (X, X))):
        samples: list[Any] = list(inputs.samples([item], "calibration", splits=True))
        assert [[len(sample) for sample in sequence] for sequence in samples] == [[1, 1]]


def test_a_sequence_of_bare_tensors_is_refused() -> None:
    inputs = Inputs(LINEAR, X, "example")
    with pytest.raises(LoweringError, match="by name, or for a sequence a list of such tuples.$"):
        list(inputs.samples([[X, X, X]], "calibration"))


@pytest.mark.parametrize("pair", [[X, X * 2], [X.numpy(), X.numpy()]])
def test_a_list_of_two_alike_is_not_guessed_at(pair: list[Any]) -> None:
    inputs = Inputs(LINEAR, X, "example")
    with pytest.raises(
        LoweringError, match=r"sample 1 is a list of two .* \[\(a,\), \(b,\)\]. Pass a s"
    ):
        list(inputs.samples([X, pair], "calibration"))
    for meant in ([(X,), (X * 2,)], (X, X * 2), [X, torch.tensor([3.0])]):
        assert len(list(inputs.samples([meant], "calibration"))) == 1


def test_arrays_keep_their_rank() -> None:
    (number,) = Inputs(model(torch.tanh), np.array(2.0), "example").example
    assert number.shape == () and number.dtype == torch.float32


def test_a_list_of_the_examples_structure_is_a_sample() -> None:
    class Pair(nn.Module):
        def forward(self, pair: list[torch.Tensor], x: torch.Tensor) -> torch.Tensor:
            return pair[0] + pair[1] + x

    inputs = Inputs(Pair().eval(), ((X, X), X), "example")
    samples: list[Any] = list(inputs.samples([[(X, X), X], ((X, X), X)], "calibration"))
    assert [len(sample) for sample in samples] == [3, 3]


@pytest.mark.parametrize("make", [lambda: [X, X * 2], lambda: ((x for x in (X, X * 2)),)])
def test_the_first_sample_is_not_lost(make: Callable[[], Any]) -> None:
    first, data = first_sample(make(), "data")
    assert first is X
    found = [x for item in data for x in ([item] if isinstance(item, torch.Tensor) else item)]
    assert len(found) == 2


class Optional(nn.Module):
    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        return x if mask is None else x * mask


# mistake: (model, example, sample, message)
WRONG: dict[str, tuple[nn.Module, Any, Any, str]] = {
    "a label, or a mask": (
        Optional(),
        X,
        (X, X),
        "sample has x, mask, but the example has x. .*Drop labels",
    ),
    "another name": (Optional(), X, {"y": X}, r"no argument 'y'. Pass .* forward\(x, mask=None\)"),
    "another number": (Net(), EXAMPLE, {**EXAMPLE, "power": 3}, "power is 3, but 2 in the example"),
    "an array of no numbers": (
        Optional(),
        X,
        np.array([None]),
        r"numpy object\[1\]: not a sample. Pass a tensor",
    ),
    "less": (Net(), EXAMPLE, {"x": X}, "missing a required argument: 'state'"),
    "another structure": (
        Net(),
        EXAMPLE,
        {**EXAMPLE, "state": {"h": H0}},
        r"sample has x, state\['h'\], mask, power, but the example has x, state\['h'\]\[0\], ",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_such_sample(name: str) -> None:
    module, example, sample, text = WRONG[name]
    inputs = Inputs(module.eval(), example, "example")
    with pytest.raises(LoweringError, match=text):
        inputs.tensors(sample, "sample")


def test_a_model_of_arguments_and_results_of_every_kind() -> None:
    def sample(seed: int) -> dict[str, Any]:
        x, mask, h0, h1 = _inputs(seed)
        return {"x": x.numpy(), "state": {"h": (h0, h1)}, "mask": mask, "power": 2}

    net = Net().eval()
    lowered = lower(net, EXAMPLE, calibration=[sample(i) for i in range(16)])
    names = [tensor["name"] for tensor in lowered.report["inputs"]]
    assert names == ["x", "state_h_0", "state_h_1", "mask"]
    assert lowered.report["results"] == [0, 4]
    assert lowered.report["paths"] == ["['y']", "['more'][2]"]
    y, z = lowered.dequantize_outputs(lowered.reference((X, H0, H1, MASK)))
    with torch.no_grad():
        expected: Any = net(**EXAMPLE)
    # Int8 with the present ranges.
    torch.testing.assert_close(y, expected["y"], rtol=0.0, atol=0.05)
    torch.testing.assert_close(z, expected["more"][2], rtol=0.0, atol=0.02)
    modules = {op["module"] for op in lowered.report["ops"]}
    assert "linear (Linear)" in modules, "paths are the user's own"


class Scaled(nn.Module):
    """Tensors, a number and nothing, by position and by name, some of them nested."""

    def forward(
        self, x: torch.Tensor, pair: Any, scale: float, nothing: None = None, *, state: Any
    ) -> tuple[torch.Tensor, Any]:
        return x * scale - pair[1]["a"], {"sum": pair[0] + state["h"], "nothing": nothing}


def _of_program(*seeds: int) -> list[dict[str, Any]]:
    generators = (torch.Generator().manual_seed(seed) for seed in seeds)
    drawn = (torch.rand(4, 2, 3, generator=generator) for generator in generators)
    return [{"state": {"h": h}, "x": x, "pair": (a, {"a": b})} for x, a, b, h in drawn]


def test_exported_programs_take_what_they_were_exported_with() -> None:
    (first,) = _of_program(0)
    keywords = {"state": first["state"]}
    program = torch.export.export(Scaled(), (first["x"], first["pair"], 3.0), keywords)
    samples = _of_program(*range(16))
    lowered = lower(program, samples[0], calibration=samples)
    names = [tensor["name"] for tensor in lowered.report["inputs"]]
    assert names == ["x", "pair_0", "pair_1_a", "state_h"]
    x, a, b, h = Inputs(program, samples[1], "sample").tensors(samples[1], "sample")
    difference, total = lowered.dequantize_outputs(lowered.reference((x, a, b, h)))
    # Int8 of ranges of 4 and 2.
    torch.testing.assert_close(difference, x * 3.0 - b, rtol=0.0, atol=0.03)
    torch.testing.assert_close(total, a + h, rtol=0.0, atol=0.02)
    for wrong, text in (
        ({**first, "scale": 2.0}, r"example has .*scale, but the program was .* scale=3\.0"),
        ({**first, "pair": first["x"]}, r"example has .*pair, .* with x, pair\[0\], pair\[1\]"),
    ):
        with pytest.raises(LoweringError, match=text):
            Inputs(program, wrong, "example")


class Boxes(NamedTuple):
    """Return value of a detector."""

    corners: torch.Tensor
    scores: torch.Tensor


RETURNED: dict[str, tuple[Callable[[torch.Tensor], Any], list[str]]] = {
    "a tensor": (lambda x: x, [""]),
    "a tuple": (lambda x: (x, x + 1), ["[0]", "[1]"]),
    "a dict": (lambda x: {"low": x, "high": [x, x * 2]}, ["['low']", "['high'][0]", "['high'][1]"]),
    "a named tuple": (lambda x: Boxes(x, x * 2), [".corners", ".scores"]),
}


@pytest.mark.parametrize("name", RETURNED)
def test_where_a_result_is_in_what_the_model_returns(name: str) -> None:
    form, paths = RETURNED[name]

    class Returns(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return form(x * 2)

    assert result_paths(torch.export.export(Returns(), (X,))) == paths


class Camera(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, frame: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.conv(frame.permute(0, 3, 1, 2).float() / 255)
        return result


def _frames(count: int = 20) -> Any:
    return np.random.default_rng(0).integers(0, 256, (count, 1, 8, 8, 3), np.uint8)


@pytest.mark.parametrize("quantization", ["int8", "int16", "float32"])
def test_bytes_of_a_camera_are_an_input_as_they_are(quantization: str) -> None:
    frames = _frames()
    lowered = lower(
        Camera().eval(), frames[0], calibration=frames, quantize=Quantize(quantization=quantization)
    )
    (given,) = lowered.report["inputs"]
    assert (given["dtype"], given["scale"], given["zero_point"]) == ("int8", 1.0, -128)
    frame = torch.from_numpy(frames[1])
    (elements,) = lowered.quantize_inputs([frame])
    assert torch.equal(elements.to(torch.int32) + 128, frame.to(torch.int32))
    (result,) = lowered.reference([frame])
    (same,) = lowered.reference([elements])
    assert torch.equal(result, same)
    kinds = {warning["kind"] for warning in lowered.report["warnings"]}
    assert kinds == {"noise"}  # they are noise


def test_of_bytes_that_are_all_0_nothing_is_learnt() -> None:
    with pytest.raises(LoweringError, match="input `frame` is 0 in every calibration sample"):
        lower(Camera().eval(), _frames()[0], calibration=[np.zeros_like(_frames()[0])] * 20)


def test_dark_images_of_bytes_are_no_coarse_range() -> None:
    dark = _frames() // 32
    lowered = lower(Camera().eval(), dark[0], calibration=dark)
    kinds = {warning["kind"] for warning in lowered.report["warnings"]}
    assert kinds <= {"noise"} and (lowered.quality.outputs[0].sqnr_db or 0.0) > 30.0


def test_bytes_are_of_models_that_take_bytes() -> None:
    samples = [torch.randn(1, 4) for _ in range(16)]
    lowered = lower(nn.Linear(4, 2).eval(), samples[0], calibration=samples)
    with pytest.raises(ValueError, match="must be int8.*got uint8"):
        lowered.reference([torch.zeros(1, 4, dtype=torch.uint8)])


_V = torch.ones(2, 3)


@pytest.mark.parametrize(
    ("example", "forward", "names"),
    [
        ({"a": {"b": _V}, "a_b": _V}, "a, a_b: a['b'] * 2 + a_b", ["a_b", "a_b_1"]),
        ({"a": {"x y": _V, "x.y": _V}}, "a: a['x y'] * 2 + a['x.y']", ["a_x_y", "a_x_y_1"]),
        ({"a": [_V], "self_": _V}, "a, self_: a[0] * 2 + self_", ["a_0", "self_1"]),
        ({"a": [_V], "_": _V}, "a, _: a[0] * 2 + _", ["a_0", "input"]),
        ({"_": [_V, _V]}, "_: _[0] * 2 + _[1]", ["input_0", "input_1"]),
    ],
)
def test_paths_that_give_one_name_or_none(example: Any, forward: str, names: list[str]) -> None:
    net = type("Net", (nn.Module,), {"forward": eval(f"lambda self, {forward}")})()
    inputs = Inputs(net.eval(), example, "example_inputs")
    assert isinstance(inputs.model, nn.Module)
    assert torch.equal(inputs.model(*inputs.example), _V * 3)
    assert tensor_names(torch.export.export(inputs.model, inputs.example)) == names
