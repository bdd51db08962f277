# SPDX-License-Identifier: Apache-2.0
import io
import sys
from collections import Counter
from typing import Any

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
def test_columns_have_one_width(options: dict[str, Any], lines: list[str]) -> None:
    assert table(ROWS, **options).splitlines() == lines


def test_cells_are_printed_as_they_are() -> None:
    assert table([(1.50, "007", "1e3")]) == "1.5  007  1e3"
    assert table([]) == ""


LONG = [
    ("symbol", "before", "after"),
    ("constant_of_the_third_layer (aot/models)", "10,000", "11,000"),
    ("main", "7", "8"),
]


def test_in_a_narrow_window_text_goes_on_in_the_next_line() -> None:
    assert table(LONG, "lrr", width=60).splitlines() == table(LONG, "lrr").splitlines()
    assert table(LONG, "lrr", "  ", width=40).splitlines() == [
        "  symbol                  before   after",
        "  constant_of_the_third_  10,000  11,000",
        "  layer (aot/models)",
        "  main                         7       8",
    ]


def test_where_that_is_not_enough_a_row_is_a_paragraph() -> None:
    assert table(LONG, "lrr", width=24).splitlines() == [
        "constant_of_the_third_",
        "layer (aot/models)",
        "  before  10,000",
        "  after   11,000",
        "main",
        "  before  7",
        "  after   8",
    ]


@pytest.mark.parametrize("width", range(24, 90))
@pytest.mark.parametrize("align", ["lrr", "rlr", "lll"])
def test_no_line_is_wider_than_the_window_and_nothing_is_lost(align: str, width: int) -> None:
    rows = [*LONG, ("x" * 50, "a word and another", "")]
    text = table(rows, align, width=width)
    assert max(map(len, text.splitlines())) <= width
    wanted = Counter(letter for row in rows[1:] for cell in row for letter in cell)
    assert all(text.count(letter) >= n for letter, n in wanted.items() if not letter.isspace())


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_window_is_the_terminals_and_a_pipe_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert len(table(LONG, "lrr").splitlines()) == 3
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert len(table(LONG, "lrr").splitlines()) == 4
