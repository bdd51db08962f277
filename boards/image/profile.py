# SPDX-License-Identifier: Apache-2.0
"""What a run counted: instructions of one inference, and of each step of the plan; on a board the
cycles of each step.
"""

import json
import os
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from boards.image.trace import trace
from boards.simulator.counts import Region
from boards.simulator.simulate import Run
from tools.text.table import table

FORMAT = 1

ESTIMATE = "cycles_estimate"

_INFERENCE = 0

_STEP = re.compile(r"^PL:STEP (\d+) (\d+)$", re.MULTILINE)
"""What firmware/runtime/cycles_cortex_m.c prints: step and cycles."""


def profile(
    run: Run,
    size: dict[str, Any],
    plan: dict[str, Any] | None,
    estimates: Mapping[int, float] | None = None,
) -> dict[str, Any]:
    """The contents of profile.json, as profile.schema.json has it.

    Args:
      run: a run that was counted, or what a board printed.
      size: the image's size.json.
      plan: the model's plan.json. A program marks its steps if it was built with
        --//firmware/runtime:profile_steps.
      estimates: cycles by region, if they were estimated; without those of inner regions.
    """
    regions = run.counts.regions if run.counts else {}
    inference = regions.get(_INFERENCE)
    cycles: defaultdict[int, list[int]] = defaultdict(list)
    for step, count in _STEP.findall(run.console):
        cycles[int(step)].append(int(count))
    inferences = inference.entries if inference else max(map(len, cycles.values()), default=0)
    of_all = {}
    if estimates is not None and inferences:
        of_all[ESTIMATE] = round(sum(estimates.values()) / inferences)
    return {
        "format": FORMAT,
        "name": size["name"],
        "board": size["board"],
        "core": size["core"],
        "inferences": inferences,
        "instructions": inference.instructions // inferences if inference and inferences else 0,
        **of_all,
        "steps": [
            {key: step[key] for key in ("step", "id", "op", "module", "function")} | counted
            for step in (plan or {"steps": []})["steps"]
            if (
                counted := _counted(
                    regions.get(step["step"]),
                    cycles.get(step["step"]),
                    estimates.get(step["step"]) if estimates else None,
                )
            )
        ],
    }


def write_profile(counted: dict[str, Any], path: str | None, trace_path: str | None) -> None:
    """Writes a profile for machines and for Perfetto, where paths are given; they are relative to
    where Bazel was called.
    """
    for name, contents in ((path, counted), (trace_path, trace(counted))):
        if name:
            output = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), name)
            output.write_text(json.dumps(contents, indent=1) + "\n")


def _counted(
    region: Region | None, cycles: list[int] | None, estimate: float | None
) -> dict[str, int]:
    """Of a step: instructions where they were counted, cycles where the board printed them."""
    found = {}
    if region and region.entries:
        found["instructions"] = region.instructions // region.entries
        if estimate is not None:
            found[ESTIMATE] = round(estimate / region.entries)
    if cycles:
        found["cycles"] = round(fmean(cycles))
    return found


def steps_table(fields: dict[str, Any]) -> str:
    """Instructions or cycles by step as a table; "" if the program marks none."""
    steps = fields["steps"]
    units = ["cycles" if any("cycles" in step for step in steps) else "instructions"]
    units += [ESTIMATE] if any(ESTIMATE in step for step in steps) else []
    rows = [
        (*(f"{step[unit]:,}" for unit in units), step["op"], step["id"], step["module"])
        for step in steps
    ]
    titles = (unit.replace("cycles_estimate", "cycles, estimated") for unit in units)
    header = (*titles, "step", "op", "from")
    return table([header, *rows], "r" * len(units) + "lrl", indent="  ") if rows else ""
