# SPDX-License-Identifier: Apache-2.0
"""The page contains its report, as far as the size limit allows."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tools.report.page import LIMIT, PageError, page
from tools.report.testing import Fields, joined, many, unpacked


def held(text: str) -> Fields:
    """The report in a page."""
    (data,) = re.findall(
        r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL
    )
    return unpacked(json.loads(data))


def test_the_page_holds_the_data_and_needs_nothing_else(tmp_path: Path) -> None:
    library = tmp_path / "library.js"
    library.write_text("const it = 1;")
    report = joined()
    report["models"][0]["ops"][0]["module"] = "</script><b>"
    text = page(report, [library])
    assert held(text) == report | {"shortened": [], "graph": True}
    assert "const it = 1;" in text and "{{" not in text
    assert not re.search(r'(?:src|href)="(?!#)', text) and "@import" not in text
    library.write_text(" " * LIMIT)
    with pytest.raises(PageError, match="bytes; .* at most"):
        page(report, [library])


@pytest.mark.parametrize(
    ("times", "shortened", "has_graph"),
    [(10, 0, True), (300, 2, True), (1200, 3, True), (2500, 3, False)],
)
def test_a_page_of_many_ops_is_shortened_and_says_so(
    times: int, shortened: int, has_graph: bool
) -> None:
    report = many(joined(), times)
    text = page(report, [])
    assert len(text) <= LIMIT
    data = held(text)
    assert (len(data["shortened"]), data["graph"]) == (shortened, has_graph)
    for key in ("memories", "instructions", "advice", "stack"):
        assert data[key] == report[key]
    # Symbols not shown one by one are in the sums.
    assert sum(s["bytes"] for s in data["symbols"]) == sum(s["bytes"] for s in report["symbols"])
    (before,), (after,) = report["models"], data["models"]
    sums = [sum(s["instructions"] for s in model["steps"]) for model in (before, after)]
    assert sums[0] == sums[1]
    costliest = max(before["steps"], key=lambda step: step["instructions"])
    assert set(costliest["ops"]) <= {op["id"] for op in after["ops"]}


def test_every_part_of_the_page_is_there() -> None:
    """The HTML has all ids the scripts look up."""
    folder = Path("tools/report/page")
    html = (folder / "index.html").read_text()
    scripts = "".join(path.read_text() for path in folder.glob("*.js"))
    wanted = set(re.findall(r'\bat\("([\w-]+)"\)', scripts))
    assert wanted and all(f'id="{name}"' in html for name in wanted)
