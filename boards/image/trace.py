# SPDX-License-Identifier: Apache-2.0
"""A profile in the Trace Event Format, which ui.perfetto.dev and chrome://tracing open."""

from typing import Any


def trace(profile: dict[str, Any] | None) -> dict[str, Any]:
    """Returns one slice an op, one after the other; an instruction, or on a board with a counter a
    cycle, is a microsecond of the picture.

    Args:
      profile: as boards/image/profile.schema.json has it; None gives a trace without slices.
    """
    unit = _unit(profile)
    events: list[dict[str, Any]] = []
    start = 0
    for step in profile["steps"] if profile else []:
        events.append(
            {
                "name": f"{step['op'].removeprefix('pl::')} {step['id']}",
                "cat": "op",
                "ph": "X",
                "pid": 1,
                "tid": 1,
                "ts": start,
                "dur": step[unit],
                "args": {key: step[key] for key in ("id", "op", "module", "function")}
                | {unit: step[unit]},
            }
        )
        start += step[unit]
    if profile:
        name = f"{profile['name']} on {profile['board']} ({profile['core']})"
        events.insert(0, _name("process_name", name))
        events.insert(1, _name("thread_name", f"one inference, {unit}"))
    return {"displayTimeUnit": "ns", "traceEvents": events}


def _unit(profile: dict[str, Any] | None) -> str:
    """What a run counted: instructions in QEMU, cycles on a board."""
    steps = profile["steps"] if profile else []
    return "instructions" if all("instructions" in step for step in steps) else "cycles"


def _name(kind: str, name: str) -> dict[str, Any]:
    return {"name": kind, "ph": "M", "pid": 1, "tid": 1, "args": {"name": name}}
