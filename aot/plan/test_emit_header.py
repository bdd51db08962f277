# SPDX-License-Identifier: Apache-2.0
"""A plan's header has inputs and outputs as macros and types, of which none has another's name."""

import re
from dataclasses import replace
from typing import Any

import pytest

from aot.plan.emit_header import header
from aot.plan.plan import Plan, make_plan
from aot.plan.pte import read_program
from aot.plan.testing import Network, export_pte, sample_board
from aot.pte.conventions import Border, Layout, constant_methods


def planned(names: list[str], layout: Layout = "nchw") -> Plan:
    network = Network()
    program = read_program(
        export_pte(network, [network.example()], layouts=([layout], ["row_major"]))
    )
    ports = tuple(replace(program.inputs[0], name=name) for name in names)
    plan = make_plan(program, sample_board(), "speed")
    graph = replace(plan.graph, program=replace(program, inputs=ports))
    return replace(plan, graph=graph)


def macros(plan: Plan) -> dict[str, str]:
    found = re.findall(r"^#define (\w+(?:\(.*?\))?) (.+)$", header(plan, "my_plan"), re.M)
    assert len({name.split("(")[0] for name, _ in found}) == len(found)
    return dict(found)


def test_an_image() -> None:
    text = header(planned(["frame"]), "my_plan")
    assert "typedef int8_t my_plan_input_0[1][1][8][8];" in text
    assert "typedef int8_t my_plan_output_0[1][10];" in text
    found = macros(planned(["frame"]))
    assert {key: value for key, value in found.items() if "INPUT" in key and "IS_" not in key} == {
        "MY_PLAN_INPUTS": "1",
        "MY_PLAN_INPUT_FRAME": "0",
        "MY_PLAN_INPUT_0_TYPE": "int8_t",
        "MY_PLAN_INPUT_0_LAYOUT": "PL_LAYOUT_NCHW",
        "MY_PLAN_INPUT_0_RANK": "4",
        "MY_PLAN_INPUT_0_DIM_0": "1",
        "MY_PLAN_INPUT_0_DIM_1": "1",
        "MY_PLAN_INPUT_0_DIM_2": "8",
        "MY_PLAN_INPUT_0_DIM_3": "8",
        "MY_PLAN_INPUT_0_BATCH": "1",
        "MY_PLAN_INPUT_0_CHANNELS": "1",
        "MY_PLAN_INPUT_0_HEIGHT": "8",
        "MY_PLAN_INPUT_0_WIDTH": "8",
        "MY_PLAN_INPUT_0_BYTES": "64",
        "MY_PLAN_INPUT_0_SCALE": "5.00000000e-01f",
        "MY_PLAN_INPUT_0_ZERO_POINT": "(3)",
    }
    assert found["MY_PLAN_OUTPUT_0_RANK"] == "2"
    assert "MY_PLAN_OUTPUT_0_CHANNELS" not in found


@pytest.mark.parametrize(
    ("names", "indices"),
    [
        (["air", "vibration"], {"AIR": "0", "VIBRATION": "1"}),
        (["a.b", "a_b", "c"], {"C": "2"}),  # two names that are one in C: neither
        (["größe", "0", ""], {"GR__E": "0"}),
        (["s", "scale"], {"S": "0", "SCALE": "1"}),
    ],
)
def test_indices_by_name(names: list[str], indices: dict[str, str]) -> None:
    found = macros(planned(names))
    named = {k.removeprefix("MY_PLAN_INPUT_"): v for k, v in found.items() if v.isdigit()}
    assert {k: v for k, v in named.items() if not k[0].isdigit() and k != "MY_PLAN_INPUTS"} == {
        **indices,
        **{k: v for k, v in named.items() if k.startswith("MY_PLAN_OUTPUT")},
    }
    assert found["MY_PLAN_INPUTS"] == str(len(names))


def test_names_come_from_the_file() -> None:
    border = Border(0.5, 3, "nchw", "frame")
    network = Network()
    methods: Any = constant_methods([border], [Border(0.5, 3, "row_major")])
    assert methods["pl_input_names"] == ["frame"]
    program = read_program(export_pte(network, [network.example()], **methods))
    assert [port.name for port in (*program.inputs, *program.outputs)] == ["frame", ""]


def test_shapes_are_compared() -> None:
    plan = planned(["x"])
    (condition,) = (v for k, v in macros(plan).items() if k.startswith("MY_PLAN_INPUT_0_IS_SHAPE"))
    python = condition.replace("&&", "and")
    assert eval(python, {"d0": 1, "d1": 1, "d2": 8, "d3": 8})
    assert not eval(python, {"d0": 1, "d1": 8, "d2": 8, "d3": 1})
