# SPDX-License-Identifier: Apache-2.0
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tools.ci.count_tests import count_tests, slow_tests

Event = dict[str, Any]


def configured(label: str, test: bool = True) -> Event:
    content = {"testSize": "MEDIUM"} if test else {"targetKind": "cc_library rule"}
    return {"id": {"targetConfigured": {"label": label}}, "configured": content}


def completed(label: str, success: bool) -> Event:
    content: Event = {"success": True} if success else {"failureDetail": {}}
    return {"id": {"targetCompleted": {"label": label}}, "completed": content}


def aborted(kind: str, label: str, reason: str) -> Event:
    return {"id": {kind: {"label": label}}, "aborted": {"reason": reason}}


def summary(label: str, status: str) -> Event:
    return {"id": {"testSummary": {"label": label}}, "testSummary": {"overallStatus": status}}


CASES: dict[str, tuple[list[Event], int, dict[str, str]]] = {
    "nothing ran": ([{"id": {"started": {}}}], 0, {}),
    "passed": ([configured("//a"), completed("//a", True), summary("//a", "PASSED")], 1, {}),
    "flaky": ([configured("//a"), completed("//a", True), summary("//a", "FLAKY")], 1, {}),
    "failed": (
        [configured("//a"), completed("//a", True), summary("//a", "FAILED")],
        0,
        {"//a": "FAILED"},
    ),
    "time limit": (
        [configured("//a"), completed("//a", True), summary("//a", "TIMEOUT")],
        0,
        {"//a": "TIMEOUT"},
    ),
    "test not built": (
        [configured("//a"), completed("//a", False)],
        0,
        {"//a": "FAILED TO BUILD"},
    ),
    "library not built": (
        [configured("//a", test=False), completed("//a", False)],
        0,
        {"//a": "FAILED TO BUILD"},
    ),
    "library built": ([configured("//a", test=False), completed("//a", True)], 0, {}),
    "not analysed": (
        [aborted("targetConfigured", "//a", "ANALYSIS_FAILURE")],
        0,
        {"//a": "ANALYSIS_FAILURE"},
    ),
    "built but not run": (
        [configured("//a"), completed("//a", True)],
        0,
        {"//a": "DID NOT RUN"},
    ),
    "interrupted": (
        [
            configured("//a"),
            aborted("targetCompleted", "//a", "USER_INTERRUPTED"),
            configured("//library", test=False),
            aborted("targetCompleted", "//library", "USER_INTERRUPTED"),
        ],
        0,
        {"//a": "DID NOT RUN"},
    ),
    "not for this platform": (
        [configured("//a"), aborted("targetCompleted", "//a", "SKIPPED")],
        0,
        {},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_count(name: str) -> None:
    events, passed, failed = CASES[name]
    got_passed, got_failed = count_tests(json.dumps(event) for event in events)
    assert (len(got_passed), got_failed) == (passed, failed)


def took(label: str, seconds: float) -> Event:
    content = {"testAttemptDuration": f"{seconds}s", "status": "PASSED"}
    return {"id": {"testResult": {"label": label}}, "testResult": content}


def limited(label: str, seconds: int) -> Event:
    content = {"success": True, "testTimeout": f"{seconds}s"}
    return {"id": {"targetCompleted": {"label": label}}, "completed": content}


SLOW: dict[str, tuple[list[Event], dict[str, tuple[float, float]]]] = {
    "nothing ran": ([limited("//a", 60)], {}),
    "a tenth": ([limited("//a", 60), took("//a", 6.0)], {}),
    "more": ([limited("//a", 60), took("//a", 6.001)], {"//a": (6.001, 60.0)}),
    "each by its own limit": (
        [limited("//a", 300), limited("//b", 3000), took("//a", 66.0), took("//b", 66.0)],
        {"//a": (66.0, 300.0)},
    ),
    "the slowest attempt": (
        [limited("//a", 60), took("//a", 1.5), took("//a", 7.0), took("//a", 2.5)],
        {"//a": (7.0, 60.0)},
    ),
}


@pytest.mark.parametrize("name", SLOW)
def test_slow(name: str) -> None:
    events, expected = SLOW[name]
    assert slow_tests(json.dumps(event) for event in events) == expected


def test_limits_are_ten_times_what_a_size_is_for() -> None:
    options = re.findall(r"^test --test_timeout=(.*)$", Path(".bazelrc").read_text(), re.MULTILINE)
    bazels_own = [60, 300, 900, 3600]
    assert options == [",".join(str(10 * seconds) for seconds in bazels_own)]
