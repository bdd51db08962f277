# SPDX-License-Identifier: Apache-2.0
"""Nodes outside of delegates with their reasons, and messages on a failing backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import nn
from torch.fx import GraphModule, Node

from aot.backends.backend import CannotRun, NotWorth
from aot.backends.cortex_m import CORTEX_M
from aot.backends.target import Target
from aot.backends.traits import Traits
from aot.dialect.delegate import DelegatePayload, delegate_of
from aot.dialect.io_layout import NOT_MOVED
from aot.dialect.verifier import verify
from aot.errors import LoweringError
from aot.partition.partition import partition
from aot.partition.testing import IMAGE, Calls, calls, dense, everything, residual
from aot.passes.fold_qdq import fold_qdq
from aot.passes.rewrite.io_layouts import set_border
from aot.passes.rewrite.sink_transposes import sink_transposes
from aot.testing.fixtures import int8_inputs, model, quantized, samples
from aot.testing.stand_in import stand_in, stand_in_target

LAYERS = {"conv2d", "linear"}


def few(nodes: Sequence[Node]) -> str:
    return "" if len(nodes) > 1 else "one op is not worth the way"


def reasons(module: GraphModule) -> dict[str, dict[str, str]]:
    return {n.name: dict(n.meta["not_on"]) for n, _ in everything(module)}


@pytest.mark.parametrize("hook", ["not_worth", "reject_region"])
def test_a_region_that_is_left_goes_on_to_the_next_engine(hook: str) -> None:
    first = stand_in(LAYERS | {"mean"}, "first", **{hook: few})
    module = residual()
    partition(module, Target("two", (first, stand_in({"linear"}, "second"), CORTEX_M)))
    verify(module, "partition")
    ran = {n.name: n.meta["runs_on"] for n, _ in everything(module)}
    assert list(ran.values()).count("first") == 5, "three convolutions; mean and linear"
    module = dense()
    partition(module, Target("two", (first, stand_in({"linear"}, "second"), CORTEX_M)))
    told = reasons(module)
    linears = [n for n in told if n.startswith("linear")]
    assert [told[n] for n in linears] == [{"first": "one op is not worth the way"}] * 3
    assert {n.meta["runs_on"] for n, _ in everything(module) if n.name in linears} == {"second"}
    could = {n.name: n.meta["could_run_on"] for n, _ in everything(module)}
    assert {n for n, engines in could.items() if engines} == {*linears}


def test_every_node_is_asked_once_and_every_region_compiled_once() -> None:
    asked: list[str] = []
    compiled: list[int] = []

    def reject(node: Node) -> str:
        asked.append(node.name)
        return "" if "linear" in node.name else "no"

    def compile_region(region: GraphModule) -> DelegatePayload:
        compiled.append(len(region.graph.nodes))
        return DelegatePayload(b"x")

    module = dense()
    ops = [n.name for n, _ in everything(module)]
    engine = stand_in({}, reject=reject, compile=compile_region)
    partition(module, Target("t", (engine, CORTEX_M)))
    assert asked == ops
    assert len(compiled) == 3


def test_what_a_backend_does_to_its_graph_is_its_own() -> None:
    def compile_region(region: GraphModule) -> DelegatePayload:
        for buffer in region.buffers():
            buffer.zero_()
        for node in list(region.graph.nodes):
            node.meta.clear()
        output = region.graph.output_node()
        output.args = ((),)
        region.graph.eliminate_dead_code()
        return DelegatePayload(b"x")

    module = residual()
    inputs = int8_inputs(module)
    (before,) = module(*inputs)
    engine = stand_in(lambda n: True, compile=compile_region)
    partition(module, Target("t", (engine, CORTEX_M)))
    verify(module, "partition")
    assert torch.equal(module(*inputs)[0], before)


def with_float_io() -> GraphModule:
    parts = nn.Sequential(nn.Linear(6, 4), nn.Tanh()).eval()
    return fold_qdq(quantized(parts, samples((2, 6))), float_io=True)


def test_floats_stay_outside() -> None:
    module = with_float_io()
    partition(module, stand_in_target(lambda n: True))
    assert calls(module) == Calls([(["linear", "lut"], 1, 1)], ["quantize", "dequantize"])
    told = reasons(module)
    assert "is float32[2, 6]; it takes int8" in [*told.values()][0]["stand_in"]


def test_values_that_lie_in_another_order_stay_outside() -> None:
    graph = fold_qdq(quantized(nn.Conv2d(3, 4, 3).eval(), samples(IMAGE)))
    image = torch.zeros(IMAGE).contiguous(memory_format=torch.channels_last)
    out = torch.zeros(1, 4, 6, 4).contiguous(memory_format=torch.channels_last)
    set_border(graph, [image], [out], NOT_MOVED)
    sink_transposes(graph)
    partition(graph, stand_in_target(lambda n: True))
    verify(graph, "partition")
    assert calls(graph).cpu == ["channels_last_to_nhwc", "nhwc_to_channels_last"]
    assert [d[0] for d in calls(graph).delegates] == [["conv2d"]]


def test_of_several_results_those_that_are_read_count() -> None:
    """No delegate gives int32 indices. A maximum without them is another op, and is taken."""

    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        values, indices = x[..., :3].max(1)
        return x.max(1)[0].tanh(), values, indices

    module = fold_qdq(quantized(model(function), samples((2, 5, 6))))
    inputs = int8_inputs(module)
    before = module(*inputs)
    partition(module, stand_in_target({"amax", "max_with_indices", "lut"}))
    verify(module, "partition")
    assert all(torch.equal(a, b) for a, b in zip(before, module(*inputs), strict=True))
    assert calls(module) == Calls(
        [(["max_with_indices"], 1, 1), (["amax", "lut"], 1, 1)],
        ["slice", "max_with_indices"],
    )
    (reason,) = (
        n.meta["not_on"]["stand_in"]
        for n, delegated in everything(module)
        if not delegated and "max_with" in n.name
    )
    assert "is int32[2, 3]; it takes int8" in reason


def compiles_to(**values: Any) -> Callable[[GraphModule], DelegatePayload]:
    given = {"data": b"x", **values}
    return lambda region: DelegatePayload(**given)


def raises(text: str) -> Callable[[Any], Any]:
    def hook(_: Any) -> Any:
        raise RuntimeError(text)

    return hook


# defect of the backend: (its attributes, the message)
BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "compile raises": ({"compile": raises("no room in SRAM")}, "RuntimeError (test_refusals.py:"),
    "compile gives None": ({"compile": lambda r: None}, "it gives NoneType, not a Payload"),
    "data": ({"compile": compiles_to(data="text")}, "its data are 'text', not the bytes"),
    "no data": ({"compile": compiles_to(data=b"")}, "its data are b'', not the bytes"),
    "configuration": ({"compile": compiles_to(configuration=55)}, "its configuration is 55"),
    "scratch": (
        {"compile": compiles_to(scratch_bytes=-1)},
        "it asks for what no device can give: -1 bytes of",
    ),
    "half scratch": (
        {"compile": compiles_to(scratch_bytes=1.5)},
        "its scratch_bytes is 1.5, not a number of bytes",
    ),
    "alignment": (
        {"compile": compiles_to(alignment=12)},
        "no device can give: alignment 12 must be a power",
    ),
    "alignment 0": (
        {"compile": compiles_to(alignment=0)},
        "no device can give: alignment 0 must be a power",
    ),
    "specs": ({"compile": compiles_to(compile_specs={"a": 1})}, "its compile_specs are {'a': 1}"),
    "specs of ours": (
        {"compile": compiles_to(compile_specs={"pl_alignment": b"x"})},
        "its compile_specs have pl_alignment, which its other attributes say",
    ),
    "report": ({"compile": compiles_to(report={"a": b""})}, "its report cannot be written as JSON"),
    "no number in the report": (
        {"compile": compiles_to(report={"a": float("nan")})},
        "its report cannot be written as JSON",
    ),
    "reject raises": ({"reject": raises("what is this")}, "): what is this\n"),
    "reject gives None": ({"reject": lambda n: None}, "it gives None, not a reason or ''"),
    "reject_region gives True": (
        {"reject_region": lambda n: True},
        "it gives True, not a reason or ''",
    ),
    "adopt raises": ({"adopt": raises("never")}, "): never\n"),
    "not_worth raises": ({"not_worth": raises("oh")}, "): oh\n"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_backend_that_fails_is_named_with_ops_and_places(name: str) -> None:
    attributes, text = BROKEN[name]
    (hook,) = attributes
    engine = stand_in({"conv2d"}, "npu", **attributes)
    parts = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 2, 3)).eval()
    graph = fold_qdq(quantized(nn.Sequential(parts).eval(), samples(IMAGE)))
    sink_transposes(graph)
    with pytest.raises(LoweringError) as error:
        partition(graph, Target("t", (engine, CORTEX_M)))
    message = str(error.value)
    assert f"`{hook}` of backend 'npu' fails: " in message
    assert text in message
    assert "0.0 (Conv2d)" in message
    if hook != "reject":
        assert message.count("pl.conv2d.default") == 2 and "0.2 (Conv2d)" in message


def cannot(*names: str) -> Callable[[GraphModule], DelegatePayload]:
    """Compile regions, but refuse given ops after others."""

    def compile_region(region: GraphModule) -> DelegatePayload:
        ops = [n.name for n in region.graph.nodes if n.op == "call_function"]
        for name in names:
            if name in ops[1:] or ops == [name]:
                raise CannotRun(name, f"{name} is wrong there")
        return DelegatePayload(b"x")

    return compile_region


def test_a_region_that_does_not_run_as_a_whole_is_cut() -> None:
    module = residual()
    inputs = int8_inputs(module)
    before = module(*inputs)
    engine = stand_in({"conv2d", "add", "mean", "linear"}, compile=cannot("add_default_1"))
    partition(module, Target("t", (engine, CORTEX_M)))
    verify(module, "partition")
    assert all(map(torch.equal, module(*inputs), before))
    first, second = calls(module).delegates
    assert first[0] == ["conv2d"] * 3 and second[0] == ["add", "mean", "linear"]
    made = [d for n in module.graph.nodes if (d := delegate_of(module, n))]
    told = "before `add_default_1`: add_default_1 is wrong there. Cost: one more delegate"
    assert all(told in str(d.payload.report["cuts"]) for d in made)


def test_an_op_that_does_not_run_alone_is_left() -> None:
    module = residual()
    names = "add_default_1", "mean_default_1"
    engine = stand_in({"conv2d", "add", "mean"}, "npu", compile=cannot(*names))
    partition(module, Target("t", (engine, CORTEX_M)))
    verify(module, "partition")
    told = {n: r["npu"] for n, r in reasons(module).items() if n in names}
    assert told == {n: f"{n} is wrong there" for n in names}
    assert [ops for ops, *_ in calls(module).delegates] == [["conv2d"] * 3]


def test_a_region_whose_program_takes_too_long_is_left() -> None:
    def compile_region(region: GraphModule) -> DelegatePayload:
        ops = [n.name for n in region.graph.nodes if n.op == "call_function"]
        if "add_default_1" in ops:
            raise NotWorth("it takes ages")
        return DelegatePayload(b"x")

    module = residual()
    engine = stand_in({"add", "linear"}, "npu", compile=compile_region)
    partition(module, Target("t", (engine, CORTEX_M)))
    verify(module, "partition")
    assert reasons(module)["add_default_1"]["npu"] == "it takes ages"
    assert [ops for ops, *_ in calls(module).delegates] == [["linear"]]


def test_a_region_is_placed_op_by_op() -> None:
    """Its parts are compiled as they are, and not placed again."""
    placed: list[list[str]] = []

    def place(region: GraphModule) -> dict[str, str]:
        ops = [n.name for n in region.graph.nodes if n.op == "call_function"]
        placed.append(ops)
        return {"add_default_1": "the core is faster"} if "add_default_1" in ops else {}

    module = residual()
    inputs = int8_inputs(module)
    before = module(*inputs)
    engine = stand_in({"conv2d", "add", "mean", "linear"}, "npu", place=place)
    partition(module, Target("t", (engine, CORTEX_M)))
    verify(module, "partition")
    assert all(map(torch.equal, module(*inputs), before))
    told = reasons(module)["add_default_1"]
    assert told == {"npu": "the core is faster"}
    assert "add" in calls(module).cpu
    assert len(calls(module).delegates) == len(placed) + 1


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"none": "slow"}, "it names the op 'none', which the region does not have"),
        ({"add_default_1": ""}, "not reasons by name"),
        (["add_default_1"], "not reasons by name"),
    ],
)
def test_a_placement_that_is_none(given: object, text: str) -> None:
    engine = stand_in({"add"}, place=lambda region: given)
    with pytest.raises(LoweringError, match=text):
        partition(residual(), Target("t", (engine, CORTEX_M)))


def test_an_op_that_the_region_has_not_is_no_reason() -> None:
    def compile_region(region: GraphModule) -> DelegatePayload:
        raise CannotRun("none", "for no reason")

    with pytest.raises(LoweringError, match="it names the op 'none', which the region does not"):
        partition(residual(), Target("t", (stand_in({"add"}, compile=compile_region), CORTEX_M)))


def test_a_long_region_is_named_in_part() -> None:
    parts = nn.Sequential(*(nn.Linear(4, 4) for _ in range(30))).eval()
    graph = fold_qdq(quantized(parts, samples((1, 4))))
    engine = stand_in({"linear"}, compile=raises("no"))
    with pytest.raises(LoweringError, match="and 18 more") as error:
        partition(graph, Target("t", (engine, CORTEX_M)))
    assert "0 (Linear)" in str(error.value) and "29 (Linear)" not in str(error.value)


# name: traits required of linear, where it does not have them, the reason
TRAITS: dict[str, tuple[Traits, str]] = {
    "zero point": (Traits(zero_point_0=True), "has zero_point"),
    "shared": (Traits(shares_quantization=True), "differ in scale or zero_point"),
    "weights": (Traits(weights_per_tensor=True), "the channels of its weights differ in scale"),
}


@pytest.mark.parametrize("name", TRAITS)
def test_what_came_out_without_a_trait_stays_outside(name: str) -> None:
    traits, text = TRAITS[name]
    module = residual()
    engine = stand_in({"linear", "add"}, traits={"linear": traits})
    partition(module, Target("t", (engine, CORTEX_M)))
    told = {n.name: n.meta["not_on"] for n, _ in everything(module) if "linear" in n.name}
    (reason,) = (r["stand_in"] for r in told.values())
    assert text in reason
    assert calls(module).delegates == [(["add"], 2, 1)]
