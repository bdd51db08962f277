# SPDX-License-Identifier: Apache-2.0
"""The report of an image has the contents of its parts, joined by ops."""

from __future__ import annotations

import copy
import json
import math
import re

import pytest

from tools.image.trace import trace
from tools.report.cycles import ReportCyclesError, with_cycles
from tools.report.join import join
from tools.report.markdown import markdown
from tools.report.plan_report import NOT_LINKED, report_of
from tools.report.testing import (
    BOARD,
    LOWERING,
    PLAN,
    SIZE,
    Fields,
    check,
    cycles_of,
    joined,
    ops_of,
    profile,
)


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
    assert all(set(ops_of(s)) & ids for s in weights)
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
    assert ops_of(of_step) == [step["id"]]
    own = [s for s in joined()["symbols"] if s["name"] in ("main", "labels", "input_0")]
    assert own and all(s["kind"] == "program" for s in own)
    assert not [s for s in joined(plans=[])["symbols"] if s["kind"] == "plan"]


def test_without_models_plan_or_run() -> None:
    report = join(SIZE, BOARD, {}, [], None, "QEMU has no machine for the board")
    check(report)
    assert report["advice"]["faster"] == report["advice"]["better"] == []
    assert all(not row["ops"] for row in report["advice"]["smaller"])
    assert report["instructions"] is None
    assert "## Memory" in markdown(report)
    assert trace(None)["traceEvents"] == []
    without_run = joined(profile=None, problem="it does not end")
    check(without_run)
    assert "Not counted: it does not end." in markdown(without_run)


def test_report_of_a_plan_alone() -> None:
    board = BOARD | {"stack": 4096, "memories": SIZE["memories"]}
    report = report_of(PLAN, board, LOWERING)
    check(report)
    weights, arena = PLAN["weights"], PLAN["arena"]
    used = {memory["name"]: memory["used"] for memory in report["memories"]}
    assert sum(used.values()) == weights["bytes"] + sum(p["used"] for p in arena["pools"])
    assert used[weights["memory"]] >= weights["bytes"]
    constants = {c["name"]: c["bytes"] for c in weights["constants"]}
    assert {s["name"]: s["bytes"] for s in report["symbols"] if s["ops"]} == constants
    assert report["models"][0]["steps"] and report["instructions"] is None
    assert f"has no bound: {NOT_LINKED}.\n" in markdown(report)


def test_steps_of_plans_that_the_image_does_not_name_are_missed() -> None:
    assert joined()["unnamed_plans"] == 0 and "Not listed" not in markdown(joined())
    for count, plans in [(1, "a plan"), (2, "2 plans")]:
        report = joined(profile=profile() | {"unnamed_plans": count})
        check(report)
        assert report["unnamed_plans"] == count
        said = f"Not listed: steps of {plans} that the image's `plan` does not name."
        assert said in markdown(report)
        (model,) = report["models"]
        several = markdown(report | {"models": [model, model | {"name": "b"}]})
        assert several.count("## Instructions of") == 2 and several.count(said) == 1
        without = joined(reports={}, plans=[], profile=profile() | {"unnamed_plans": count})
        text = markdown(without).split("## Instructions")[1]
        assert said in text and "5,000 an inference." in text


def second() -> tuple[Fields, Fields, Fields]:
    """Another model in the image, of other modules: its report, its plan, and the image's sizes."""
    report, plan, size = map(copy.deepcopy, (LOWERING, PLAN, SIZE))
    for op in [*report["ops"], *plan["steps"], *plan["without_step"]]:
        op["module"] = f"other.{op['module']}"
    plan["name"] = "other_plan"
    plan["pte_sha256"] = report["pte_sha256"] = "0" * 64
    report["states"] = [{"id": "90", "name": "h", "shape": [1], "dtype": "int8"}]
    plan["without_step"].append(plan["without_step"][-1] | {"id": "90", "module": ""})
    (source,) = {s["source"] for s in SIZE["symbols"] if s["name"] == PLAN["name"]}
    for symbol in [s for s in SIZE["symbols"] if s["source"] == source]:
        name = symbol["name"] if symbol["name"] != PLAN["name"] else "other_plan"
        size["symbols"].append(symbol | {"name": name, "source": "other", "size": 1})
    return report, plan, size


def test_of_several_models_each_has_its_own_plan_and_its_own_constants() -> None:
    other, plan, size = second()
    reports = {"other": other, "digits": LOWERING}
    counted = profile()
    counted["steps"] += [
        step | {"plan": "other_plan", "instructions": 7} for step in counted["steps"]
    ]
    report = joined(size=size, reports=reports, plans=[PLAN, plan], profile=counted)
    check(report)
    assert [len(model["steps"]) for model in report["models"]] == [len(PLAN["steps"])] * 2
    assert all(
        m["steps"][0]["module"].startswith("other.") == (m["name"] == "other")
        for m in report["models"]
    )
    for symbol in report["symbols"]:
        if symbol["kind"] in ("weights", "tables", "plan"):
            owner = "other" if symbol["bytes"] == 1 else "digits"
            assert symbol["ops"].keys() <= {owner}
    shared = next(s for s in report["symbols"] if s["kind"] == "kernels" and s["ops"])
    assert shared["ops"].keys() == {"other", "digits"}
    for model in report["models"]:
        for step in model["steps"]:
            assert step["instructions"] == (7 if model["name"] == "other" else 100 * step["step"])
    assert report["instructions"] == profile()["instructions"]
    text = markdown(report)
    assert text.count("no plan could take less") == 2 and "Not counted" not in text
    assert f"{7 * len(PLAN['steps']):,} in its steps" in text


def test_a_plan_goes_to_the_model_that_it_is_of() -> None:
    other, _, _ = second()
    for plans in ([PLAN], [PLAN | {"pte_sha256": "1" * 64}, PLAN]):
        report = joined(reports={"other": other, "digits": LOWERING}, plans=plans)
        check(report)
        assert [bool(model["steps"]) for model in report["models"]] == [False, True]
    (model,) = joined(reports={"other": other})["models"]
    assert not model["steps"]


def test_models_of_one_architecture_keep_their_plans() -> None:
    """Their ops are equal; their trained weights are not."""
    other = LOWERING | {"pte_sha256": "0" * 64}
    plan = copy.deepcopy(PLAN) | {"name": "other_plan", "pte_sha256": "0" * 64}
    plan["arena"]["bytes"] += 16
    reports = {"digits": LOWERING, "other": other}
    for plans in ([PLAN, plan], [plan, PLAN]):
        models = joined(reports=reports, plans=plans)["models"]
        more = [model["arena"]["bytes"] - PLAN["arena"]["bytes"] for model in models]
        assert [model["name"] for model in models] == ["digits", "other"] and more == [0, 16]


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
        op |= {"module": "", "from": []}
    advice = joined(reports={"digits": nameless})["advice"]
    assert not advice["better"]
    assert not any("int8w4g32" in row["text"] for row in advice["smaller"])
    noisy = copy.deepcopy(LOWERING)
    noisy["quality"]["outputs"][0]["sqnr_db"] = 20.0
    # Values cost little compared to noise from other causes.
    assert not joined(reports={"digits": noisy})["advice"]["better"]
    inside = copy.deepcopy(LOWERING)
    inside["ops"][3]["op"] = "pl.transpose"
    faster = joined(reports={"digits": inside})["advice"]["faster"]
    assert not any("io_layout" in row["text"] for row in faster)


def test_advice_is_what_gains_most() -> None:
    # The noises of single values are within a dB of the measured one, or not.
    (model,) = joined()["models"]
    measured = [op["quality"]["alone_db"] for op in model["ops"] if op["quality"]]
    noise = sum(10 ** (-db / 10) for db in measured if db is not None)
    near, far = copy.deepcopy(LOWERING), copy.deepcopy(LOWERING)
    near["quality"]["outputs"][0]["sqnr_db"] = -10 * math.log10(noise)
    far["quality"]["outputs"][0]["sqnr_db"] = -10 * math.log10(noise) - 2.0
    for lowering, form in ((near, r"up to ([\d.]+) dB, predicted"), (far, r"(\d+)% of what")):
        better = joined(reports={"digits": lowering})["advice"]["better"]
        gains = [float(m[1]) for row in better if (m := re.match(form, row["gain"]))]
        assert gains and gains == sorted(gains, reverse=True)
        assert better[0]["gain"].startswith(("up to", f"{gains[0]:.0f}%"))
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


def test_markdown_has_no_tags_of_the_users() -> None:
    report = joined()
    report["models"][0]["steps"][0]["module"] = "a<b>|c"
    report["advice"]["better"][0]["text"] = "use a<b>"
    text = markdown(report)
    assert "| a\\<b>\\|c |" in text and "use a\\<b>" in text and "a<b>" not in text


def test_a_stack_without_a_bound_is_told() -> None:
    assert "has no bound" not in markdown(joined())
    stack = SIZE["stack"] | {"bound": None, "path": ["a", "b", "a"], "problem": "recursion"}
    report = joined(size=SIZE | {"stack": stack})
    check(report)
    assert f"{stack['size']:,} bytes has no bound: recursion, `a` → `b` → `a`." in markdown(report)


@pytest.mark.parametrize(("key", "are"), [("cycles", "measured"), ("cycles_estimate", "estimated")])
def test_cycles_of_a_profile_join_the_steps(key: str, are: str) -> None:
    report = joined()
    (model,) = report["models"]
    other = model | {"name": "b", "steps": [s | {"id": f"9{s['id']}"} for s in model["steps"]]}
    counted = with_cycles(report | {"models": [other, model]}, cycles_of(report, key))
    assert counted["cycles_are"] == are and counted["models"][0] == other
    steps = counted["models"][1]["steps"]
    assert [s["cycles"] for s in steps] == [1_000_000 + 1_111 * i for i in range(len(steps))]
    assert [s | {"cycles": 0} for s in model["steps"]] == [s | {"cycles": 0} for s in steps]
    # A board may count a part of the steps.
    few = cycles_of(report, key)
    del few["steps"][0]
    assert with_cycles(report, few)["models"][0]["steps"][0]["cycles"] is None


def test_the_chip_of_estimated_cycles() -> None:
    report = joined()
    estimated = {"chip": "X1", "clock_hz": 1_000_000, "error": 0.07, "milliseconds": 3.2}
    counted = with_cycles(
        report, cycles_of(report, "cycles_estimate") | {"estimated_for": estimated}
    )
    assert counted["estimated_for"] == estimated
    assert "estimated_for" not in with_cycles(report, cycles_of(report, "cycles_estimate"))


def test_models_of_the_same_steps_have_their_own_cycles() -> None:
    report = joined()
    (model,) = report["models"]
    several = cycles_of(report)
    more = [step | {"plan": "b", "cycles": 7} for step in several["steps"]]
    two = report | {"models": [model, model | {"name": "b"}]}
    first, second = with_cycles(two, several | {"steps": several["steps"] + more})["models"]
    assert [s["cycles"] for s in first["steps"]] == [s["cycles"] for s in several["steps"]]
    assert {s["cycles"] for s in second["steps"]} == {7}
    with pytest.raises(ReportCyclesError, match="belongs to another build: .*'s b$"):
        with_cycles(report, several | {"steps": several["steps"] + more})


def test_a_profile_of_something_else_has_no_cycles_of_this() -> None:
    report = joined()
    with pytest.raises(
        ReportCyclesError, match="no cycles per step. With --//firmware/runtime:profile_steps"
    ):
        with_cycles(report, profile())
    for changed in ({"name": "other"}, {"steps": [cycles_of(report)["steps"][0] | {"step": 99}]}):
        with pytest.raises(
            ReportCyclesError, match="another build: corstone300_app has no plan with"
        ):
            with_cycles(report, cycles_of(report) | changed)


def test_a_trace_has_a_slice_an_op_one_behind_the_other() -> None:
    events = [e for e in trace(profile())["traceEvents"] if e["ph"] == "X"]
    assert [e["args"]["id"] for e in events] == [s["id"] for s in PLAN["steps"]]
    ends = [e["ts"] + e["dur"] for e in events]
    assert [e["ts"] for e in events] == [0, *ends[:-1]]
    assert ends[-1] == sum(100 * s["step"] for s in PLAN["steps"])


@pytest.mark.parametrize("counted", ["instructions", "cycles"])
def test_a_trace_is_what_the_trace_event_format_asks_for(counted: str) -> None:
    """Trace Event Format, by its document: complete events ("X") and metadata ("M") alone."""
    of_run = profile()
    for step in of_run["steps"]:
        step[counted] = step.pop("instructions")
    fields = json.loads(json.dumps(trace(of_run)))
    assert fields["displayTimeUnit"] in ("ms", "ns")
    names = {}
    for event in fields["traceEvents"]:
        assert all(isinstance(event[key], int) for key in ("pid", "tid"))
        if event["ph"] == "M":
            names[event["name"]] = event["args"]["name"]
            continue
        assert event["ph"] == "X" and event["name"] and event["cat"]
        assert all(isinstance(event[key], int) and event[key] >= 0 for key in ("ts", "dur"))
        assert event["args"][counted] == event["dur"]
        assert all(isinstance(value, str | int) for value in event["args"].values())
    assert names.keys() == {"process_name", "thread_name"} and counted in names["thread_name"]


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


def test_outputs_are_called_as_the_model_returns_them() -> None:
    lowering = LOWERING | {"paths": ["['scores']"]}
    report = joined(reports={"digits": lowering})
    check(report)
    assert "`['scores']`: SQNR" in markdown(report)
    name = LOWERING["quality"]["outputs"][0]["name"]
    assert f"`{name}`: SQNR" in markdown(joined())
    # A key of the user's may have anything in it.
    of_two_lines = LOWERING | {"paths": ["['a`b\nc']"]}
    assert "\n- `` ['a`b c'] ``: SQNR" in markdown(joined(reports={"digits": of_two_lines}))


def test_markdown_names_the_costliest_first() -> None:
    text = markdown(joined())
    section = text.split("## Instructions")[1].split("## Quality")[0]
    rows = [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")]
    order = sorted(PLAN["steps"], key=lambda step: -step["step"])
    assert rows[2:] == [step["id"] for step in order]


def test_markdown_lists_layers_that_lost_channels() -> None:
    report = copy.deepcopy(LOWERING)
    cost = {"inputs": 3, "outputs": 8, "macs": 4321, "constant_bytes": 1234}
    nothing = dict.fromkeys(cost, 0)
    layer = {"id": "1", "name": "conv2d", "module": "stem (Conv2d)"}
    less = cost | {"outputs": 5, "macs": 4000}
    report["dead_channels"] = [
        layer | {"before": cost, "after": less},
        {"id": "", "name": "gone", "module": "", "before": cost, "after": nothing},
    ]
    text = markdown(joined(reports={"digits": report}))
    assert "Dead channels: 4,642 multiply-accumulates and 1,234 bytes of constants less" in text
    assert "| 1 | stem (Conv2d) | 3 → 3 | 8 → 5 | 4,321 → 4,000 | 1,234 → 1,234 |" in text
    assert "| gone | gone | 3 → 0 | 8 → 0 | 4,321 → 0 | 1,234 → 0 |" in text
    assert "Dead channels" not in markdown(joined())
