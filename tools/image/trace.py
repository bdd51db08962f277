# SPDX-License-Identifier: Apache-2.0
"""A profile in the Trace Event Format, which ui.perfetto.dev and chrome://tracing open."""

from typing import Any


def trace(profile: dict[str, Any] | None) -> dict[str, Any]:
    """Returns one slice an op, one after the other, in a row for each plan; an instruction, or on a
    board with a counter a cycle, is a microsecond of the picture.

    Args:
      profile: as tools/image/profile.schema.json has it; None gives a trace without slices.
    """
    unit = _unit(profile)
    events: list[dict[str, Any]] = []
    plans = list(dict.fromkeys(step["plan"] for step in profile["steps"])) if profile else []
    start = dict.fromkeys(plans, 0)
    for step in profile["steps"] if profile else []:
        plan = step["plan"]
        events.append(
            {
                "name": f"{step['op'].removeprefix('pl::')} {step['id']}",
                "cat": "op",
                "ph": "X",
                "pid": 1,
                "tid": plans.index(plan) + 1,
                "ts": start[plan],
                "dur": step[unit],
                "args": {key: step[key] for key in ("id", "op", "module", "function")}
                | {unit: step[unit]},
            }
        )
        start[plan] += step[unit]
    if profile:
        name = f"{profile['name']} on {profile['board']} ({profile['core']})"
        rows = [f"{plan}: " if len(plans) > 1 else "" for plan in plans] or [""]
        threads = [
            _name("thread_name", f"{row}one inference, {unit}", i) for i, row in enumerate(rows, 1)
        ]
        events = [_name("process_name", name, 1), *threads, *events]
    return {"displayTimeUnit": "ns", "traceEvents": events}


def _unit(profile: dict[str, Any] | None) -> str:
    """What a run counted: instructions in QEMU, cycles on a board."""
    steps = profile["steps"] if profile else []
    return "instructions" if all("instructions" in step for step in steps) else "cycles"


def _name(kind: str, name: str, thread: int) -> dict[str, Any]:
    return {"name": kind, "ph": "M", "pid": 1, "tid": thread, "args": {"name": name}}
