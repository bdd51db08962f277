# SPDX-License-Identifier: Apache-2.0
"""README.md lists all passes."""

from __future__ import annotations

from aot.passes.page import PAGE, first_sentence, page
from tools.lint.workspace import workspace_root


def test_page_is_current() -> None:
    root = workspace_root()
    assert (root / PAGE).read_text() == page(root), "bazel run //aot/passes:page -- --update"


def test_first_sentence() -> None:
    assert first_sentence('"""Fold a | b.\n\nMore."""') == "Fold a \\| b"
    assert first_sentence('"""Fold a\nand b. More."""') == "Fold a and b"
