# SPDX-License-Identifier: Apache-2.0
"""Engines of several kinds of nets, and equality of the results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from unittest.mock import patch

import pytest
import torch
from absl import logging
from torch.fx import GraphModule, Node

from aot.artefact.report import make_report
from aot.backends.backend import Backend
from aot.backends.cortex_m import CORTEX_M
from aot.backends.target import Target
from aot.dialect.delegate import Delegate, DelegatePayload, delegate_of
from aot.dialect.graph import border_nodes, dialect_op, edge_of
from aot.dialect.verifier import verify
from aot.partition.partition import partition
from aot.partition.testing import NETS, Calls, calls, dense, everything, residual
from aot.quality.evaluation import HeldOut
from aot.quality.quality import Limits, Quality
from aot.testing.fixtures import int8_inputs
from aot.testing.stand_in import stand_in, stand_in_target
from aot.upstream.torch import tree_leaves

LAYERS = {"conv2d", "depthwise_conv2d", "linear"}
MOVES = {"cat", "transpose", "reshape", "slice", "pad"}
# name: ops of each engine
TAKEN: dict[str, Sequence[Collection[str] | Callable[[Node], bool]]] = {
    "nothing": [set()],
    "layers": [LAYERS],
    "all but functions": [lambda n: "lut" not in str(n.target)],
    "everything": [lambda n: True],
    "two engines": [LAYERS, MOVES | {"add", "mean"}],
    "the second takes what is left": [{"add", "lut"}, lambda n: True],
    "three": [{"conv2d"}, {"mean", "cat", "linear"}, {"lut", "max_pool2d"}],
}


@pytest.mark.parametrize("taken", TAKEN)
@pytest.mark.parametrize("net", NETS)
def test_what_is_taken_runs_in_delegates_and_computes_the_same(net: str, taken: str) -> None:
    module, target = NETS[net](), stand_in_target(*TAKEN[taken])
    inputs = int8_inputs(module)
    before = tree_leaves(module(*inputs))
    border = [(n.name, edge_of(n)) for n in border_nodes(module)[1]]
    first = {  # the engine taking an op by itself
        n.name: next(b.name for b in target.backends if not b.reject(n))
        for n, _ in everything(module)
    }
    partition(module, target)
    verify(module, "partition")
    after = tree_leaves(module(*inputs))
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    assert [(n.name, edge_of(n)) for n in border_nodes(module)[1]] == border
    names = [b.name for b in target.backends]
    ops = everything(module)
    assert {n.name: n.meta["runs_on"] for n, _ in ops} == first
    for node, delegated in ops:
        assert delegated == (first[node.name] != "cortex_m")
        before_it = names[: names.index(first[node.name])]
        op = dialect_op(node)
        assert op is not None
        assert node.meta["not_on"] == {
            name: f"{name} does not take {op.name} `{node.name}`" for name in before_it
        }


EXPECTED = {
    ("residual", "layers"): Calls(
        [(["conv2d", "conv2d", "conv2d"], 1, 2), (["linear"], 1, 1)],
        ["transpose", "add", "mean", "lut"],
    ),
    ("residual", "all but functions"): Calls(
        [(["transpose", "conv2d", "conv2d", "conv2d", "add", "mean", "linear"], 1, 1)], ["lut"]
    ),
    ("two ends", "everything"): Calls(
        [
            (
                [
                    *("transpose", "conv2d", "transpose", "conv2d", "cat"),
                    *("lut", "transpose", "max_pool2d", "transpose"),
                ],
                2,
                2,
            )
        ],
        [],
    ),
}


@pytest.mark.parametrize(("net", "taken"), EXPECTED)
def test_calls(net: str, taken: str) -> None:
    module = NETS[net]()
    partition(module, stand_in_target(*TAKEN[taken]))
    assert calls(module) == EXPECTED[net, taken]


def test_the_report_has_a_row_for_every_op() -> None:
    def compile_region(region: GraphModule) -> DelegatePayload:
        return DelegatePayload(b"12345", "npu-1", 64, 32, {"k": b"v"}, {"cycles": 7})

    module = residual()
    first = stand_in({"conv2d"}, "npu", compile=compile_region)
    partition(module, Target("t", (first, stand_in({"add", "mean"}), CORTEX_M)))
    report = make_report(
        module, Target("t"), 1, b"pte", Quality(HeldOut([]), [], [], [], Limits()), [0], [""]
    )
    by_op = {row["op"]: row for row in report["ops"]}
    assert len(report["ops"]) == 8, "no row for a delegate's call or its results"
    conv, linear = by_op["pl.conv2d"], by_op["pl.linear"]
    assert (conv["runs_on"], conv["delegate"], conv["not_on"]) == ("npu", 0, {})
    assert (by_op["pl.mean"]["runs_on"], by_op["pl.mean"]["delegate"]) == ("stand_in", 1)
    assert list(by_op["pl.mean"]["not_on"]) == ["npu"]
    assert (linear["runs_on"], linear["delegate"]) == ("cortex_m", None)
    assert list(linear["not_on"]) == ["npu", "stand_in"]
    assert linear["could_run_on"] == []
    assert report["macs"] == sum(row["macs"] for row in report["ops"]) > 0
    npu = report["delegates"][0]
    named = [n.meta["origin"].module for n in module.graph.nodes if n.op == "call_module"]
    for place, name in enumerate(named):
        inside = [row["module"] for row in report["ops"] if row["delegate"] == place]
        assert inside[0] in name and inside[-1] in name
    assert any(named)
    rows = [row["id"] for row in report["ops"] if row["delegate"] == 0]
    assert (npu["backend"], npu["configuration"], npu["ops"]) == ("npu", "npu-1", rows)
    assert (npu["payload_bytes"], npu["scratch_bytes"], npu["alignment"]) == (5, 64, 32)
    assert npu["report"] == {"cycles": 7}
    assert len(npu["inputs"]) == 1 and len(npu["outputs"]) == 2


def test_an_engine_with_nothing_to_do_is_told_with_its_reasons() -> None:
    refuses = Backend(
        "npu",
        "Npu",
        compile=lambda region: DelegatePayload(b"x"),
        reject=lambda node: "it adds" if node.name.startswith("add") else "its bus is slow",
    )
    for engine, told in ((refuses, True), (stand_in({"conv2d"}, "npu"), False)):
        with patch.object(logging, "warning") as warning:
            partition(residual(), Target("t", (engine, CORTEX_M)))
        said = [call.args[0] % call.args[1:] for call in warning.call_args_list]
        assert said == ["npu runs nothing of the model: its bus is slow; it adds"] * told


def test_an_engine_without_hooks_takes_everything() -> None:
    module = dense()
    engine = Backend("all", "All", compile=lambda region: DelegatePayload(b"x"))
    partition(module, Target("t", (engine, CORTEX_M)))
    assert calls(module).cpu == []
    (delegate,) = (d for n in module.graph.nodes if (d := delegate_of(module, n)))
    assert isinstance(delegate, Delegate) and delegate.backend_id == "All"


def test_an_absent_engine_leaves_everything_to_the_next() -> None:
    module = residual()
    first = stand_in({"conv2d"}, "first", absent=lambda: "not installed", optional=True)
    target = Target("t", (first, stand_in({"conv2d"}, "second"), CORTEX_M))
    partition(module, target)
    rows = [(n.meta["runs_on"], n.meta["not_on"]["first"]) for n, _ in everything(module)]
    assert set(rows) == {("second", "not installed"), ("cortex_m", "not installed")}
    quality = Quality(HeldOut([]), [], [], [], Limits())
    warnings = make_report(module, target, 1, b"pte", quality, [0], [""])["warnings"]
    assert [(w["kind"], w["text"]) for w in warnings] == [
        ("absent_engine", "nothing runs on first: not installed")
    ]
