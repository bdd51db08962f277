# SPDX-License-Identifier: Apache-2.0
"""Recordings have the lines of a terminal at their times."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tools.text.record import Line, lines, output_of, svg, without


def test_what_is_overwritten_ends() -> None:
    chunks = [
        (0.1, "\x1b[32mINFO:\x1b[0m 1\r\n"),
        (0.2, "[1 / 2] Linking\r\n"),
        (0.21, "\r\x1b[1A\x1b[K[2 / 2] Linking\r\n"),  # a flash
        (0.22, "\r\x1b[1A\x1b[K[3 / 3] Linking\r\n"),
        (0.4, "\r\x1b[1A\x1b[Kdone\r\n"),
        (9.0, "late"),
    ]
    found = [(x.row, x.text, round(x.start, 1), x.end and round(x.end, 1)) for x in lines(chunks)]
    assert found == [
        (0, "INFO: 1", 0.1, None),
        (1, "[3 / 3] Linking", 0.2, 0.4),
        (1, "done", 0.4, None),
        (2, "late", 1.0, None),  # after the longest pause
    ]


def test_rows_of_omitted_lines_are_closed() -> None:
    found = [Line(0, "id 1", 0.1), Line(1, "a", 0.2, 0.4), Line(1, "id b", 0.4), Line(2, "c", 0.5)]
    assert without(found, "id") == [Line(0, "a", 0.2, 0.4), Line(1, "c", 0.5)]
    assert without(found, "") == found


def test_the_picture_is_xml_without_links() -> None:
    text = svg("a <b> & c", [Line(0, "x < y", 0.5), Line(1, "gone", 0.5, 0.7), Line(1, "z", 0.7)])
    texts = [t.text for t in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["$ a <b> & c", "x < y", "gone", "z"]
    assert "href" not in text and "url(" not in text and "<script" not in text


def test_a_command_sees_a_terminal(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import os; print(os.isatty(1), os.get_terminal_size()[0])"]
    assert [line.text for line in lines(output_of(command, tmp_path))] == ["True 100"]


def test_a_command_that_fails_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        list(output_of(["false"], tmp_path))
