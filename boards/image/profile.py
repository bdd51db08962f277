# SPDX-License-Identifier: Apache-2.0
"""What a run counted: instructions of one inference, and of each step of the plan; on a board the
cycles of each step.
"""

import json
import os
import re
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

from boards.image.trace import trace
from boards.simulator.counts import Region
from boards.simulator.simulate import Run
from tools.text.table import table

FORMAT = 1

_INFERENCE = 0

_STEP = re.compile(r"^PL:STEP (\d+) (\d+)$", re.MULTILINE)
"""What firmware/runtime/cycles_cortex_m.c prints: step and cycles."""


def profile(run: Run, size: dict[str, Any], plan: dict[str, Any] | None) -> dict[str, Any]:
    """The contents of profile.json, as profile.schema.json has it.

    Args:
      run: a run that was counted, or what a board printed.
      size: the image's size.json.
      plan: the model's plan.json. A program marks its steps if it was built with
        --//firmware/runtime:profile_steps.
    """
    regions = run.counts.regions if run.counts else {}
    inference = regions.get(_INFERENCE)
    cycles: defaultdict[int, list[int]] = defaultdict(list)
    for step, count in _STEP.findall(run.console):
        cycles[int(step)].append(int(count))
    inferences = inference.entries if inference else max(map(len, cycles.values()), default=0)
    return {
        "format": FORMAT,
        "name": size["name"],
        "board": size["board"],
        "core": size["core"],
        "inferences": inferences,
        "instructions": inference.instructions // inferences if inference and inferences else 0,
        "steps": [
            {key: step[key] for key in ("step", "id", "op", "module", "function")} | counted
            for step in (plan or {"steps": []})["steps"]
            if (counted := _counted(regions.get(step["step"]), cycles.get(step["step"])))
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


def _counted(region: Region | None, cycles: list[int] | None) -> dict[str, int]:
    """Of a step: instructions where they were counted, cycles where the board printed them."""
    found = {}
    if region and region.entries:
        found["instructions"] = region.instructions // region.entries
    if cycles:
        found["cycles"] = round(fmean(cycles))
    return found


def steps_table(fields: dict[str, Any]) -> str:
    """Instructions or cycles by step as a table; "" if the program marks none."""
    unit = "cycles" if any("cycles" in step for step in fields["steps"]) else "instructions"
    rows = [(f"{step[unit]:,}", step["op"], step["id"], step["module"]) for step in fields["steps"]]
    header = (unit, "step", "op", "from")
    return table([header, *rows], "rlrl", indent="  ") if rows else ""
