# SPDX-License-Identifier: Apache-2.0
"""Reports follow their schemas, and agree on the same op."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from jsonschema import Draft202012Validator
from torch import nn

from aot.lower import Lowered, lower
from aot.plan.plan import Plan, make_plan
from aot.plan.pte import read_program
from aot.plan.report import plan_json, plan_text
from aot.plan.testing import Network, sample_board
from aot.pte.conventions import Border, PteError, constant_methods
from aot.pte.testing import export_pte
from aot.testing.fixtures import lower_with, model, samples
from aot.testing.stand_in import DELEGATE_ID, stand_in_target
from boards.board import Engine
from kernels.common.kernel import KernelError, OpCall

MODELS = ("deep_autoencoder", "digits", "ds_cnn", "mobilenet_v1", "resnet8")
BOARDS = ("corstone300", "microbit")


def read(path: str) -> Any:
    return json.loads(Path(path).read_text())


def check(instance: dict[str, Any], schema: str) -> None:
    Draft202012Validator.check_schema(read(schema))
    errors = [error.message for error in Draft202012Validator(read(schema)).iter_errors(instance)]
    assert not errors


def branches() -> nn.Module:
    """Two convolutions side by side, a slice, a reshape, a concatenation, and an op with two
    results.
    """

    def forward(a: nn.Module, b: nn.Module, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        both = torch.cat([torch.relu(a(x)), torch.sigmoid(b(x))], 1)
        return both[:, 1:].flatten(1), *both.max(1)

    return model(forward, nn.Conv2d(3, 4, 3), nn.Conv2d(3, 2, 3))


def lowered(**options: Any) -> Lowered:
    data = samples((1, 3, 8, 6), count=2)
    return lower_with(branches(), data[0], calibration=data, **options)


def planned(pte: bytes) -> Plan:
    return make_plan(read_program(pte), sample_board())


def places(ops: list[dict[str, Any]]) -> dict[str, str]:
    """Module by id."""
    assert len({op["id"] for op in ops}) == len(ops)
    return {op["id"]: op["module"] for op in ops}


@pytest.mark.parametrize("name", MODELS)
def test_lowering_reports(name: str) -> None:
    check(read(f"aot/models/{name}/{name}.report.json"), "aot/artefact/report.schema.json")


@pytest.mark.parametrize("options", [{}, {"float_io": True}, {"io_layout": "nhwc"}])
def test_report_and_plan_of_one_model(options: dict[str, Any]) -> None:
    result = lowered(**options)
    check(result.report, "aot/artefact/report.schema.json")
    plan = plan_json(planned(result.pte), "branches")
    check(plan, "aot/plan/plan.schema.json")
    assert places(result.report["ops"]) == places([*plan["steps"], *plan["without_step"]])
    assert {"parts.0 (Conv2d)", "parts.1 (Conv2d)"} <= {op["module"] for op in plan["steps"]}
    ops = {op["id"]: op["op"] for op in result.report["ops"]}
    assert all(ops[step["id"]].replace("pl.", "pl::") == step["op"] for step in plan["steps"])


class Smoothed(nn.Module):
    """A layer, and the running mean of its output."""

    mean: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.register_buffer("mean", torch.zeros(1, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.mean.copy_(self.mean * 0.5 + torch.tanh(self.layer(x)) * 0.5)
        return torch.relu(self.mean)


def test_report_and_plan_with_delegates_and_state() -> None:
    data = samples((1, 4), count=2)
    target = stand_in_target({"linear", "add"})
    result = lower(Smoothed().eval(), data[0], target=target, calibration=data)
    check(result.report, "aot/artefact/report.schema.json")
    board = sample_board(engines=[Engine(DELEGATE_ID)])
    plan = plan_json(make_plan(read_program(result.pte), board), "smoothed")
    check(plan, "aot/plan/plan.schema.json")
    delegates = {row["id"]: row for row in result.report["delegates"]}
    steps = {step["id"]: step for step in plan["steps"] if "delegate" in step}
    assert delegates.keys() == steps.keys() and len(steps) == 2
    for op_id, step in steps.items():
        assert step["op"] == f"delegate::{delegates[op_id]['backend_id']}"
        assert step["delegate"]["payload"] == delegates[op_id]["payload_bytes"]
        assert all(op.startswith(f"{op_id}.") for op in delegates[op_id]["ops"])
    on_the_cpu = {op["id"] for op in result.report["ops"] if op["delegate"] is None}
    state = {row["id"] for row in result.report["states"]}
    every = {op["id"] for op in [*plan["steps"], *plan["without_step"]]}
    assert every == on_the_cpu | delegates.keys() | state
    assert len(plan["states"]) == len(state) == 1


@pytest.mark.parametrize("board", BOARDS)
def test_reports_of_an_image(board: str) -> None:
    plan = read(f"boards/{board}_app.digits.json")
    check(plan, "aot/plan/plan.schema.json")
    report = read("aot/models/digits/digits.report.json")
    assert places(report["ops"]) == places([*plan["steps"], *plan["without_step"]])
    check(read(f"boards/{board}_app.size.json"), "tools/image/size.schema.json")


def test_messages_of_a_plan_say_where() -> None:
    plan = planned(lowered().pte)
    step = plan.sharing.steps[1].op
    assert step.module == "parts.0 (Conv2d)"
    assert f"{step.id} {step.module}\n" in plan_text(plan, "branches")
    error = OpCall("pl::conv2d", {}, (), "7", "parts.0 (Conv2d)").error("no")
    assert isinstance(error, KernelError)
    assert str(error).endswith("(op 7, parts.0 (Conv2d)): no")


def test_modules_are_those_of_the_instructions() -> None:
    network = Network()
    border = planned(export_pte(network, [network.example()], _methods())).graph.program
    assert {call.module for call in border.calls} == {""}
    modules = _methods([f"m{call.id}" for call in border.calls])
    named = read_program(export_pte(network, [network.example()], modules))
    assert [call.module for call in named.calls] == [f"m{call.id}" for call in named.calls]
    with pytest.raises(PteError, match="is damaged: 7 instructions, but 1 modules"):
        read_program(export_pte(network, [network.example()], _methods(["m0"])))


def _methods(modules: list[str] | None = None) -> dict[str, Any]:
    sides = [Border(0.5, 0, "nchw")], [Border(0.5, 0, "row_major")]
    return dict(constant_methods(*sides, modules or []))
