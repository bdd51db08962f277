# SPDX-License-Identifier: Apache-2.0
"""What a simulated run counted: instructions of one inference, and of each step of the plan."""

from typing import Any

from boards.simulator.simulate import Run
from tools.text.table import table

FORMAT = 1

_INFERENCE = 0


def profile(run: Run, size: dict[str, Any], plan: dict[str, Any] | None) -> dict[str, Any]:
    """The contents of profile.json, as profile.schema.json has it.

    Args:
      run: a run that was counted.
      size: the image's size.json.
      plan: the model's plan.json. A program marks its steps if it was built with
        --//firmware/runtime:profile_steps.
    """
    regions = run.counts.regions if run.counts else {}
    inference = regions.get(_INFERENCE)
    inferences = inference.entries if inference else 0
    return {
        "format": FORMAT,
        "name": size["name"],
        "board": size["board"],
        "core": size["core"],
        "inferences": inferences,
        "instructions": inference.instructions // inferences if inference and inferences else 0,
        "steps": [
            {key: step[key] for key in ("step", "id", "op", "module", "function")}
            | {"instructions": region.instructions // region.entries}
            for step in (plan or {"steps": []})["steps"]
            if (region := regions.get(step["step"])) and region.entries
        ],
    }


def steps_table(fields: dict[str, Any]) -> str:
    """Instructions by step as a table; "" if the program marks none."""
    rows = [
        (f"{step['instructions']:,}", step["op"], step["id"], step["module"])
        for step in fields["steps"]
    ]
    header = ("instructions", "step", "op", "from")
    return table([header, *rows], "rlrl", indent="  ") if rows else ""
