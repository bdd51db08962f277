# SPDX-License-Identifier: Apache-2.0
"""The wheel on another Python, with packages from pip's index: lowering, and a library that runs.

    tools/bazel test //tests/outside:nightly_python313
    tools/bazel test //tests/outside:nightly_oldest

The first takes the newest torch, torchao and ExecuTorch in the ranges of pyproject.toml, the second
the oldest. Each fetches its Python from Debian's packages, and 3 GB more where pip finds no CPU
build of torch. WHEEL_ENVIRONMENT names an environment that has the wheel already.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from aot.upstream import VERSIONS
from tests.outside.wheel import MODEL, call, run_check
from tools.bootstrap.interpreter import set_up_python
from tools.bootstrap.pip import run_pip
from tools.bootstrap.python_env import TORCH_INDEX
from tools.lint.workspace import workspace_root
from tools.wheel.make import built_files, make_wheel

_ROOT = workspace_root()
_VERSION = os.environ["WHEEL_PYTHON"]
_SUITE = {"3.11": "bookworm", "3.13": "trixie"}[_VERSION]
"""Debian's suite with this Python."""

_PINS = [
    f"{library}=={re.split('[=,]', versions)[1]}"
    for library, versions in VERSIONS.items()
    if "OLDEST" in os.environ
]
_LOWERING = (
    "aot/accept/test_export.py",
    "aot/tests/test_lower.py",
    "aot/tests/test_recurrent.py",
    "aot/tests/test_state.py",
    "aot/tests/test_transformers.py",
    "aot/upstream",
)
"""The suite's lowering part, of the source tree."""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if prepared := os.environ.get("WHEEL_ENVIRONMENT"):
        return Path(prepared)
    folder = tmp_path_factory.mktemp("environment")
    wheel = make_wheel(_ROOT, built_files(), tmp_path_factory.mktemp("wheel"))
    python = set_up_python(_VERSION, _SUITE)
    subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
    wanted = [str(wheel), *_PINS, "hypothesis", "jsonschema", "pytest"]
    run_pip(folder / "bin/python3", ["install", f"--extra-index-url={TORCH_INDEX}", *wanted])
    return folder


def test_it_is_the_python_that_was_asked_for(environment: Path, tmp_path: Path) -> None:
    version = call(environment, tmp_path, "python3", "--version")
    assert version.startswith(f"Python {_VERSION}.")


def test_package_runs_on_the_host(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    command = ["package", "model.py", "--board=mps2_an385", "--optimize=memory", "-o", "out"]
    call(environment, tmp_path, "pilotlight", *command)
    run_check(tmp_path)


def test_lowering_for_an_npu(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    command = ["report", "model.py", "--board=corstone300_ethos_u55", "-o", "out"]
    call(environment, tmp_path, "pilotlight", *command, "--target=ethos-u55-128")
    assert "EthosUBackend" in (tmp_path / "out/lowering.json").read_text()


@pytest.mark.parametrize("tests", _LOWERING)
def test_the_suites_lowering_part(environment: Path, tests: str) -> None:
    command = [f"{environment}/bin/python3", "-m", "pytest", "-q", str(_ROOT / tests)]
    variables = {**os.environ, "PYTHONPATH": str(_ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=_ROOT, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
