# SPDX-License-Identifier: Apache-2.0
"""Figures of pages agree with the stored baselines."""

import json
import re

from tools.lint.workspace import workspace_root

_ROOT = workspace_root()


def _instructions() -> dict[str, int]:
    """Return the instructions of the zoo's images by network."""
    found = {}
    for name in ("baseline.json", "baseline_nightly.json"):
        images = json.loads((_ROOT / "measure/size_diff" / name).read_text())
        for label, image in images.items():
            if match := re.fullmatch(r"//aot/models/zoo:(\w+)_app", label):
                found[match[1]] = image["instructions"]
    return found


def test_the_zoos_table_has_the_instructions_of_the_baselines() -> None:
    """Within 1 %, as //measure/size_diff allows."""
    page = (_ROOT / "aot/models/README.md").read_text().partition("## The zoo")[2]
    rows = dict(re.findall(r"^(\w+) +[\d,]+ +[\d.]+ dB .* ([\d,]+)$", page, re.MULTILINE))
    shown = {name: int(count.replace(",", "")) for name, count in rows.items()}
    expected = _instructions()
    assert len(shown) == 21 and shown.keys() == expected.keys()
    assert [n for n in shown if abs(shown[n] - expected[n]) > 0.01 * expected[n]] == []
