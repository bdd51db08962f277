# SPDX-License-Identifier: Apache-2.0
"""Subjects of commits have the form that CONTRIBUTING.md asks for."""

from pathlib import Path

import pytest

from tools.lint.subject import main, problem


@pytest.mark.parametrize(
    "subject",
    [
        "plan: write shapes and layouts into the header",
        "tests/docs: compare lists of files with folders",
        "README: show a recording first",
        "boards: bring a chip",
        'Revert "plan: write shapes and layouts into the header of every plan there is"',
        "a: " + "b" * 62,
    ],
)
def test_right(subject: str) -> None:
    assert problem(subject) == ""


@pytest.mark.parametrize(
    ("subject", "says"),
    [
        ("a: " + "b" * 63, "has 66 characters"),
        ("Write shapes into the header", "area: imperative"),
        ("plan: write shapes.", "without a period"),
        ("plan:write shapes", "area: imperative"),
        ("plan: writing shapes", "begins with 'writing'"),
        ("plan: what apps read", "begins with 'what'"),
        ("", "area: imperative"),
    ],
)
def test_wrong(subject: str, says: str) -> None:
    assert says in problem(subject)


def test_a_hook_gives_a_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    message = tmp_path / "message"
    message.write_text("plan: write shapes\n\n" + "reasons " * 20)
    assert main([str(message)]) == 0
    message.write_text("plan: The shapes\n")
    assert main([str(message)]) == 1
    assert "plan: The shapes\n  begins with 'The'" in capsys.readouterr().err
