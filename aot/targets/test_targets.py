# SPDX-License-Identifier: Apache-2.0
"""Places to find targets, and errors for missing ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aot.backends.cortex_m import CORTEX_M
from aot.backends.target import Target
from aot.errors import LoweringError
from aot.targets import target_named

_MINE = Target("mine", (CORTEX_M,))
GOOD = """
from aot.backends.cortex_m import CORTEX_M
from aot.backends.target import Target
NAME = "mine"
TARGET = Target(NAME, (CORTEX_M,))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's working directory."""
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(tmp_path))
    (tmp_path / "soc").mkdir()
    (tmp_path / "soc/mine.py").write_text(GOOD)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_targets_by_name_file_and_module(folder: Path) -> None:
    assert target_named("cortex-m").name == "cortex-m"
    assert target_named("soc/mine.py:TARGET").name == "mine"
    assert target_named(f"{folder}/soc/mine.py:TARGET").name == "mine"
    assert target_named("soc.mine:TARGET").name == "mine"


def test_a_module_in_a_folder_with_a_hyphen(folder: Path) -> None:
    (folder / "my-soc").mkdir()
    (folder / "my-soc/my-npu.py").write_text(GOOD)
    assert target_named("my-soc.my-npu:TARGET").name == "mine"


# reference: the error message
BAD = {
    "cortex-a": r"target 'cortex-a' does not exist .*. Targets: cortex-m, .*, mcxn947\.",
    "soc/other.py:TARGET": "soc/other.py:TARGET: file .*/soc/other.py does not exist",
    "soc:py:TARGET": "'soc:py:TARGET' is not of the form pkg.module:name or path/to/file.py:name",
    "soc/mine.py:": "is not of the form",
    "soc/mine.py:OTHER": "soc/mine.py:OTHER: soc/mine.py has no 'OTHER'",
    "soc/mine.py:NAME": r"soc/mine.py:NAME must be an aot.backends.target.Target\(.* it is 'mine'",
    "soc.none:TARGET": "No module named 'soc.none'. Check that the py_library is in deps",
}


@pytest.mark.parametrize("reference", BAD)
def test_what_is_no_target(reference: str, folder: Path) -> None:
    with pytest.raises(LoweringError, match=BAD[reference]):
        target_named(reference)


def test_what_is_no_verification() -> None:
    with pytest.raises(LoweringError, match="verify_npu must be one of cut, fail, off; got 'on'"):
        target_named("ethos-u55-128", "on")


@pytest.mark.parametrize("reference", ["cortex-m", "tflite", "imxrt700", "soc.py:T", _MINE])
def test_a_target_without_an_ethos_u_takes_no_verification(reference: str | Target) -> None:
    with pytest.raises(LoweringError, match="verify_npu is 'off', but .*Remove .* ethos-u55-128"):
        target_named(reference, "off")


@pytest.mark.parametrize("reference", ["cortex-m", "ethos-u55-128", _MINE])
def test_a_target_without_a_neutron_takes_no_presence(reference: str | Target) -> None:
    with pytest.raises(LoweringError, match="neutron is 'auto', but .*: only the targets imxrt700"):
        target_named(reference, neutron="auto")


@pytest.mark.parametrize("reference", [None, CORTEX_M])
def test_what_is_no_text(reference: Any) -> None:
    with pytest.raises(LoweringError, match=r"target must be a Target or a name .* got \w+"):
        target_named(reference)


# text of the file: the error message
BROKEN = {
    "TARGET = (": r"the module cannot be imported: SyntaxError: .* \(mine.py, line 1\)$",
    "\nimport no_such_sdk": "mine.py:TARGET: the module imports no_such_sdk, which is not",
    "import json\nTARGET = json.loads('')": r"cannot be imported: JSONDecodeError \(mine.py:2\): ",
    "\nTARGET = 1 / 0": r"cannot be imported: ZeroDivisionError \(mine.py:2\): division by zero",
    GOOD.replace("(CORTEX_M,)", "()"): "target 'mine': the last backend must be ",
}


@pytest.mark.parametrize("text", BROKEN)
def test_files_that_cannot_be_read(text: str, folder: Path) -> None:
    (folder / "mine.py").write_text(text)
    with pytest.raises(LoweringError, match=BROKEN[text]):
        target_named("mine.py:TARGET")
