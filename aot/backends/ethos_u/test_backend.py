# SPDX-License-Identifier: Apache-2.0
"""Whole nets for an Ethos-U: each op's engine with its reason, the payload, and the refusal of a
wrong payload.
"""

from __future__ import annotations

import configparser
import copy
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import ethosu
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.fx import GraphModule

from aot.backends.ethos_u import choose, culprit
from aot.backends.ethos_u.backend import ethos_u_target
from aot.backends.ethos_u.emit import Emitted
from aot.backends.ethos_u.emitters import EMITTERS, conv2d, lut
from aot.backends.ethos_u.forms import FormError
from aot.backends.npus import NPUS
from aot.dialect.delegate import Delegate, delegate_of
from aot.dialect.graph import dialect_op
from aot.errors import LoweringError
from aot.lower import lower
from aot.options import Quantize
from aot.partition.partition import partition
from aot.partition.testing import IMAGE, calls, everything, residual, rewritten, two_ends, unplaced
from aot.targets import NAMES, target_named
from aot.testing.fixtures import int8_inputs, lower_with
from npu.ethos_u.npu_model import EthosUModel
from npu.ethos_u.payload import parse_payload


@cache
def _net(make: Callable[[], GraphModule]) -> GraphModule:
    return make()


def net(make: Callable[[], GraphModule]) -> GraphModule:
    """Return a new copy of a net, quantized once for all tests."""
    return copy.deepcopy(_net(make))


def delegates(module: GraphModule) -> list[Delegate]:
    found = [delegate_of(module, node) for node in module.graph.nodes]
    return [d for d in found if d is not None]


def partitioned(module: GraphModule, configuration: str = "ethos-u55-128") -> GraphModule:
    partition(module, target_named(configuration))
    return module


def test_every_configuration_is_a_target() -> None:
    assert [name for name in NAMES if name.startswith("ethos-u")] == [*NPUS]
    assert all(target_named(name).name == name for name in NPUS)


def test_the_payload_is_what_executorch_takes() -> None:
    (delegate,) = delegates(partitioned(net(two_ends)))
    payload, parsed = delegate.payload, parse_payload(delegate.payload.data)
    assert delegate.backend_id == "EthosUBackend"
    assert (payload.configuration, payload.alignment) == ("ethos-u55-128", 16)
    assert payload.scratch_bytes == parsed.scratch_size > 0
    assert (len(parsed.inputs), len(parsed.outputs)) == (2, 2)
    assert payload.report["verified"] == {
        "inputs": ["random", "extremes", "minimum", "maximum", "small"],
        "tosa_runs": 5,
        "executed": True,
    }


def test_layers_are_told_by_op() -> None:
    module = partitioned(net(encoder_layer))
    (delegate,) = delegates(module)
    layers: Any = delegate.payload.report["layers"]
    names = {n.name for n in delegate.region.graph.nodes if dialect_op(n)}
    assert {layer["op"] for layer in layers} <= names
    products = [layer for layer in layers if layer["kind"] == "Conv2D"]
    assert {"linear", "softmax"} <= {layer["op"].partition("_")[0] for layer in products}
    assert all(layer["macs"] and layer["traffic"]["sram"] for layer in products)
    assert 0 < max(layer["utilization"] for layer in layers) <= 1


def test_two_compilations_give_the_same_bytes() -> None:
    first, second = (delegates(partitioned(net(two_ends)))[0].payload.data for _ in range(2))
    assert first == second


def test_u85_is_executed_but_not_estimated() -> None:
    (delegate,) = delegates(partitioned(net(two_ends), "ethos-u85-256"))
    report = dict(delegate.payload.report)
    assert report["verified"]["executed"] is True  # type: ignore[index]
    assert "cycles" not in report


def left_over() -> GraphModule:
    """Return ops for the CPU before, between and after those of the NPU."""

    def forward(a: Any, b: Any, c: Any, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x = F.max_pool2d(a(x), 2, dilation=2)
        return torch.sort(b(x), 1).values.flatten(1), c(x)

    convs = (
        nn.Conv2d(3, 4, 3),
        nn.Conv2d(4, 6, 1),
        nn.Conv2d(4, 6, 2, stride=(1, 4), dilation=(1, 2)),
    )
    return rewritten(forward, *convs, shapes=[(1, 3, 8, 24)])


def test_reasons_are_told() -> None:
    module = partitioned(left_over())
    told = {reason for node, _ in everything(module) for reason in node.meta["not_on"].values()}
    assert {
        "its dilation is 2: TOSA's pools have none",
        "the NPU does not sort",
        "its stride is 4, of at most 3",
    } <= told


def encoder_layer() -> GraphModule:
    layer = nn.TransformerEncoderLayer(32, 4, 64, activation="gelu", batch_first=True)
    return rewritten(lambda layer, x: layer(x), layer, shapes=[(1, 17, 32)])


def test_an_encoder_layer_is_one_delegate_with_the_npus_arithmetic() -> None:
    module = net(encoder_layer)
    inputs = int8_inputs(module)
    cpu = module(*inputs)
    (delegate,) = delegates(partitioned(module))
    assert calls(module).cpu == []
    names = {op.name for n in delegate.region.graph.nodes if (op := dialect_op(n))}
    assert {"ethos_u_softmax", "ethos_u_normalize", "bmm"} <= names
    assert not {"softmax", "normalize"} & names
    adopted = module(*inputs)
    outputs = EthosUModel("ethos-u55-128").run(delegate.payload.data, [x.numpy() for x in inputs])
    assert [y.ravel().tolist() for y in outputs] == [y.flatten().tolist() for y in adopted]
    assert all((y.int() - x.int()).abs().max() <= 8 for x, y in zip(cpu, adopted, strict=True))


def test_what_only_moves_bytes_stays() -> None:
    moved = partitioned(rewritten(lambda x: x.permute(0, 2, 3, 1), shapes=[IMAGE]))
    assert delegates(moved) == []
    (reason,) = {r for n, _ in everything(moved) for r in n.meta["not_on"].values()}
    assert reason == "a region that only moves bytes is not worth the way"


def test_what_takes_the_core_less_than_a_call_stays() -> None:
    few = partitioned(rewritten(lambda x, y: x + y, shapes=[(1, 40), (1, 40)]))
    assert delegates(few) == []
    (reason,) = {r for n, _ in everything(few) for r in n.meta["not_on"].values()}
    assert reason == "the core takes some 360 cycles for it, and 1015 for a call of the NPU"
    many = partitioned(rewritten(lambda x, y: x + y, shapes=[(1, 4000), (1, 4000)]))
    assert len(delegates(many)) == 1


class _Wide(nn.Module):
    """A convolution block, for int16 of some or all of its layers."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.second = nn.Conv2d(16, 16, 3, padding=1, groups=16)
        self.last = nn.Conv2d(16, 8, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.first(x))
        return torch.as_tensor(self.last(y + F.silu(self.second(y))))


# name: (types of layers, those of the delegate's input and output)
WIDE: dict[str, tuple[dict[str, str], tuple[str, str]]] = {
    "all": ({"default": "int16"}, ("int16", "int16")),
    "some": ({"first": "int16", "second": "int16"}, ("int16", "int8")),
}


@pytest.mark.parametrize("name", WIDE)
def test_int16_goes_across_the_border(name: str) -> None:
    quantization, border = WIDE[name]
    torch.manual_seed(0)
    data = [(torch.rand(1, 3, 16, 16),) for _ in range(4)]
    lowered = lower(
        _Wide().eval(),
        data[0],
        calibration=data,
        target="ethos-u55-128",
        quantize=Quantize(quantization=quantization),
    )
    assert {op["runs_on"] for op in lowered.report["ops"]} == {"ethos_u"}
    (delegate,) = lowered.report["delegates"]
    ((given,), (result,)) = delegate["inputs"], delegate["outputs"]
    assert (given["dtype"], result["dtype"]) == border


def causal_attention() -> GraphModule:
    def forward(attention: Any, x: torch.Tensor) -> torch.Tensor:
        mask = torch.ones(24, 24, dtype=torch.bool).triu(1)
        y, _ = attention(x, x, x, attn_mask=mask, need_weights=False)
        return torch.as_tensor(torch.where(y > x, y, x))

    layer = nn.MultiheadAttention(32, 4, batch_first=True)
    return rewritten(forward, layer, shapes=[(1, 24, 32)])


def test_masks_are_made_and_read_on_the_npu() -> None:
    module = net(causal_attention)
    partition(module, unplaced("ethos-u55-128"))
    (delegate,) = delegates(module)
    assert calls(module).cpu == []
    names = {op.name for n in delegate.region.graph.nodes if (op := dialect_op(n))}
    assert {"ethos_u_masked_softmax", "less", "where"} <= names


def feed_forward() -> GraphModule:
    def forward(a: Any, b: Any, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(b(F.gelu(a(x))))

    layers = nn.Conv2d(8, 16, 1), nn.Conv2d(16, 8, 1)
    return rewritten(forward, *layers, shapes=[(3, 8, 12, 12)])


@pytest.mark.parametrize("configuration", ["ethos-u55-128", "ethos-u55-256", "ethos-u85-256"])
def test_a_net_is_one_delegate_with_the_same_bits(configuration: str) -> None:
    module = net(feed_forward)
    inputs = int8_inputs(module)
    before = module(*inputs)
    (delegate,) = delegates(partitioned(module, configuration))
    assert calls(module).cpu == []
    assert all(map(torch.equal, module(*inputs), before))
    outputs = EthosUModel(configuration).run(delegate.payload.data, [x.numpy() for x in inputs])
    assert [y.ravel().tolist() for y in outputs] == [y.flatten().tolist() for y in before]


@pytest.fixture
def vela_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore a Vela bug: a table after a 1x1 convolution over a batch.

    The emitter avoids it by a layout in one row.
    """
    assert len(delegates(partitioned(net(feed_forward)))) == 1
    monkeypatch.setattr(conv2d, "in_one_row", lambda graph, x: x)
    for module in (choose, culprit):  # they check for this form
        monkeypatch.setattr(module, "check_forms", lambda *_: None)


def test_forms_that_vela_makes_wrong_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conv2d, "in_one_row", lambda graph, x: x)
    module = partitioned(net(feed_forward), "ethos-u85-256")
    told = [reason for n, _ in everything(module) for reason in n.meta["not_on"].values()]
    assert sum("a convolution of 1x1 over a batch of 3" in reason for reason in told) == 2


WRONG = (
    "Vela's program and the region give different results for inputs random; the first wrong op is"
)


@pytest.mark.usefixtures("vela_is_wrong")
def test_what_vela_makes_wrong_is_cut() -> None:
    module = net(feed_forward)
    inputs = int8_inputs(module)
    before = module(*inputs)
    first, second = delegates(partitioned(module))
    assert calls(module).cpu == []
    assert all(map(torch.equal, module(*inputs), before))
    told = [str(dict(d.payload.report)["cuts"]) for d in (first, second)]
    assert all(WRONG in text for text in told)
    assert "Cost: one more delegate, 6912 bytes passed between them" in told[0]


@pytest.mark.usefixtures("vela_is_wrong")
def test_what_vela_makes_wrong_is_an_error_on_request() -> None:
    with pytest.raises(LoweringError) as error:
        partition(net(feed_forward), target_named("ethos-u55-128", "fail"))
    assert WRONG in str(error.value)
    assert re.search(r"first wrong op is pl\.\w+ -> pl\.conv2d -> pl\.lut `\w+`", str(error.value))


@pytest.mark.usefixtures("vela_is_wrong")
def test_nobody_looks_on_request() -> None:
    module = net(feed_forward)
    partition(module, target_named("ethos-u55-128", "off"))
    (delegate,) = delegates(module)
    assert delegate.payload.report["verified"] == {"inputs": [], "tosa_runs": 0, "executed": False}


def test_what_vela_refuses_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (choose, culprit):
        monkeypatch.setattr(module, "emitted", lambda *_: Emitted(b"no flatbuffer", {}))
        monkeypatch.setattr(module, "check_forms", lambda *_: None)
    net_without = partitioned(net(residual))
    assert delegates(net_without) == []
    reasons = [r for n, _ in everything(net_without) for r in n.meta["not_on"].values()]
    assert sum("Vela: " in r for r in reasons) > 1


def test_an_emitter_that_is_wrong_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    emit = lut.EMITTER.emit
    wrong = replace(lut.EMITTER, emit=lambda graph, input, table: emit(graph, input, table.flip(0)))
    monkeypatch.setitem(EMITTERS, "lut", wrong)
    with pytest.raises(LoweringError, match="EmitterError"):
        partitioned(net(feed_forward))


def test_the_report_says_what_of_the_cache_is_touched() -> None:
    for configuration, touches in (("ethos-u65-256", True), ("ethos-u55-128", False)):
        (delegate,) = delegates(partitioned(net(residual), configuration))
        touched: Any = delegate.payload.report["fast_scratch_bytes"]
        assert (0 < touched <= delegate.payload.cache_bytes) if touches else touched == 0


def test_the_cache_is_as_large_as_vela_plans_with() -> None:
    modes = configparser.ConfigParser()
    modes.read(Path(ethosu.__path__[0], "config_files/Arm/vela.ini"))
    for npu in NPUS.values():
        planned = modes[f"Memory_Mode.{npu.memory_mode}"].getint("arena_cache_size", 0)
        assert npu.cache_bytes == planned, npu.name
    assert NPUS["ethos-u65-256"].cache_bytes == 384 << 10


def test_memories_are_a_choice(tmp_path: Path) -> None:
    module = net(residual)
    shared = ethos_u_target("ethos-u65-256", "off", memory_mode="Shared_Sram")
    partition(module, shared)
    (delegate,) = delegates(module)
    assert delegate.payload.cache_bytes == 0
    assert delegate.payload.configuration == "ethos-u65-256"
    ini = tmp_path / "vela.ini"
    arm = Path(ethosu.__path__[0], "config_files/Arm/vela.ini").read_text()
    mine = "[Memory_Mode.Mine]\ninherit=Memory_Mode.Dedicated_Sram\narena_cache_size=65536\n"
    ini.write_text(arm + mine)
    module = net(residual)
    partition(module, ethos_u_target("ethos-u85-256", memory_mode="Mine", vela_ini=str(ini)))
    (delegate,) = delegates(module)
    assert delegate.payload.cache_bytes == 65536
    touched: Any = delegate.payload.report["fast_scratch_bytes"]
    assert 0 < touched <= 65536


@pytest.mark.parametrize(
    ("configuration", "memories", "message"),
    [
        ("ethos-u55-128", {"memory_mode": "Dedicated_Sram_384KB"}, "an Ethos-U55 has none"),
        ("ethos-u65-256", {"memory_mode": "Dedicated_Sram"}, "has a cache of any size"),
        ("ethos-u65-256", {"memory_mode": "Sram"}, r"no \[Memory_Mode.Sram\]; .* Sram_Only,"),
        ("ethos-u85-256", {"system_config": "Fast"}, r"no \[System_Config.Fast\]; there are:"),
        ("ethos-u85-256", {"vela_ini": "nowhere.ini"}, "nowhere.ini, which is no file to read"),
    ],
)
def test_memories_that_are_refused(
    configuration: str, memories: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ethos_u_target(configuration, **memories)


def _layers(
    configuration: str, channels_last: bool, verify_npu: str = "cut"
) -> list[dict[str, Any]]:
    """Return the layers of two convolutions over an image, with overlapping windows."""
    torch.manual_seed(0)
    layout = torch.channels_last if channels_last else torch.contiguous_format
    model = nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.ReLU()).eval()
    samples = [(torch.randn(1, 3, 48, 48).to(memory_format=layout),) for _ in range(4)]
    options: Any = {"target": configuration, "verify_npu": verify_npu}
    report: Any = lower_with(model, samples[0], calibration=samples, **options).report
    (delegate,) = report["delegates"]
    assert delegate["report"]["verified"]["executed"] == (verify_npu != "off")
    return [layer for layer in delegate["report"]["layers"] if layer["cycles"]]  # none is fused


@pytest.mark.parametrize("configuration", ["ethos-u55-128", "ethos-u65-256", "ethos-u85-256"])
def test_images_with_their_channels_last_take_fewer_cycles(configuration: str) -> None:
    last, first = (_layers(configuration, is_last) for is_last in (True, False))
    assert sum(x["cycles"] for x in last) < sum(x["cycles"] for x in first)


def test_inputs_that_lie_far_are_copied_once() -> None:
    """This NPU's windows would read them several times from the memory behind the cache."""
    kinds = [x["kind"] for x in _layers("ethos-u65-256", channels_last=True)]
    assert kinds == ["Transpose", "Conv2D", "Conv2D"]
    assert "Transpose" not in [x["kind"] for x in _layers("ethos-u55-128", channels_last=True)]


def test_copies_are_in_forms_that_are_right_even_if_nobody_looks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none_is_right(tosa: bytes, npu: object) -> None:
        raise FormError("a form")

    layers = partial(_layers, "ethos-u65-256", channels_last=True, verify_npu="off")
    assert [x["kind"] for x in layers()] == ["Transpose", "Conv2D", "Conv2D"]
    monkeypatch.setattr(choose, "check_forms", none_is_right)
    assert [x["kind"] for x in layers()] == ["Conv2D", "Conv2D"]


class _Excited(nn.Module):
    """A mean of an image with other readers, one of many pixels, one of few."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, 2, padding=1)
        self.norm, self.linear = nn.LayerNorm(8), nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.first(x)
        y = y * y.mean((2, 3), keepdim=True).sigmoid()
        many, few = self.second(y).mean((2, 3)), F.max_pool2d(y, 6).mean((2, 3))
        return torch.as_tensor(self.linear(self.norm(many + few)))


@pytest.mark.parametrize(
    ("target", "pools"), [("ethos-u55-128", 2), ("ethos-u85-256", 3), ("cortex-m", 0)]
)
def test_means_are_pools_where_that_is_faster(target: str, pools: int) -> None:
    model = _Excited().eval()
    with torch.no_grad():
        model.norm.weight.uniform_(0.5, 1.5, generator=torch.Generator().manual_seed(3))
    samples = [(torch.randn(1, 3, 24, 24),) for _ in range(4)]
    report = lower(model, samples[0], target=target, calibration=samples).report
    ops = [op["op"] for op in report["ops"]]
    assert sum("avg_pool2d" in op for op in ops) == pools
    assert sum("mean" in op for op in ops) == 3 - pools
