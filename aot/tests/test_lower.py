# SPDX-License-Identifier: Apache-2.0
"""The API: artefact, report, reference, layouts, float I/O, modules' names."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.backends.cortex_m import CORTEX_M
from aot.backends.target import Target
from aot.backends.traits import Traits
from aot.errors import LoweringError
from aot.lower import Lowered, lower
from aot.options import Measure, Quantize
from aot.pte.conventions import LAYOUTS, SIDES, layouts_method
from aot.testing.fixtures import lower_with, model, samples
from aot.testing.lockstep import compare
from aot.testing.stand_in import stand_in, stand_in_target
from aot.upstream.executorch_runtime import Runtime

IMAGE = (1, 3, 8, 6)


def network() -> nn.Module:
    return model(
        lambda a, b, c, x: c(F.relu(b(F.relu6(a(x)))).mean((2, 3))),
        nn.Conv2d(3, 8, 3, padding=1),
        nn.Conv2d(8, 6, 3, stride=2),
        nn.Linear(6, 4),
    )


@functools.cache
def default() -> Lowered:
    return lowered()


def lowered(
    module: nn.Module | None = None, channels_last: bool = False, **options: Any
) -> Lowered:
    data = samples(IMAGE)
    if channels_last:
        data = [(x.contiguous(memory_format=torch.channels_last),) for (x,) in data]
    return lower_with(module or network(), data[0], calibration=data, **options)


def test_the_same_input_gives_the_same_bytes() -> None:
    first, second = lowered(), lowered()
    assert first.pte == second.pte
    assert json.dumps(first.report) == json.dumps(second.report)


def test_executorch_loads_the_artefact(tmp_path: Path) -> None:
    path = tmp_path / "model.pte"
    path.write_bytes(default().pte)
    program = Runtime.get().load_program(path)
    meta = program.metadata("forward")
    assert (meta.num_inputs(), meta.num_outputs()) == (1, 1)
    assert tuple(meta.input_tensor_meta(0).sizes()) == IMAGE
    assert tuple(meta.output_tensor_meta(0).sizes()) == (1, 4)
    report = default().report
    for kind in ("input", "output"):
        (scale,) = program.load_method(f"pl_{kind}_scales").execute([])
        (zero_point,) = program.load_method(f"pl_{kind}_zero_points").execute([])
        assert scale == report[f"{kind}s"][0]["scale"]
        assert zero_point == report[f"{kind}s"][0]["zero_point"]


def test_reference_takes_what_lower_does() -> None:
    class Gained(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = model(lambda a, x: a(x), nn.Conv2d(3, 2, 3))

        def forward(self, image: torch.Tensor, batch: dict[str, torch.Tensor]) -> torch.Tensor:
            return self.conv(image) * batch["gain"]  # type: ignore[no-any-return]

    data: list[dict[str, Any]] = [
        {"image": x.numpy(), "batch": {"gain": torch.full((1, 1, 1, 1), i / 8)}}
        for i, (x,) in enumerate(samples(IMAGE))
    ]
    result = lower(Gained().eval(), data[0], calibration=data, measure=Measure(per_op=False))
    x, gain = torch.from_numpy(data[3]["image"]), data[3]["batch"]["gain"]
    (expected,) = result.reference([x, gain])
    for given in (
        {"batch_gain": gain, "image": x.double().numpy()},
        (x.numpy(), gain),
    ):
        assert torch.equal(result.reference(given)[0], expected)
    with pytest.raises(ValueError, match="the inputs are image, batch_gain, not picture, gain"):
        result.reference({"picture": x, "gain": gain})
    (alone,) = samples(IMAGE)[0]
    for image in (alone, alone.numpy(), alone.numpy()[::-1, ::-1][::-1, ::-1]):
        assert torch.equal(default().reference(image)[0], default().reference([alone])[0])


def test_reference_takes_floats_and_int8() -> None:
    result = default()
    (x,) = samples(IMAGE, count=1)[0]
    quantized = result.quantize_inputs([x])
    assert quantized[0].dtype == torch.int8
    assert torch.equal(result.reference([x])[0], result.reference(quantized)[0])
    with pytest.raises(
        ValueError, match=r"must be int8\[1, 3, 8, 6\].*; got float32\[1, 3, 8, 5\]"
    ):
        result.reference([x[..., :5]])
    with pytest.raises(ValueError, match="takes 1 inputs; got 2"):
        result.reference([x, x])


def test_int8_is_close_to_float() -> None:
    module = network()
    result = lowered(module)
    noise = signal = 0.0
    for (x,) in samples(IMAGE):
        expected = module(x)
        actual = result.dequantize_outputs(result.reference([x]))[0]
        signal += float((expected**2).sum())
        noise += float(((expected - actual) ** 2).sum())
    assert signal / noise > 10**3, "30 dB"


def test_layouts_of_the_border() -> None:
    (x,) = samples(IMAGE, count=1)[0]
    plain = default().reference([x])[0]
    channels_last = lowered(channels_last=True)
    assert [op["op"] for op in channels_last.report["ops"]][0] == "pl.channels_last_to_nhwc"
    assert torch.equal(channels_last.reference([x])[0], plain)
    nhwc = lowered(io_layout="nhwc")
    assert nhwc.report["inputs"][0]["shape"] == [1, 8, 6, 3]
    assert "pl.transpose" not in [op["op"] for op in nhwc.report["ops"]]
    assert torch.equal(nhwc.reference([x.permute(0, 2, 3, 1)])[0], plain)
    chosen = lowered(io_layout="auto")
    assert chosen.pte == nhwc.pte
    assert chosen.report["inputs"][0]["layout"] == "nhwc" != plain_layout(default())
    assert lowered(channels_last=True, io_layout="auto").pte == channels_last.pte


def plain_layout(result: Lowered) -> str:
    return str(result.report["inputs"][0]["layout"])


def layouts(result: Lowered, folder: Path) -> dict[str, list[str]]:
    """Return the layouts of the artefact's inputs and outputs."""
    path = folder / "model.pte"
    path.write_bytes(result.pte)
    program = Runtime.get().load_program(path)
    return {
        side: [LAYOUTS[code] for code in program.load_method(layouts_method(side)).execute([])]
        for side in SIDES
    }


def test_channels_last_outputs_stay(tmp_path: Path) -> None:
    conv = model(lambda a, x: a(x), nn.Conv2d(3, 4, 3))
    result = lowered(conv, channels_last=True)
    (out,) = result.reference(samples(IMAGE, count=1)[0])
    assert out.is_contiguous(memory_format=torch.channels_last)
    assert "pl.transpose" not in [op["op"] for op in result.report["ops"]]
    assert layouts(result, tmp_path) == {"input": ["nhwc"], "output": ["nhwc"]}


def test_a_memory_format_that_the_model_asks_for_is_the_outputs(tmp_path: Path) -> None:
    conv = model(lambda a, x: a(x.to(memory_format=torch.channels_last)), nn.Conv2d(3, 4, 3))
    result = lowered(conv)
    (out,) = result.reference(samples(IMAGE, count=1)[0])
    assert out.is_contiguous(memory_format=torch.channels_last)
    assert layouts(result, tmp_path) == {"input": ["nchw"], "output": ["nhwc"]}


def test_the_artefact_holds_no_constant_that_no_op_reads() -> None:
    flat = model(lambda a, b, x: b(a(x).flatten(1)), nn.Conv2d(3, 4, 3), nn.Linear(96, 40))
    result = lowered(flat)
    read = {str(n.target) for n in result.module.graph.nodes if n.op == "get_attr"}
    assert {name for name, _ in result.module.named_buffers()} == read


def test_float_io_is_the_quantized_graph() -> None:
    result = lowered(float_io=True)
    (x,) = samples(IMAGE, count=1)[0]
    (out,) = result.reference([x])
    assert out.dtype == torch.float32
    assert torch.equal(out, default().dequantize_outputs(default().reference([x]))[0])


def test_report_says_what_every_op_became() -> None:
    report = default().report
    ops = {op["op"]: op for op in report["ops"]}
    conv = report["ops"][1]
    assert conv["op"] == "pl.conv2d"
    assert conv["from"] == ["aten.convolution", "aten.hardtanh"]
    assert "test_lower.py" in conv["source"] or "fixtures.py" in conv["source"]
    assert conv["macs"] == 8 * 6 * 8 * 27
    assert conv["outputs"][0] == {**conv["outputs"][0], "shape": [1, 8, 6, 8], "dtype": "int8"}
    assert ops["pl.transpose"]["why"]
    assert report["float_ops"] == 0
    assert report["pte_bytes"] == len(default().pte)


@pytest.mark.parametrize(
    "options",
    [{}, {"channels_last": True}, {"io_layout": "nhwc"}, {"float_io": True}],
    ids=lambda options: "".join(options) or "plain",
)
def test_engines_change_where_ops_run_and_no_bit(options: dict[str, Any]) -> None:
    target = stand_in_target({"conv2d"}, {"mean", "linear", "quantize"})
    plain, divided = lowered(**options), lowered(target=target, **options)
    (x,) = samples(IMAGE, count=1)[0]
    if "io_layout" in options:
        x = x.permute(0, 2, 3, 1)
    (expected,), (out,) = plain.reference([x]), divided.reference([x])
    assert torch.equal(out, expected) and out.stride() == expected.stride()
    assert divided.report["inputs"] == plain.report["inputs"]
    assert divided.report["outputs"] == plain.report["outputs"]
    assert torch.equal(*(r.dequantize_outputs(r.reference([x]))[0] for r in (plain, divided)))
    ran = [(row["op"], row["runs_on"]) for row in divided.report["ops"]]
    assert [op for op, _ in ran] == [row["op"] for row in plain.report["ops"]]
    assert {op for op, backend in ran if backend == "stand_in"} == {"pl.conv2d"}
    assert {op for op, backend in ran if backend == "stand_in_1"} == {"pl.mean", "pl.linear"}
    assert compare(divided, samples(IMAGE, count=2)).largest <= 1


def test_a_target_asks_the_quantizer_and_export() -> None:
    asked = {"linear": Traits(zero_point_0=True)}
    keeps = (torch.ops.aten.rsub.Scalar,)
    engine = stand_in({"linear"}, traits=asked, keeps=keeps)
    target = Target("t", (engine, CORTEX_M))
    module = model(lambda a, x: a(1.0 - x), nn.Linear(6, 4))
    plain, divided = lowered(module), lowered(module, target=target)
    assert [row["runs_on"] for row in divided.report["ops"]] == ["cortex_m", "stand_in"]
    assert (
        divided.report["outputs"][0]["zero_point"] == 0 != plain.report["outputs"][0]["zero_point"]
    )
    assert "aten.rsub" in divided.report["ops"][0]["from"]
    assert "aten.rsub" not in plain.report["ops"][0]["from"]


@pytest.mark.parametrize(
    ("traits", "ran"),
    [({}, "cortex_m"), ({"linear": Traits(int16=True)}, "stand_in")],
)
def test_an_engine_takes_int16_of_single_ops(traits: dict[str, Traits], ran: str) -> None:
    target = Target("t", (stand_in({"linear", "add"}, traits=traits), CORTEX_M))
    module = model(lambda a, x: a(x) + x[..., :4], nn.Linear(6, 4))
    report = lowered(module, target=target, quantization="int16").report
    assert [r["runs_on"] for r in report["ops"] if r["op"] == "pl.linear"] == [ran]
    (add,) = (row for row in report["ops"] if row["op"] == "pl.add")
    assert add["runs_on"] == "cortex_m" and "it takes int8" in add["not_on"]["stand_in"]


def test_modules_are_named() -> None:
    """Every op in nn.Sequential has the same source line, and none is in the user's own code."""
    parts = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Tanh()).eval()
    report = lowered(nn.Sequential(parts, nn.Flatten(), nn.Linear(96, 2)).eval()).report
    modules = {op["op"]: op["module"] for op in report["ops"]}
    assert modules == {
        "pl.transpose": "0.0 (Conv2d)",
        "pl.conv2d": "0.0 (Conv2d)",
        "pl.lut": "0.3 (Tanh)",
        "pl.reshape": "1 (Flatten)",
        "pl.linear": "2 (Linear)",
    }
    assert default().report["ops"][-2]["module"] == "", "a mean in the model's own forward"
    with pytest.raises(LoweringError, match=r"    at 0\.1 \(GroupNorm\)\n"):
        norm = nn.Sequential(nn.Conv2d(3, 4, 3), nn.GroupNorm(2, 4, eps=-1.0))
        lowered(nn.Sequential(norm, nn.ReLU()).eval())


@pytest.mark.parametrize(
    "part",
    [
        nn.ReLU(inplace=True),
        nn.Hardswish(inplace=True),
        model(lambda x: x.add_(1).mul_(0.5)),
        model(lambda x: x.view(-1).relu_().view(IMAGE)),
    ],
)
@pytest.mark.parametrize("exported", [False, True])
def test_ops_in_place_on_the_input(part: nn.Module, exported: bool) -> None:
    whole = nn.Sequential(part, nn.Conv2d(3, 4, 3)).eval()
    data = samples(IMAGE)
    given = torch.export.export(whole, data[0]) if exported else whole
    before = data[0][0].clone()
    result = lower(given, data[0], calibration=data)
    assert torch.equal(data[0][0], before)
    (out,) = result.dequantize_outputs(result.reference(data[1]))
    with torch.no_grad():
        expected = whole(data[1][0].clone())
    assert float((out - expected).abs().max()) < 0.05 * float(expected.abs().max())


class Expanded(nn.Module):
    """Has a constant of one element whose strides are 0."""

    factor: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("factor", torch.tensor(3.0).expand(1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.pad(x * self.factor, [1, 2], value=-9.0)
        return torch.cat([x, self.factor, y], 1)


@pytest.mark.parametrize("quantization", ["int8", "int16", "float32"])
def test_constants_of_one_element_that_were_expanded(quantization: str) -> None:
    data = [(torch.tensor([[0.1 * i]]),) for i in range(16)]
    result = lower(
        Expanded().eval(), data[0], calibration=data, quantize=Quantize(quantization=quantization)
    )
    (values,) = result.dequantize_outputs(result.reference(data[5]))
    expected = torch.tensor([[0.5, 3.0, -9.0, 1.5, -9.0, -9.0]])
    # Two roundings in steps of 0.053.
    torch.testing.assert_close(values, expected, rtol=0.0, atol=0.11)


def test_one_tensor_for_two_inputs_is_two_inputs() -> None:
    one = torch.ones(1, 4)
    result = lower(model(lambda x, y: x - 2 * y), [one, one], calibration=samples((1, 4), (1, 4)))
    x, y = samples((1, 4), (1, 4), count=1)[0]
    (out,) = result.dequantize_outputs(result.reference([x, y]))
    assert float((out - (x - 2 * y)).abs().max()) < 0.1


class Example(nn.Module):
    """The one of README.md."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.conv(x))
        return torch.cat([y, y * torch.sigmoid(y)], 1)


def test_the_example_of_the_page() -> None:
    ops = lowered(Example().eval()).report["ops"]
    page = (Path(__file__).parents[1] / "README.md").read_text()
    table = page.split("## An example\n")[1].split("## Terms")[0]
    rows = [line.split(" | ") for line in table.splitlines() if "`pl." in line]
    assert [op["op"] for op in ops] == [row[1].strip("` ") for row in rows]
    for op, row in zip(ops, rows, strict=True):
        named = re.findall(r"`(aten\.\w+)`", row[0])
        assert op["op"] == "pl.transpose" or op["from"] == named


def test_the_report_lists_layers_that_lost_dead_channels() -> None:
    layers = [nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 4, 1), nn.Flatten(), nn.Linear(64, 2)]
    net = nn.Sequential(*layers).eval()
    with torch.no_grad():
        layers[0].get_parameter("weight")[[1, 5]] = 0.0
        layers[2].get_parameter("weight")[:, 6] = 0.0
    data = samples((1, 3, 6, 6))
    result = lower(net, data[0], calibration=data)
    first, second = result.report["dead_channels"]
    assert (first["module"], second["module"]) == ("0 (Conv2d)", "2 (Conv2d)")
    assert first["before"] == {
        "inputs": 3,
        "outputs": 8,
        "macs": 16 * 8 * 27,
        "constant_bytes": 8 * 27 + 8 * 12,
    }
    assert (first["after"]["outputs"], second["after"]["inputs"]) == (5, 5)
    kept = {op["id"]: op for op in result.report["ops"]}
    assert kept[first["id"]]["macs"] == first["after"]["macs"]
    assert sum(op["macs"] for op in kept.values()) == result.report["macs"]
