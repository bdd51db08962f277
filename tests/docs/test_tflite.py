# SPDX-License-Identifier: Apache-2.0
"""The page of .tflite files agrees with the importer."""

import re

from aot.importers.tflite.ops import BUILTINS
from aot.importers.tflite.variables import STREAMING
from tools.lint.workspace import workspace_root

_PAGE = (workspace_root() / "docs" / "tflite.md").read_text()
(_SUPPORTED,) = re.findall(r"^## What is supported$(.*?)^## ", _PAGE, re.MULTILINE | re.DOTALL)


def test_every_builtin_has_a_row() -> None:
    rows = re.findall(r"^\| (`.*?) \|", _SUPPORTED, re.MULTILINE)
    listed = re.findall(r"`([A-Z0-9_]+)`", " ".join(rows))
    assert sorted(listed) == sorted([*BUILTINS, *STREAMING])
