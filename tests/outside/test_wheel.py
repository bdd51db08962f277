# SPDX-License-Identifier: Apache-2.0
"""`pip install .`: the wheel, and its two commands in an environment that has what it asks for."""

import ast
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tools.lint.workspace import source_files, workspace_root

ROOT = workspace_root()

# pip's name of a package, where it is imported by another one.
_IMPORTED_AS = {"absl-py": "absl", "ethos-u-vela": "ethosu", "pyelftools": "elftools"}

_MODEL = """\
import torch


def factory():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU()).eval()


def calibration():
    yield (torch.linspace(-1, 1, 8).reshape(1, 8),)
"""

_BOARD = Path("boards/host/host.json").absolute()


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    # pip leaves files in the source tree.
    for name in source_files(ROOT, ["*.py", "pyproject.toml", "README.md", "LICENSE"]):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    offline = ["--no-build-isolation", "--no-deps", "--no-index"]
    _pip("wheel", *offline, f"--wheel-dir={folder}/dist", str(folder))
    (made,) = (folder / "dist").iterdir()
    return made


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel, which finds the wheel's dependencies in this one."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python3.*/site-packages")
    (packages / "these.pth").write_text(sysconfig.get_path("purelib") + "\n")
    offline = ["--no-compile", "--no-deps", "--no-index"]
    _pip(f"--python={folder}/bin/python3", "install", *offline, str(wheel))
    return folder


# Needs Vela and TOSA's reference model; lowering for it says so where it is not there.
ETHOS_U = "aot.backends.ethos_u.backend"


def _imports(text: bytes) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def _has(modules: Iterable[str], name: str) -> bool:
    """Whether a module, or a folder of modules, is in the wheel."""
    path = name.replace(".", "/")
    return any(module == f"{path}.py" or module.startswith(f"{path}/") for module in modules)


def test_wheel_has_no_tests_and_asks_for_what_it_imports(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        modules = {n: archive.read(n) for n in archive.namelist() if n.endswith(".py")}
    assert {"aot/lower_main.py", "firmware/plan/compile.py"} <= set(modules)
    assert [n for n in modules if re.search(r"(^|/)(test_|testing|cases|conftest)", n)] == []
    imported = {name for text in modules.values() for name in _imports(text)}
    missing = {n for n in imported if (ROOT / n.split(".")[0]).is_dir() and not _has(modules, n)}
    assert missing == {ETHOS_U}
    roots = {name.split(".")[0] for name in imported} - set(sys.stdlib_module_names)
    foreign = {name for name in roots if not (ROOT / name).is_dir()}
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = [item.split("==")[0] for item in asked]
    assert {_IMPORTED_AS.get(name, name) for name in names} == foreign
    pinned = (ROOT / "tools/python/requirements.in").read_text().replace("+cpu", "").split()
    assert [item for item in asked if "==" in item and item not in pinned] == []


def test_commands_lower_and_plan(environment: Path, tmp_path: Path) -> None:
    """Where the user's own folders have the names of packages of the wheel."""
    folders = ("aot", "boards", "firmware", "kernels", "tools")
    for folder in folders:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").touch()
        (tmp_path / folder / "mine.py").write_text("WEIGHT = 1\n")
    imports = "".join(f"import {folder}.mine\n" for folder in folders)
    (tmp_path / "net.py").write_text(imports + _MODEL)
    for command in (
        "pilotlight-lower --model=net:factory --calibration=net:calibration --output=net.pte",
        f"pilotlight-plan --pte=net.pte --board={_BOARD} --name=net --source=net.c --header=net.h",
    ):
        program, *arguments = command.split()
        done = subprocess.run(
            [environment / "bin" / program, *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={"PATH": "/usr/bin:/bin"},
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert "pl_linear_s8" in (tmp_path / "net.c").read_text()
    assert "extern const pl_plan net;" in (tmp_path / "net.h").read_text()


@pytest.mark.parametrize(
    ("program", "flag"), [("pilotlight-lower", "--calibration"), ("pilotlight-plan", "--board")]
)
def test_commands_explain_themselves(environment: Path, program: str, flag: str) -> None:
    done = subprocess.run([environment / "bin" / program, "--help"], capture_output=True, text=True)
    assert flag in done.stdout and done.returncode == 0, done.stderr
