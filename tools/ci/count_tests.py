# SPDX-License-Identifier: Apache-2.0
"""Counts the test targets that passed and failed in a `bazel test`, from its own record.

    python3 count_tests.py EVENTS

EVENTS is what `--build_event_json_file` wrote; any Python will do, as for the bootstrap. Prints
what failed, a line each, and last the line "N passed, N failed". A test that did not run counts as
failed; so does any other target that was asked for and could not be built.

Names also the tests that took more than a tenth of their limit. On a quiet machine there are none;
else the test should be of a greater size: on a busy machine it would run into its limit.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path

_PASSED = ("PASSED", "FLAKY")


def count_tests(lines: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """Returns the labels that passed, and for each other label what became of it."""
    asked: set[str] = set()
    outcome: dict[str, str] = {}
    skipped: set[str] = set()
    for line in lines:
        event = json.loads(line)
        identity = event.get("id", {})
        if event.get("aborted", {}).get("reason") == "SKIPPED":
            # Not for this platform: neither passed nor failed.
            skipped.update(value["label"] for value in identity.values() if "label" in value)
        elif "targetConfigured" in identity:
            label = identity["targetConfigured"]["label"]
            if event.get("configured", {}).get("testSize"):
                asked.add(label)
            elif "aborted" in event:
                outcome[label] = event["aborted"].get("reason", "ABORTED")
        elif "targetCompleted" in identity and "completed" in event:
            if not event["completed"].get("success"):
                outcome.setdefault(identity["targetCompleted"]["label"], "FAILED TO BUILD")
        elif "testSummary" in identity and "testSummary" in event:
            status = event["testSummary"].get("overallStatus", "NO_STATUS")
            outcome[identity["testSummary"]["label"]] = status
    passed = sorted(label for label, status in outcome.items() if status in _PASSED)
    failed = {label: "DID NOT RUN" for label in asked - skipped if label not in outcome}
    failed.update({label: outcome[label] for label in outcome if outcome[label] not in _PASSED})
    return passed, failed


def _seconds(duration: str) -> float:
    return float(duration.removesuffix("s"))


def slow_tests(lines: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Returns the seconds taken and allowed, by label, where ten times the first is more."""
    taken: dict[str, float] = {}
    allowed: dict[str, float] = {}
    for line in lines:
        event = json.loads(line)
        identity = event.get("id", {})
        if "testAttemptDuration" in event.get("testResult", {}):
            label = identity["testResult"]["label"]
            seconds = _seconds(event["testResult"]["testAttemptDuration"])
            taken[label] = max(seconds, taken.get(label, 0))
        elif "testTimeout" in event.get("completed", {}):
            label = identity["targetCompleted"]["label"]
            allowed[label] = _seconds(event["completed"]["testTimeout"])
    return {
        label: (seconds, allowed[label])
        for label, seconds in taken.items()
        if 10 * seconds > allowed[label]
    }


def main(events: Path) -> None:
    lines = events.read_text(encoding="utf-8").splitlines()
    passed, failed = count_tests(lines)
    for label, (seconds, limit) in sorted(slow_tests(lines).items()):
        print(f"{label} took {seconds:.0f} s, more than a tenth of its limit of {limit:.0f} s")
    for label, status in sorted(failed.items()):
        print(f"{status}: {label}")
    print(f"{len(passed)} passed, {len(failed)} failed")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
