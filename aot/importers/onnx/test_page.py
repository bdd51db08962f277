# SPDX-License-Identifier: Apache-2.0
"""docs/onnx.md lists all operators."""

from __future__ import annotations

from aot.importers.onnx.page import PAGE, updated
from tools.lint.workspace import workspace_root


def test_page_is_current() -> None:
    text = (workspace_root() / PAGE).read_text()
    assert text == updated(text), "bazel run //aot/importers/onnx:page -- --update"
