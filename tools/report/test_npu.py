# SPDX-License-Identifier: Apache-2.0
"""Report of an image with an NPU, or of a board with one."""

from __future__ import annotations

import copy

from tools.report.markdown import markdown
from tools.report.testing import BOARD, LOWERING, PLAN, joined, profile


def test_a_delegate_is_a_step_of_the_ops_in_it() -> None:
    lowering, plan = copy.deepcopy(LOWERING), copy.deepcopy(PLAN)
    for op in lowering["ops"]:
        op |= {"id": f"0.{op['id']}", "delegate": 0}
    step = plan["steps"][0] | {"id": "0", "delegate": {"backend": "EthosUBackend"}}
    plan |= {"steps": [step], "without_step": []}
    report = joined(reports={"digits": lowering}, plans=[plan], profile=profile(plan))
    (only,) = report["models"][0]["steps"]
    assert only["delegate"] and only["ops"] == [op["id"] for op in lowering["ops"]]
    assert not report["advice"]["faster"]


def test_layers_of_an_npu_are_joined_by_the_op() -> None:
    lowering = copy.deepcopy(LOWERING)
    layer = {"kind": "Conv2D", "macs": 800, "utilization": 0.25}
    few = layer | {"op": "0.0", "cycles": 1000, "traffic": {"sram": 64}}
    most = layer | {"op": "0.1", "cycles": 3000, "traffic": {"sram": 128, "off_chip_flash": 5000}}
    told = {"cycles": 4321, "layers": [few, most], "cuts": ["in front of `linear`: it is wrong"]}
    numbers = {"payload_bytes": 77, "scratch_bytes": 4096, "macs": 1600}
    one = {"id": "0", "backend": "ethos_u", "configuration": "ethos-u55-128", "report": told}
    lowering["delegates"] = [numbers | one]
    for op in lowering["ops"]:
        op |= {"id": f"0.{op['id']}", "delegate": 0}
    modules = {op["id"]: op["module"] for op in lowering["ops"]}
    npu = {"configuration": "ethos-u55-128", "simulated": True}
    text = markdown(joined(reports={"digits": lowering}, board=BOARD | {"npu": npu}))
    assert "0: ethos_u ethos-u55-128, 4,321 cycles by the NPU's model" in text
    assert "4,000 cycles by its compiler" in text
    assert "Cut in front of `linear`: it is wrong." in text
    first = text.index(
        f"| 0.1 | Conv2D | {modules['0.1']} | 3,000 | 75.0% | 800 | 25.0% | 128 | 5,000 |"
    )
    assert first < text.index(
        f"| 0.0 | Conv2D | {modules['0.0']} | 1,000 | 25.0% | 800 | 25.0% | 64 | 0 |"
    )
    assert "say nothing of an NPU" in text
    assert "NPU" not in markdown(joined())


def test_what_would_not_pay_on_the_npu_is_no_advice() -> None:
    lowering = copy.deepcopy(LOWERING)
    npu = {"configuration": "ethos-u55-128", "simulated": True}
    lowering["ops"][1] |= {"not_on": {"npu": "its stride is 7"}}
    lowering["ops"][2] |= {"not_on": {"npu": "the core is faster"}, "could_run_on": ["npu"]}
    faster = joined(reports={"digits": lowering}, board=BOARD | {"npu": npu})["advice"]["faster"]
    assert any("its stride is 7" in row["text"] for row in faster)
    assert not any("the core is faster" in row["text"] for row in faster)


def test_the_markdown_says_why_ops_are_not_on_the_npu() -> None:
    lowering = copy.deepcopy(LOWERING)
    for op in lowering["ops"]:
        op |= {"not_on": {"npu": "the core | NPU: 7 cycles | 9"}, "could_run_on": ["npu"]}
    lowering["ops"][1] |= {"not_on": {"npu": "its stride is 7"}, "could_run_on": []}
    text = markdown(joined(reports={"digits": lowering}))
    section = text[text.index("## NPU\n") : text.index("## Quality")]
    count = len(lowering["ops"])
    assert f"The core runs {count} of {count} ops." in section
    ids = ", ".join(op["id"] for op in lowering["ops"] if op is not lowering["ops"][1])
    assert f"| {ids} | " in section and "| npu | the core \\| NPU: 7 cycles \\| 9 |" in section
    assert f"| {lowering['ops'][1]['id']} | " in section and "| npu | its stride is 7 |" in section


def test_an_npu_with_nothing_to_do_is_named() -> None:
    board = BOARD | {"npu": {"configuration": "ethos-u55-128", "simulated": True}}
    first = joined(board=board)["advice"]["faster"][0]
    assert 'engines = {"ethos-u55-128": …} in pte_model' in first["text"]
    assert not any("engines" in row["text"] for row in joined()["advice"]["faster"])
    lowering = copy.deepcopy(LOWERING)
    lowering["ops"][0]["not_on"] = {"ethos_u": "no such op"}
    advice = joined(board=board, reports={"digits": lowering})["advice"]["faster"]
    assert not any("engines" in row["text"] for row in advice)
