# SPDX-License-Identifier: Apache-2.0
"""Join the build's reports on an image by op ids: size.json, plan.json, the lowering report, and a
profile.

The page and the Markdown show the result. Its format is image_report.schema.json.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.report.advice import UNNAMED, advice

FORMAT = 2

Fields = dict[str, Any]

# Ops with weights as constants; all other constants are tables.
_WEIGHTED = re.compile(
    r"conv|linear|bmm|lstm|gru|rnn|embedding|convolution|addmm|mm$", re.IGNORECASE
)

# Symbols of one step in a plan's C (aot/plan).
_OF_STEP = re.compile(r"^step_(\d+)(_\w+)?$")

# Folder of another repository's files, including Bazel's suffix of a module name.
_EXTERNAL = re.compile(r"^external/(\w+)[^/]*/")

_LIMITS = {"int8": (-128, 127), "int16": (-32768, 32767)}


def lowering(report: Path, pte: Path) -> Fields:
    """Return a model's lowering report, with the digest of its .pte; its plan contains the same
    digest.
    """
    digest = hashlib.sha256(pte.read_bytes()).hexdigest()
    return {**json.loads(report.read_text()), "pte_sha256": digest}


def _dictionary(rows: Sequence[Fields], key: str) -> dict[str, Fields]:
    return {row[key]: row for row in rows}


def _plain(name: str) -> str:
    """Return a state's name like in graphs, without a possible number suffix."""
    return re.sub(r"\W", "_", name).removeprefix("b_")


def _edges(report: Fields) -> dict[str, list[str]]:
    """Return the ops each op reads, by op id; "in <name>" is an input of the model."""
    made = {port["name"]: f"in {port['name']}" for port in report["inputs"]}
    for op in report["ops"]:
        made |= {output["name"]: op["id"] for output in op["outputs"]}
    states = {_plain(state["name"]): f"in {state['name']}" for state in report["states"]}
    for op in report["ops"]:
        for name in (i["name"] for i in op["inputs"] if i["name"] not in made):
            state = states.get(_plain(name), states.get(re.sub(r"_\d+$", "", _plain(name))))
            made |= {name: state} if state else {}
    return {
        op["id"]: list(dict.fromkeys(made[i["name"]] for i in op["inputs"] if i["name"] in made))
        for op in report["ops"]
    }


def _holds(output: Fields) -> list[float] | None:
    """Return the smallest and the largest value of a quantized tensor."""
    limits = _LIMITS.get(output["dtype"])
    if "scale" not in output or limits is None:
        return None
    return [(limit - output["zero_point"]) * output["scale"] for limit in limits]


def _steps(plan: Fields | None, counted: Mapping[int, int], ops: Sequence[str]) -> list[Fields]:
    """Return the plan's steps with the ids of their ops and their instructions."""
    rows = []
    for step in (plan or {"steps": []})["steps"]:
        inside = [op for op in ops if op.startswith(f"{step['id']}.")]
        members = [member["id"] for member in step.get("rows", {"members": []})["members"]]
        kept = ("step", "id", "op", "module", "function", "scratch", "constants")
        rows.append(
            {key: step[key] for key in kept}
            | {
                "ops": members or inside or [step["id"]],
                "live_bytes": step.get("live_bytes", 0),
                "delegate": "delegate" in step,
                "instructions": counted.get(step["step"]),
            }
        )
    return rows


def _blocks(plan: Fields | None) -> list[Fields]:
    """Return the location of each tensor and scratch memory, with its op."""
    if plan is None:
        return []
    made = {
        output.split(" [")[0]: step["id"] for step in plan["steps"] for output in step["outputs"]
    }
    for step in plan["steps"]:
        made |= {
            m["output"].split(" [")[0]: m["id"] for m in step.get("rows", {}).get("members", [])
        }
        made[f"scratch of step {step['step']}"] = step["id"]
    return [block | {"op": made.get(block["name"], "")} for block in plan["blocks"]]


def _constants(plan: Fields) -> dict[str, Fields]:
    """Return the ops reading each constant, and its kind (weights or table), by symbol."""
    steps = {step["step"]: step for step in plan["steps"]}
    found = {}
    for constant in plan["weights"]["constants"]:
        users = [steps[index] for index in constant["steps"] if index in steps]
        engine = any("delegate" in step for step in users)
        names = [member["op"] for s in users for member in s.get("rows", {}).get("members", [s])]
        weights = engine or any(_WEIGHTED.search(name) for name in names)
        ids = [i for s in users for i in _ids_of(s)]
        found[constant["name"]] = {"kind": "weights" if weights else "tables", "ops": ids}
    return found


def _ids_of(step: Fields) -> list[str]:
    members = step.get("rows", {"members": []})["members"]
    return [member["id"] for member in members] or [step["id"]]


def _origin(origin: str) -> str:
    """Return a symbol's origin, with the repository name outside of the workspace."""
    return _EXTERNAL.sub(r"@\1/", origin)


def _kind(origin: str) -> str:
    origin = _EXTERNAL.sub("", origin)
    if origin.startswith("kernels/") or "/kernels/" in origin:
        return "kernels"
    if origin.startswith(("firmware/runtime", "firmware/ethos_u", "boards/common")):
        return "runtime"
    return "library" if origin.endswith(".a") else "program"


def _of_plan(size: Fields, plan: Fields) -> tuple[str, dict[str, list[str]]]:
    """Return the object file of a plan ("" if it is not linked), and the symbols of its own tables
    with their ops.
    """
    sources = [s["source"] for s in size["symbols"] if s["name"] == plan["name"]]
    if not sources:
        return "", {}
    steps = {step["step"]: _ids_of(step) for step in plan["steps"]}
    found: dict[str, list[str]] = {plan["name"]: [], "steps": []}
    for name in (s["name"] for s in size["symbols"] if s["source"] == sources[0]):
        if match := _OF_STEP.match(name):
            found[name] = steps.get(int(match[1]), [])
        elif name.startswith("run_pl_"):
            found[name] = []
    return sources[0], found


class _Planned:
    """Symbol data of a plan. If several plans have a symbol of one name, its object
    file decides.
    """

    def __init__(self, size: Fields, plan: Fields, is_only: bool):
        self._source, self._tables = _of_plan(size, plan)
        self._is_only = is_only
        self._constants = _constants(plan)
        self._functions: dict[str, list[str]] = defaultdict(list)
        for step in plan["steps"]:
            for member in step.get("rows", {"members": [step]})["members"]:
                self._functions[member["function"]].append(member["id"])

    def says(self, symbol: Fields) -> tuple[str, list[str]]:
        """Return the kind of a symbol ("" if unknown to the plan), and its ops."""
        if symbol["source"] == self._source and symbol["name"] in self._tables:
            return "plan", self._tables[symbol["name"]]
        # The linker's clones of functions and constants keep the name before a dot.
        constant = self._constants.get(symbol["name"].split(".")[0])
        if constant and (self._is_only or symbol["source"] == self._source):
            return constant["kind"], constant["ops"]
        return "", self._functions.get(symbol["name"], [])


def _symbols(size: Fields, plans: Mapping[str, Fields]) -> list[Fields]:
    """Return the contents of flash, by symbol; bytes without a symbol are a row of their origin."""
    planned = {m: _Planned(size, plan, len(plans) == 1) for m, plan in plans.items()}
    flash = {memory["name"]: memory for memory in size["memories"] if memory["kind"] == "flash"}
    rows = []
    named: dict[tuple[str, str], int] = defaultdict(int)
    for symbol in size["symbols"]:
        memory = symbol["stored_in"]
        if memory not in flash:
            continue
        named[memory, symbol["origin"]] += symbol["size"]
        said = {model: one.says(symbol) for model, one in planned.items()}
        kinds = [kind for kind, _ in said.values() if kind]
        rows.append(
            {
                "name": symbol["name"],
                "memory": memory,
                "bytes": symbol["size"],
                "origin": _origin(symbol["origin"]),
                "kind": kinds[0] if kinds else _kind(symbol["origin"]),
                "ops": {model: ops for model, (_, ops) in said.items() if ops},
            }
        )
    for memory, fields in flash.items():
        for origin, total in fields["by_origin"].items():
            rest = total - named[memory, origin]
            if rest > 0:
                row = {"name": UNNAMED, "memory": memory, "bytes": rest, "ops": {}}
                rows.append(row | {"origin": _origin(origin), "kind": _kind(origin)})
    return sorted(rows, key=lambda row: (-row["bytes"], row["name"]))


def _ops(report: Fields, plan: Fields | None) -> list[Fields]:
    values = _dictionary(report["quality"]["values"], "id")
    after = _edges(report)
    kernels: dict[str, str] = {}
    for step in (plan or {"steps": []})["steps"]:
        for member in step.get("rows", {"members": [step]})["members"]:
            kernels[member["id"]] = member["function"]
    rows = []
    for op in report["ops"]:
        value = values.get(op["id"])
        keys = ("sqnr_db", "alone_db", "low", "high", "clipped", "histogram")
        rows.append(
            op
            | {
                "after": after[op["id"]],
                "function": kernels.get(op["id"], ""),
                "quality": {key: value[key] for key in keys} if value else None,
                "holds": _holds(op["outputs"][0]),
            }
        )
    return rows


def _instructions(profile: Fields | None) -> int | None:
    """Return the instructions of one inference: if the program does not mark it, the sum of its
    steps.
    """
    if not profile:
        return None
    return profile["instructions"] or sum(s["instructions"] for s in profile["steps"]) or None


def _plans_of(reports: Mapping[str, Fields], plans: Sequence[Fields]) -> dict[str, Fields]:
    """Return the plan of each model that has one; a plan without a model has its own
    name as key.
    """
    left = list(plans)
    found: dict[str, Fields] = {}
    for name, report in reports.items():
        for plan in left:
            if plan.get("pte_sha256") == report["pte_sha256"]:
                found[name] = plan
                left.remove(plan)
                break
    return {plan["name"]: plan for plan in left} | found


def _quantization(report: Fields) -> str:
    """Return the precision of all ops, or that it is mixed."""
    found = {op["precision"] for op in report["ops"]}
    return str(found.pop() if len(found) == 1 else report["quantization"])


def _model(name: str, report: Fields, plan: Fields | None, profile: Fields | None) -> Fields:
    rows = profile["steps"] if profile and plan else []
    counted = {s["step"]: s["instructions"] for s in rows if plan and s["plan"] == plan["name"]}
    kept = ("target", "macs", "constant_bytes", "pte_bytes", "warnings")
    more = (
        "inputs",
        "outputs",
        "paths",
        "states",
        "delegates",
        "dead_channels",
        "calibration_samples",
    )
    quality = {
        key: report["quality"][key]
        for key in ("samples", "held_out", "outputs", "accuracy", "metric", "confusion")
    }
    ids = [op["id"] for op in report["ops"]]
    return {
        "name": name,
        "quantization": _quantization(report),
        **{key: report[key] for key in (*kept, *more)},
        "quality": quality,
        "ops": _ops(report, plan),
        "steps": _steps(plan, counted, ids),
        "arena": plan["arena"] if plan else None,
        "isa": plan["isa"] if plan else "",
        "blocks": _blocks(plan),
    }


def join(
    size: Fields,
    board: Fields,
    reports: Mapping[str, Fields],
    plans: Sequence[Fields],
    profile: Fields | None,
    problem: str = "",
    stats: Mapping[str, int] | None = None,
) -> Fields:
    """Return the report of an image.

    Args:
      size: its size.json.
      board: its board.json.
      reports: result of `lowering` for each model, by its name.
      plans: the plan.json of each; of the same .pte as its model.
      profile: the profile.json of a simulated run, None if there was none.
      problem: reason for a missing run.
      stats: the program's own values (PL:STAT).
    """
    planned = _plans_of(reports, plans)
    models = [_model(n, report, planned.get(n), profile) for n, report in reports.items()]
    engine = board["npu"]
    fields = {
        "format": FORMAT,
        "name": size["name"],
        "board": {
            "name": board["name"],
            "description": board["description"],
            "core": board["core"],
            "npu": engine["configuration"] if engine else None,
        },
        "memories": [
            {key: memory[key] for key in ("name", "kind", "size", "used")}
            for memory in size["memories"]
        ],
        "stack": {key: size["stack"][key] for key in ("size", "bound", "path", "problem")},
        "symbols": _symbols(size, planned),
        "instructions": _instructions(profile),
        "inferences": profile["inferences"] if profile else 0,
        "not_counted": problem,
        "unnamed_plans": profile.get("unnamed_plans", 0) if profile else 0,
        "device": dict(stats or {}),
        "engine_is_simulated": bool(engine and engine["simulated"]),
        "models": models,
    }
    return fields | {"advice": advice(fields)}
