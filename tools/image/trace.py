# SPDX-License-Identifier: Apache-2.0
"""Profile in the Trace Event Format, for ui.perfetto.dev and chrome://tracing."""

from typing import Any


def trace(profile: dict[str, Any] | None) -> dict[str, Any]:
    """Return one slice per op, one after the other, in one row per plan. One instruction is one
    microsecond of the picture. On a board with a counter, one cycle is.

    Args:
      profile: in the format of tools/image/profile.schema.json; None gives a trace
        without slices.
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
    """Return the counted unit: instructions in QEMU, cycles on a board."""
    steps = profile["steps"] if profile else []
    return "instructions" if all("instructions" in step for step in steps) else "cycles"


def _name(kind: str, name: str, thread: int) -> dict[str, Any]:
    return {"name": kind, "ph": "M", "pid": 1, "tid": thread, "args": {"name": name}}
