# SPDX-License-Identifier: Apache-2.0
import pytest

from tools.text.table import table

ROWS = [("one", "1", "x y"), ("three", "1,000", "")]


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ({}, ["one    1      x y", "three  1,000"]),
        ({"align": "lr"}, ["one        1  x y", "three  1,000"]),
        ({"align": "rr", "indent": "  "}, ["    one      1  x y", "  three  1,000"]),
    ],
)
def test_columns_have_one_width(options: dict[str, str], lines: list[str]) -> None:
    assert table(ROWS, **options).splitlines() == lines


def test_cells_are_printed_as_they_are() -> None:
    assert table([(1.50, "007", "1e3")]) == "1.5  007  1e3"
    assert table([]) == ""
