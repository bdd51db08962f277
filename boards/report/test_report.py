# SPDX-License-Identifier: Apache-2.0
"""The report of an image says what its parts say, joined by ops."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from boards.image.trace import trace
from boards.report.join import join
from boards.report.markdown import markdown
from boards.report.page import LIMIT, PageError, page

Fields = dict[str, Any]


def read(path: str) -> Any:
    return json.loads(Path(path).read_text())


SIZE = read("boards/corstone300_app.size.json")
PLAN = read("boards/corstone300_app.digits.json")
LOWERING = read("aot/models/digits/digits.report.json")
BOARD: Fields = {
    "name": "corstone300",
    "description": "a board",
    "core": "cortex-m55",
    "npu": None,
}


def profile(plan: Fields = PLAN) -> Fields:
    """A run in which a step takes as many instructions as its number says."""
    keys = ("step", "id", "op", "module", "function")
    return {
        "name": "corstone300_app",
        "board": "corstone300",
        "core": "cortex-m55",
        "inferences": 2,
        "instructions": 5000,
        "steps": [
            {key: step[key] for key in keys} | {"instructions": 100 * step["step"]}
            for step in plan["steps"]
        ],
    }


def joined(**changes: Any) -> Fields:
    parts = {"size": SIZE, "board": BOARD, "reports": {"digits": LOWERING}, "plan": PLAN}
    stats = {"test images": 450, "correct on device": 441}
    return join(**{**parts, "profile": profile(), "stats": stats, **changes})


def check(report: Fields) -> None:
    schema = read("boards/report/image_report.schema.json")
    Draft202012Validator.check_schema(schema)
    assert not [error.message for error in Draft202012Validator(schema).iter_errors(report)]


def test_it_joins_what_the_parts_say() -> None:
    report = joined()
    check(report)
    (model,) = report["models"]
    ids = {op["id"] for op in model["ops"]}
    assert {i for step in model["steps"] for i in step["ops"]} <= ids
    assert [s["instructions"] for s in model["steps"]] == [
        100 * step["step"] for step in PLAN["steps"]
    ]
    # Weights are those of the plan, to the byte, and each is read by an op.
    weights = [s for s in report["symbols"] if s["kind"] == "weights"]
    assert sum(s["bytes"] for s in weights) == PLAN["weights"]["bytes"]
    assert all(set(s["ops"]) & ids for s in weights)
    # Every tensor in the arena but the input is some op's.
    assert [b["name"] for b in model["blocks"] if not b["op"]] == [PLAN["inputs"][0]["tensor"]]
    assert model["ops"][0]["after"] == [f"in {LOWERING['inputs'][0]['name']}"]
    for op in model["ops"][1:]:
        assert set(op["after"]) <= ids


def test_symbols_add_up_to_what_the_memories_hold() -> None:
    report = joined()
    for memory in SIZE["memories"]:
        if memory["kind"] == "flash":
            rows = [s["bytes"] for s in report["symbols"] if s["memory"] == memory["name"]]
            assert sum(rows) == sum(memory["by_origin"].values())


def test_tables_of_the_plan_are_not_data_of_the_program() -> None:
    of_plan = {s["name"]: s for s in joined()["symbols"] if s["kind"] == "plan"}
    assert {"digits", "steps"} <= of_plan.keys()
    step = PLAN["steps"][1]
    (of_step, *_) = [s for n, s in of_plan.items() if n.startswith(f"step_{step['step']}_")]
    assert of_step["ops"] == [step["id"]]
    own = [s for s in joined()["symbols"] if s["name"] in ("main", "labels", "input_0")]
    assert own and all(s["kind"] == "program" for s in own)
    assert not [s for s in joined(plan=None)["symbols"] if s["kind"] == "plan"]


def test_without_models_plan_or_run() -> None:
    report = join(SIZE, BOARD, {}, None, None, "nothing simulates the board")
    check(report)
    assert report["advice"]["faster"] == report["advice"]["better"] == []
    assert all(not row["ops"] for row in report["advice"]["smaller"])
    assert report["instructions"] is None
    assert "## Memory" in markdown(report)
    assert trace(None)["traceEvents"] == []
    without_run = joined(profile=None, problem="it does not end")
    check(without_run)
    assert "Not counted: it does not end." in markdown(without_run)


def test_a_plan_goes_to_the_model_that_it_is_of() -> None:
    other = copy.deepcopy(LOWERING)
    for op in other["ops"]:
        op["module"] = f"other.{op['module']}"
    report = joined(reports={"other": other, "digits": LOWERING})
    check(report)
    assert [bool(model["steps"]) for model in report["models"]] == [False, True]


@pytest.mark.parametrize("value", ["h", "h_1", "b_h"])
def test_an_op_reads_its_state(value: str) -> None:
    lowering = copy.deepcopy(LOWERING)
    lowering["states"] = [{"id": "9", "name": "h", "shape": [1], "dtype": "int8"}]
    lowering["ops"][1]["inputs"].append({"name": value, "shape": [1], "dtype": "int8"})
    (model,) = joined(reports={"digits": lowering})["models"]
    assert model["ops"][1]["after"][-1] == "in h"


def test_a_program_that_marks_steps_alone_has_their_sum() -> None:
    counted = profile() | {"inferences": 0, "instructions": 0}
    report = joined(profile=counted)
    check(report)
    total = sum(step["instructions"] for step in counted["steps"])
    assert report["instructions"] == total
    assert f"{total:,} an inference" in markdown(report)


def test_advice_is_of_what_can_be_done() -> None:
    nameless = copy.deepcopy(LOWERING)
    for op in nameless["ops"]:
        op["module"] = ""
    advice = joined(reports={"digits": nameless})["advice"]
    assert not advice["better"]
    assert not any("int8w4g32" in row["text"] for row in advice["smaller"])
    noisy = copy.deepcopy(LOWERING)
    noisy["quality"]["outputs"][0]["sqnr_db"] = 20.0
    gains = [row["gain"] for row in joined(reports={"digits": noisy})["advice"]["better"]]
    # What values cost is little of a noise that has other reasons.
    assert gains and all(float(gain.split()[2]) < 0.1 for gain in gains)
    inside = copy.deepcopy(LOWERING)
    inside["ops"][3]["op"] = "pl.transpose"
    faster = joined(reports={"digits": inside})["advice"]["faster"]
    assert not any("io_layout" in row["text"] for row in faster)


def test_a_delegate_is_a_step_of_the_ops_in_it() -> None:
    lowering, plan = copy.deepcopy(LOWERING), copy.deepcopy(PLAN)
    for op in lowering["ops"]:
        op |= {"id": f"0.{op['id']}", "delegate": 0}
    step = plan["steps"][0] | {"id": "0", "delegate": {"backend": "EthosUBackend"}}
    plan |= {"steps": [step], "without_step": []}
    report = joined(reports={"digits": lowering}, plan=plan, profile=profile(plan))
    (only,) = report["models"][0]["steps"]
    assert only["delegate"] and only["ops"] == [op["id"] for op in lowering["ops"]]
    assert not report["advice"]["faster"]


def test_advice_is_what_gains_most() -> None:
    better = joined()["advice"]["better"]
    rows = [v for v in LOWERING["quality"]["values"] if v["id"] and v["alone_db"] < 60]
    worst = sorted(rows, key=lambda row: row["alone_db"])
    assert [row["ops"] for row in better] == [[row["id"]] for row in worst[:3]]
    wide = copy.deepcopy(LOWERING)
    for op in wide["ops"]:
        op["precision"] = "int16"
    assert not joined(reports={"digits": wide})["advice"]["better"]
    (first, *_) = joined(reports={"digits": LOWERING, "b": wide})["advice"]["better"]
    assert first["model"] == "digits" and first["text"].startswith("digits: ")
    slow = copy.deepcopy(LOWERING)
    slow["ops"][2] |= {"op": "aten.max_pool2d"}
    (step,) = [s for s in PLAN["steps"] if s["id"] == slow["ops"][2]["id"]]
    total = sum(100 * s["step"] for s in PLAN["steps"])
    rows = joined(reports={"digits": slow})["advice"]["faster"]
    (row,) = [row for row in rows if row["ops"] == [step["id"]]]
    assert row["gain"] == f"up to {100 * step['step'] / total:.1%} of the instructions"


def test_the_page_holds_the_data_and_needs_nothing_else(tmp_path: Path) -> None:
    library = tmp_path / "library.js"
    library.write_text("const it = 1;")
    report = joined()
    report["models"][0]["ops"][0]["module"] = "</script><b>"
    text = page(report, [library])
    held = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert held and json.loads(held[1]) == report
    assert "const it = 1;" in text and "{{" not in text
    assert not re.search(r'(?:src|href)="(?!#)', text) and "@import" not in text
    library.write_text(" " * LIMIT)
    with pytest.raises(PageError, match="bytes, over"):
        page(report, [library])


def test_every_part_of_the_page_is_there() -> None:
    """What the scripts look for by its id is in the HTML."""
    folder = Path("boards/report/page")
    html = (folder / "index.html").read_text()
    scripts = "".join(path.read_text() for path in folder.glob("*.js"))
    wanted = set(re.findall(r'\bat\("([\w-]+)"\)', scripts))
    assert wanted and all(f'id="{name}"' in html for name in wanted)


def test_a_trace_has_a_slice_an_op_one_behind_the_other() -> None:
    events = [e for e in trace(profile())["traceEvents"] if e["ph"] == "X"]
    assert [e["args"]["id"] for e in events] == [s["id"] for s in PLAN["steps"]]
    ends = [e["ts"] + e["dur"] for e in events]
    assert [e["ts"] for e in events] == [0, *ends[:-1]]
    assert ends[-1] == sum(100 * s["step"] for s in PLAN["steps"])


def test_the_board_says_what_it_found() -> None:
    report = joined()
    check(report)
    assert report["device"] == {"test images": 450, "correct on device": 441}
    assert "98.00% on the board." in markdown(report)
    (model,) = report["models"]
    matrix, accuracy = model["quality"]["confusion"], model["quality"]["accuracy"]["int8"]
    right = sum(matrix[i][i] for i in range(10))
    assert right / sum(map(sum, matrix)) == pytest.approx(accuracy)


def test_a_stack_that_is_too_large_and_data_of_the_program_are_named() -> None:
    smaller = [row["gain"] for row in joined()["advice"]["smaller"]]
    stack = SIZE["stack"]
    unused = stack["size"] - -(-stack["bound"] // 64) * 64
    assert f"{unused:,} bytes of RAM" in smaller
    rows = [s["bytes"] for s in joined()["symbols"] if s["name"] in ("input_0", "output_0")]
    assert f"{sum(rows):,} bytes of flash without it" in smaller


def test_markdown_names_the_costliest_first() -> None:
    text = markdown(joined())
    section = text.split("## Instructions")[1].split("## Quality")[0]
    rows = [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")]
    order = sorted(PLAN["steps"], key=lambda step: -step["step"])
    assert rows[2:] == [step["id"] for step in order]
