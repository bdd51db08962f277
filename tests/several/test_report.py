# SPDX-License-Identifier: Apache-2.0
"""The report of an image with two models has the instructions of each one's steps."""

import json
from pathlib import Path
from typing import Any

_FOLDER = Path("tests/several")


def read(path: str) -> Any:
    return json.loads(Path(path).read_text())


def test_steps_of_each_model_are_its_own() -> None:
    report = read(f"{_FOLDER}/two_models.report.json")
    models = {model["name"]: model for model in report["models"]}
    assert models.keys() == {"digits", "state"} and report["not_counted"] == ""
    for model in models.values():
        assert model["steps"] and all(step["instructions"] for step in model["steps"])
    (alone,) = read("boards/mps2_an385_app.report.json")["models"]
    counted, expected = (
        [(step["function"], step["instructions"]) for step in model["steps"]]
        for model in (models["digits"], alone)
    )
    assert counted == expected
    text = (_FOLDER / "two_models.report.md").read_text()
    for model in models.values():
        assert f"{sum(s['instructions'] for s in model['steps']):,} in its steps" in text


def test_the_trace_has_a_row_for_each_model() -> None:
    events = read(f"{_FOLDER}/two_models.trace.json")["traceEvents"]
    rows = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert sorted(rows.values()) == [
        "digits_plan: one inference, instructions",
        "state_plan: one inference, instructions",
    ]
    slices = [event for event in events if event["ph"] == "X"]
    assert {event["tid"] for event in slices} == rows.keys()
    for row in rows:
        own = [event for event in slices if event["tid"] == row]
        ends = [event["ts"] + event["dur"] for event in own]
        assert [event["ts"] for event in own] == [0, *ends[:-1]]
