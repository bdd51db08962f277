# SPDX-License-Identifier: Apache-2.0
"""Counts of a run: instructions of one inference and of each plan step; on a board, the cycles of
each step.
"""

import json
import os
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import Any

from tools.image.trace import trace
from tools.simulator.counts import Region
from tools.simulator.silicon import Calibration, percent
from tools.simulator.simulate import Run
from tools.text.table import table

FORMAT = 2

ESTIMATE = "cycles_estimate"
ESTIMATED_FOR = "estimated_for"

UNNAMED = "unnamed_plans"

_INFERENCE = 0

_STEP = re.compile(r"^PL:STEP (\d+) (\d+) (\d+)$", re.MULTILINE)
"""Output of firmware/runtime/cycles_cortex_m.c: step, cycles and the plan's address."""

Key = tuple[int, int]
"""A plan's address and a step's number."""


def profile(
    run: Run,
    size: dict[str, Any],
    plans: Sequence[dict[str, Any]],
    linked: Mapping[str, int] = MappingProxyType({}),
    estimates: Mapping[Key, float] | None = None,
    measured: Calibration | None = None,
) -> dict[str, Any]:
    """Return the contents of profile.json, in the format of profile.schema.json.

    Args:
      run: a counted run, or the output of a board.
      size: the image's size.json.
      plans: the plan.json of each model. A program marks its steps if it was built with
        --//firmware/runtime:profile_steps.
      linked: addresses of the program's symbols; without them the only plan is the one
        that ran.
      estimates: estimated cycles by region, if any. A region's cycles exclude inner
        regions. Plan 0 stands for regions without a plan.
      measured: calibration of the estimates.
    """
    inference = run.counts.regions.get(_INFERENCE) if run.counts else None
    every = run.counts.by_plan() if run.counts else {}
    regions = {key: region for key, region in every.items() if key[0]}
    cycles: defaultdict[Key, list[int]] = defaultdict(list)
    for step, count, address in _STEP.findall(run.console):
        cycles[int(address), int(step)].append(int(count))
    ran = {address for address, _ in [*regions, *cycles]}
    at = _addresses(plans, linked, ran)
    inferences = inference.entries if inference else max(map(len, cycles.values()), default=0)
    of_all: dict[str, Any] = {}
    if inference and inferences and estimates is not None:
        estimate = _of_inference(inference, every, estimates)
        of_all = {} if estimate is None else {ESTIMATE: round(estimate / inferences)}
        of_all |= _estimated_for(measured, of_all.get(ESTIMATE))
    if unnamed := len(ran) - len(at):
        of_all[UNNAMED] = unnamed
    return {
        "format": FORMAT,
        "name": size["name"],
        "board": size["board"],
        "core": size["core"],
        "inferences": inferences,
        "instructions": inference.instructions // inferences if inference and inferences else 0,
        **of_all,
        "steps": [
            {"plan": plan["name"]}
            | {key: step[key] for key in ("step", "id", "op", "module", "function")}
            | counted
            for plan in plans
            if plan["name"] in at
            for step in plan["steps"]
            for key in [(at[plan["name"]], step["step"])]
            if (
                counted := _counted(
                    regions.get(key), cycles.get(key), estimates.get(key) if estimates else None
                )
            )
        ],
    }


def _addresses(
    plans: Sequence[dict[str, Any]], linked: Mapping[str, int], ran: set[int]
) -> dict[str, int]:
    """Return the addresses of the plans that ran, by name. A plan missing in the program may be in
    a model slot.
    """
    found = {p["name"]: linked[p["name"]] for p in plans if linked.get(p["name"]) in ran}
    loaded = [plan["name"] for plan in plans if plan["name"] not in linked]
    elsewhere = ran - set(linked.values())
    return found | ({loaded[0]: min(elsewhere)} if len(loaded) == len(elsewhere) == 1 else {})


def _of_inference(
    inference: Region, every: Mapping[Key, Region], estimates: Mapping[Key, float]
) -> float | None:
    """Return the cycles of region 0 and its inner regions, over all entries.

    The sum covers all regions, or all except the program's own outside of region 0. Return None if
    the instruction counts match neither.
    """
    steps = {key: region for key, region in every.items() if key[0] or region is inference}
    for parts in (every, steps):
        if sum(region.at.total() for region in parts.values()) == inference.instructions:
            return sum(estimates[key] for key in parts)
    return None


def _estimated_for(measured: Calibration | None, cycles: int | None) -> dict[str, Any]:
    """Return the field about the chip of an estimate, {} if there is no chip."""
    if measured is None or measured.chip is None or measured.error is None:
        return {}
    chip = measured.chip
    found: dict[str, Any] = {"chip": chip.name, "clock_hz": chip.clock_hz}
    found["error"] = round(measured.error, 3)
    of_inference = None if cycles is None else measured.of(cycles)
    if of_inference is not None:
        found["milliseconds"] = round(of_inference.milliseconds, 4)
        if of_inference.microjoules is not None:
            found["microjoules"] = round(of_inference.microjoules, 2)
            found["energy_error"] = round(of_inference.energy_error, 3)
    return {ESTIMATED_FOR: found}


def estimate_rows(counted: dict[str, Any]) -> dict[str, str]:
    """Return rows of text about the estimated cycles of an inference."""
    if ESTIMATE not in counted:
        return {}
    about = counted.get(ESTIMATED_FOR)
    if about is None:
        text = "estimated; no chip of this core was measured"
        return {"cycles per inference": f"{counted[ESTIMATE]:,}, {text}"}
    error = f"{percent(about['error'])}, estimated"
    place = f"{about['chip']}, {about['clock_hz'] / 1e6:g} MHz"
    rows = {"cycles per inference": f"{counted[ESTIMATE]:,} {error} for {about['chip']}"}
    rows["time"] = f"{about['milliseconds']:.4g} ms {error} ({place})"
    if "microjoules" in about:
        error = f"{percent(about['energy_error'])}, estimated"
        rows["energy"] = f"{about['microjoules']:,.4g} µJ {error}"
    return rows


def write_profile(counted: dict[str, Any], path: str | None, trace_path: str | None) -> None:
    """Write a profile for machines and for Perfetto, where paths are given; they are relative to
    where Bazel was called.
    """
    for name, contents in ((path, counted), (trace_path, trace(counted))):
        if name:
            output = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), name)
            output.write_text(json.dumps(contents, indent=1) + "\n")


def _counted(
    region: Region | None, cycles: list[int] | None, estimate: float | None
) -> dict[str, int]:
    """Return a step's figures: counted instructions, cycles printed by the board, and an estimate.
    The estimate is only given for a step without inner regions, because their cycles are not its
    own.
    """
    found = {}
    if region and region.entries:
        found["instructions"] = region.instructions // region.entries
        if estimate is not None and region.at.total() == region.instructions:
            found[ESTIMATE] = round(estimate / region.entries)
    if cycles:
        found["cycles"] = round(fmean(cycles))
    return found


def cycles_of_inference(fields: dict[str, Any]) -> int | None:
    """Return the sum over all steps. Return None if the board counted none, or an inference is not
    one run of one plan.
    """
    steps = fields["steps"]
    plans = {step["plan"] for step in steps}
    if len(plans) != 1 or UNNAMED in fields or not all("cycles" in step for step in steps):
        return None
    return sum(int(step["cycles"]) for step in steps)


def steps_table(fields: dict[str, Any]) -> str:
    """Return instructions or cycles by step, and the left-out steps; "" if the program
    marks none.
    """
    steps = fields["steps"]
    units = ["cycles" if any("cycles" in step for step in steps) else "instructions"]
    units += [ESTIMATE] if any(ESTIMATE in step for step in steps) else []
    rows = [
        [
            *(f"{step[unit]:,}" if unit in step else "-" for unit in units),
            step["op"],
            step["id"],
            step["module"],
        ]
        for step in steps
    ]
    about = fields.get(ESTIMATED_FOR)
    error = f" {percent(about['error'])}" if about else ""
    titles = [unit.replace(ESTIMATE, f"cycles{error}, estimated") for unit in units]
    header = [*titles, "step", "op", "from"]
    align = "r" * len(units) + "lrl"
    if len({step["plan"] for step in steps}) > 1:
        names = ["plan", *(step["plan"] for step in steps)]
        header, *rows = ([name, *row] for name, row in zip(names, [header, *rows], strict=True))
        align = f"l{align}"
    lines = [table([header, *rows], align, indent="  ")] if rows else []
    if unnamed := fields.get(UNNAMED):
        lines.append(
            f"  plans whose steps ran but that the image's `plan` does not name: {unnamed}"
        )
    return "\n".join(lines)
