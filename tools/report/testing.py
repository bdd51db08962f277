# SPDX-License-Identifier: Apache-2.0
"""Report of an image of digits, from its parts, and reports of longer models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from tools.report.join import join, lowering

Fields = dict[str, Any]


def read(path: str) -> Any:
    return json.loads(Path(path).read_text())


SIZE = read("boards/corstone300_app.size.json")
PLAN = read("boards/corstone300_app.digits.json")
_DIGITS = Path("aot/models/digits/digits.report.json")
LOWERING = lowering(_DIGITS, Path("aot/models/digits/digits.pte"))
BOARD: Fields = {
    "name": "corstone300",
    "description": "a board",
    "core": "cortex-m55",
    "npu": None,
}


def profile(plan: Fields = PLAN) -> Fields:
    """Return a run with 100 instructions times the step number for each step."""
    keys = ("step", "id", "op", "module", "function")
    return {
        "name": "corstone300_app",
        "board": "corstone300",
        "core": "cortex-m55",
        "inferences": 2,
        "instructions": 5000,
        "steps": [
            {"plan": plan["name"]}
            | {key: step[key] for key in keys}
            | {"instructions": 100 * step["step"]}
            for step in plan["steps"]
        ],
    }


def cycles_of(report: Fields, key: str = "cycles") -> Fields:
    """Return the profile of a board running the image of a one-model report."""
    (model,) = report["models"]
    keys = ("step", "id", "op", "module", "function")
    rows = [{"plan": "plan"} | {one: step[one] for one in keys} for step in model["steps"]]
    steps = [row | {key: 1_000_000 + 1_111 * i} for i, row in enumerate(rows)]
    return {"name": report["name"], "inferences": 2, "instructions": 0, "steps": steps}


def joined(**changes: Any) -> Fields:
    parts = {"size": SIZE, "board": BOARD, "reports": {"digits": LOWERING}, "plans": [PLAN]}
    stats = {"test images": 450, "correct on device": 441}
    return join(**{**parts, "profile": profile(), "stats": stats, **changes})


def ops_of(symbol: Fields) -> list[str]:
    return list(symbol["ops"].get("digits", []))


def check(report: Fields) -> None:
    schema = read("tools/report/image_report.schema.json")
    Draft202012Validator.check_schema(schema)
    assert not [error.message for error in Draft202012Validator(schema).iter_errors(report)]


def many(report: Fields, times: int) -> Fields:
    """Return the report of a model repeating its ops many times, in stages of blocks. The first op
    of each repetition reads the result of the previous one.
    """
    (model,) = report["models"]
    made: dict[str, list[Fields]] = {"ops": [], "steps": [], "blocks": []}
    for turn in range(times):
        start = turn * len(model["ops"])
        ids = {op["id"]: str(start + i) for i, op in enumerate(model["ops"])}
        where = f"stages.{turn // 10}.{turn}."
        for op in model["ops"]:
            before = [ids.get(one, str(start - 1) if turn else one) for one in op["after"]]
            moved = {"id": ids[op["id"]], "module": where + op["module"], "after": before}
            made["ops"].append(op | moved)
        first = turn * len(model["steps"])
        for step in model["steps"]:
            moved = {"step": first + step["step"], "module": where + step["module"]}
            ops = {"id": ids[step["id"]], "ops": [ids[op] for op in step["ops"]]}
            made["steps"].append(step | moved | ops)
        for block in model["blocks"]:
            steps = {key: first + block[key] for key in ("first", "last")}
            made["blocks"].append(block | steps | {"op": ids.get(block["op"], "")})
    symbols = sorted(report["symbols"] * times, key=lambda row: -row["bytes"])
    return report | {"models": [model | made], "symbols": symbols}


def unpacked(report: Fields) -> Fields:
    """Return a page's contents, unpacked like in its scripts."""

    def rows(table: Fields) -> list[Fields]:
        keys = table["keys"]
        return [
            dict(zip(keys, row[: len(keys)], strict=True)) | dict(*row[len(keys) :])
            for row in table["rows"]
        ]

    models = [
        model | {key: rows(model[key]) for key in ("ops", "steps", "blocks")}
        for model in report["models"]
    ]
    return report | {"symbols": rows(report["symbols"]), "models": models}
