# SPDX-License-Identifier: Apache-2.0
from collections import Counter
from pathlib import Path

import pytest

from boards.simulator.counts import Counts, CountsError, Region, read_counts


def test_what_the_plugin_writes(tmp_path: Path) -> None:
    file = tmp_path / "counts"
    file.write_text("total 25\nat 64 - 7\nregion 3 2 18\nat 64 3 8\nat 66 3 10\n")
    counts = read_counts(file)
    assert counts == Counts(
        total=25, regions={3: Region(2, 18, Counter({64: 8, 66: 10}))}, outside=Counter({64: 7})
    )
    assert counts.at() == {64: 15, 66: 10}


def test_marks_that_do_not_fit_together(tmp_path: Path) -> None:
    file = tmp_path / "counts"
    file.write_text("error region 3 does not end\ntotal 25\n")
    with pytest.raises(CountsError, match="^region 3 does not end$"):
        read_counts(file)


def test_no_counts(tmp_path: Path) -> None:
    with pytest.raises(CountsError, match="wrote no counts"):
        read_counts(tmp_path / "counts")
