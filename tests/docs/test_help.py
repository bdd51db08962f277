# SPDX-License-Identifier: Apache-2.0
"""Every program prints its usage with --help, with examples in the text. Longer programs print one
line when they are stopped.
"""

import ast
import re
from pathlib import Path

import pytest

from tools.lint.workspace import source_files, workspace_root

_ROOT = workspace_root()

# Started by other programs alone: before there is a Bazel, by Bazel for a test, for fixtures.
_NOT_CALLED = ["tools/bootstrap/*", "tools/python/pytest_main.py", "tests/*", "*/tests/*"]


def _programs() -> list[str]:
    found = source_files(_ROOT, ["*.py"], [*_NOT_CALLED, "*/testing/*"])
    return [name for name in found if '\nif __name__ == "__main__":' in (_ROOT / name).read_text()]


# Targets of every image; users call them the same way.
_OF_IMAGES = ["debug", "flash", "fvp", "on_board", "sign", "sim", "size_table"]


@pytest.mark.parametrize("program", _OF_IMAGES)
def test_help_of_what_images_have_names_the_target(program: str) -> None:
    text = (_ROOT / f"tools/image/{program}.py").read_text()
    assert re.search(r"^ *bazel run //\S*:\w+\.\w+", text, re.MULTILINE)


def test_programs_are_found() -> None:
    assert {"aot/lower_main.py", "measure/matrix/survey.py"} < set(_programs())
    assert len(_programs()) > 30


@pytest.mark.parametrize("program", _programs())
def test_help_has_an_example(program: str) -> None:
    module = ast.parse((_ROOT / program).read_text())
    text = ast.get_docstring(module, clean=False) or ""
    lines = [
        line.strip().removeprefix("python3 ").removeprefix("tools/") for line in text.splitlines()
    ]
    # The command for programs in Bazel; name and arguments for programs called by rules.
    starts = (
        "bazel run //",
        f"{Path(program).stem.removesuffix('_main')} ",
        f"{Path(program).stem} ",
        "pilotlight ",
        f"{Path(program).name} ",
    )
    assert any(line.startswith(starts) for line in lines), text


# Rules start them, for somebody who looks on or calls them with arguments.
_OF_RULES = ["tools/image/run.py", "aot/slot/pack.py"]


def _called() -> list[str]:
    """Return the programs called by people, including those of tests."""
    found = [*_OF_RULES]
    for name in source_files(_ROOT, ["*.py"], ["tools/bootstrap/*"]):
        text = (_ROOT / name).read_text()
        help_ = ast.get_docstring(ast.parse(text)) or ""
        is_program = '\nif __name__ == "__main__":' in text
        if is_program and re.search(r"^ *(tools/)?bazel run //", help_, re.MULTILINE):
            found.append(name)
    return found


@pytest.mark.parametrize("program", _called())
def test_a_program_can_be_stopped(program: str) -> None:
    text = (_ROOT / program).read_text()
    assert re.search(r"run_main\(main\)|stoppable\(main\)", text.split("__main__")[1])
    assert "\nimport torch" not in text, "that takes seconds, too: tools/imports.py"


def test_programs_that_people_call_are_found() -> None:
    called = {"tools/image/sign.py", "tools/image/run.py", "aot/slot/pack.py"}
    assert called < {*_called()} and len(_called()) > 40
