# SPDX-License-Identifier: Apache-2.0
"""Add cycles to the report of an image, from a board's profile or an estimated one."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

Fields = dict[str, Any]

# A step's cycles in a profile, and where they are from.
_KINDS = {"cycles": "measured", "cycles_estimate": "estimated"}

_CHIP = "estimated_for"

_SAME = ("step", "id", "op", "module", "function")


class ReportCyclesError(Exception):
    """Profile not matching a report; the text gives the reason."""


def with_cycles(report: Fields, profile: Fields) -> Fields:
    """Return the report with the cycles of steps, and their source.

    Args:
      report: as returned by join().
      profile: in the format of tools/image/profile.schema.json, of the same image.

    Raises:
      CyclesError: the profile has no cycles, or is of another image.
    """
    key = next((key for key in _KINDS if any(key in step for step in profile["steps"])), "")
    if not key:
        raise ReportCyclesError(
            "the profile has no cycles per step. With --//firmware/runtime:profile_steps, `.run` "
            "measures them on a board and `.cycles` estimates them"
        )
    by_plan: dict[str, list[Fields]] = defaultdict(list)
    for step in profile["steps"]:
        by_plan[step["plan"]].append(step)
    models = report["models"]
    left = list(models)  # models with the same steps take the plans in their order
    for plan, steps in by_plan.items():
        cycles = {_identity(step): step.get(key) for step in steps}
        found = [one for one in left if cycles.keys() <= {_identity(s) for s in one["steps"]}]
        if profile["name"] != report["name"] or not found:
            raise ReportCyclesError(
                f"the profile belongs to another build: {report['name']} has no plan with the "
                f"steps of {profile['name']}'s {plan}"
            )
        left.remove(found[0])
        counted = [step | {"cycles": cycles.get(_identity(step))} for step in found[0]["steps"]]
        models = [one | {"steps": counted} if one is found[0] else one for one in models]
    chip = {_CHIP: profile[_CHIP]} if _CHIP in profile else {}
    return report | {"models": models, "cycles_are": _KINDS[key]} | chip


def _identity(step: Fields) -> tuple[Any, ...]:
    return tuple(step[key] for key in _SAME)
