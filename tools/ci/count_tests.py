# SPDX-License-Identifier: Apache-2.0
"""Count the passed and failed test targets of a `bazel test`, from its event log.

    python3 count_tests.py EVENTS

EVENTS is the file of `--build_event_json_file`. Any Python runs it, like the bootstrap. The output
has one line for each failure, and the last line "N passed, N failed". A test that did not run
counts as failed. Any other requested target also counts as failed if it could not be built.

The output also lists tests that took more than a tenth of their limit. There are none on a quiet
machine. A listed test needs a larger size: it would reach its limit on a busy machine.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path

_PASSED = ("PASSED", "FLAKY")


def count_tests(lines: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """Return the labels of passed tests, and the result of every other label."""
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
    """Return the seconds taken and allowed, by label, where ten times the first is more."""
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
