# SPDX-License-Identifier: Apache-2.0
import json
from typing import Any

import pytest

from tools.ci.count_tests import count_tests

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
