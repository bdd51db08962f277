# SPDX-License-Identifier: Apache-2.0
"""Variables PILOTLIGHT_…: pages list exactly those read by the code."""

import re

from tools.doctor.variables import VARIABLES
from tools.lint.workspace import source_files, workspace_root

_ROOT = workspace_root()
_NAME = re.compile(r"\bPILOTLIGHT_[A-Z][A-Z_]*[A-Z]\b")

# Between programs of the build; users do not set them.
_INTERNAL = {"PILOTLIGHT_RESULT"}


def _named(patterns: list[str], exclude: list[str]) -> set[str]:
    files = source_files(_ROOT, patterns, exclude)
    return {name for file in files for name in _NAME.findall((_ROOT / file).read_text())}


def test_pages_name_the_variables_that_code_reads() -> None:
    read = _named(["*.py", "*.bzl"], ["*/test_*.py", "tests/docs/*", "tools/doctor/*"])
    pages = _named(["*.md"], [])
    assert len(read) > 10
    assert pages == read - _INTERNAL


def test_doctor_shows_the_variables_that_pages_name() -> None:
    assert set(VARIABLES) == _named(["*.md"], [])
