# SPDX-License-Identifier: Apache-2.0
"""Every kind of doubt that lowering has is on its page and in the report's schema."""

import json
import re
from typing import get_args

from aot.quality.finding import Kind
from tools.lint.workspace import workspace_root

_ROOT = workspace_root()
_PAGE = (_ROOT / "docs" / "quality.md").read_text().partition("## Warnings")[2]
_SCHEMA = json.loads((_ROOT / "aot/artefact/report.schema.json").read_text())


def test_every_kind_has_a_row() -> None:
    rows = [line.split("|")[1] for line in _PAGE.splitlines() if line.startswith("| `")]
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(get_args(Kind))


def test_every_kind_is_in_the_schema() -> None:
    kinds = _SCHEMA["properties"]["warnings"]["items"]["properties"]["kind"]["enum"]
    assert kinds == [*get_args(Kind)]
