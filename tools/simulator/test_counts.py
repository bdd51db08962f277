# SPDX-License-Identifier: Apache-2.0
from collections import Counter
from pathlib import Path

import pytest

from tools.simulator.counts import Counts, CountsError, Region, read_counts


def test_what_the_plugin_writes(tmp_path: Path) -> None:
    file = tmp_path / "counts"
    file.write_text("total 25\nat 64 - 7\nregion 3 2 18\nat 64 3 8\nat 66 3 10\n")
    counts = read_counts(file)
    assert counts == Counts(
        total=25, regions={3: Region(2, 18, Counter({64: 8, 66: 10}))}, outside=Counter({64: 7})
    )
    assert counts.at() == {64: 15, 66: 10}


def test_regions_of_plans(tmp_path: Path) -> None:
    file = tmp_path / "counts"
    steps = "plan 4096\nregion 1 1 4\nat 64 1 4\nplan 32\nregion 1 1 5\nat 64 1 5\n"
    file.write_text(f"total 9\nregion 0 2 9\n{steps}")
    counts = read_counts(file)
    assert counts.regions == {0: Region(2, 9)}
    assert counts.plans == {
        4096: {1: Region(1, 4, Counter({64: 4}))},
        32: {1: Region(1, 5, Counter({64: 5}))},
    }
    assert counts.at() == {64: 9}


def test_marks_that_do_not_fit_together(tmp_path: Path) -> None:
    file = tmp_path / "counts"
    file.write_text("error region 3 does not end\ntotal 25\n")
    with pytest.raises(CountsError, match="^region 3 does not end$"):
        read_counts(file)


def test_no_counts(tmp_path: Path) -> None:
    with pytest.raises(CountsError, match="wrote no counts"):
        read_counts(tmp_path / "counts")


def test_reads_of_flash(tmp_path: Path) -> None:
    file = tmp_path / "counts"
    file.write_text("total 8\nregion 3 2 8\nat 64 3 8\nloads 64 3 5\n")
    assert read_counts(file).regions[3].loads == {64: 5}
