# SPDX-License-Identifier: Apache-2.0
"""`//:nightly` runs all tests with the tag "manual"; docs/nightly.md lists its suites.

Claims of an image's evidence name tests.
"""

from __future__ import annotations

import re

from tests.docs.starlark import Starlark
from tools.evidence.claims import CLAIMS
from tools.lint.workspace import source_files, workspace_root

_ROOT = workspace_root()


def _tests() -> tuple[set[str], set[str], dict[str, list[str]]]:
    """Return all tests, the manual tests, and the tests of each suite."""
    starlark = Starlark(_ROOT)
    tests, manual, suites = set(), set(), {}
    for file in source_files(_ROOT, ["BUILD.bazel", "*/BUILD.bazel"]):
        package = file.rpartition("/")[0]
        for kind, rule in starlark.package(package):
            label = f"//{package}:{rule.get('name')}"
            if kind == "test_suite":
                names = [name.removeprefix(":") for name in rule["tests"]]
                suites[label] = [n if n.startswith("//") else f"//{package}:{n}" for n in names]
            elif kind.endswith("_test"):
                tests.add(label)
                if "manual" in (rule.get("tags") or []):
                    manual.add(label)
    return tests, manual, suites


def test_every_manual_test_is_in_the_nightly_suite() -> None:
    tests, manual, suites = _tests()
    run = list(suites["//:nightly"])
    for label in run:
        run += suites.get(label, [])
    assert len(manual) > 100
    missing = sorted(manual - set(run))
    assert missing == [], "add them to a suite of //:nightly in BUILD.bazel"
    unknown = [label for label in run if label not in tests | suites.keys()]
    assert unknown == [], "there are no such tests"


def test_the_page_lists_the_suites() -> None:
    page = (_ROOT / "docs" / "nightly.md").read_text()
    rows = re.findall(r"^\| `(//[^`]+)` \|", page, re.MULTILINE)
    starlark = Starlark(_ROOT)
    (suite,) = (rule for _, rule in starlark.package("") if rule.get("name") == "nightly")
    assert rows == suite["tests"]


def test_claims_name_tests_and_pages() -> None:
    tests, manual, _ = _tests()
    for claim in CLAIMS:
        labels = {f"//{test}" for test in claim.tests}
        assert labels
        assert labels - tests == set(), claim.text
        assert (labels & manual == labels) if claim.nightly else not labels & manual, claim.text
        assert (_ROOT / claim.page).is_file(), claim.text
