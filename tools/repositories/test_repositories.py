# SPDX-License-Identifier: Apache-2.0
"""Where the repository rules take their tools from: a variable, PATH, or set-up.

Runs Bazel in a small workspace, with programs that only pretend to be the tools. Set-up is a
python3 that fails, so nothing is downloaded.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path("WORKSPACE.bazel").resolve().parent

WORKSPACE = """\
workspace(name = "pilotlight")
load("//tools/repositories:arm_gnu_toolchain.bzl", "arm_gnu_toolchain")
load("//tools/repositories:buildifier.bzl", "buildifier")
load("//tools/repositories:python_env.bzl", "python_env")
load("//tools/repositories:qemu.bzl", "qemu")
arm_gnu_toolchain(name = "arm_gnu_toolchain")
buildifier(name = "buildifier")
python_env(name = "python_env")
qemu(name = "qemu")
"""


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def fake_qemu(path: Path, version: str) -> Path:
    return program(path, f"echo 'QEMU emulator version {version} (Debian 1:x)'")


def fake_gcc(root: Path, version: str) -> Path:
    (root / "lib/gcc/arm-none-eabi").mkdir(parents=True, exist_ok=True)
    return program(
        root / "bin/arm-none-eabi-gcc",
        f'case "$1" in -dumpfullversion) echo {version};; *) echo /some/nano.specs;; esac',
    )


class Workspace:
    """A workspace with one Bazel server."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.base = folder / "base"
        self.source = folder / "source"
        self.source.mkdir()
        (self.source / "WORKSPACE.bazel").write_text(WORKSPACE)
        (self.source / "tools").symlink_to(ROOT / "tools")
        (self.source / ".bazelrc").write_text("common --noenable_bzlmod --enable_workspace\n")
        self.path = folder

    def use_path(self, path: Path) -> None:
        """Has repositories look for programs in a new folder, which makes Bazel fetch them anew."""
        self.path = path
        # What set-up would be: it fails and tells how it was called.
        program(self.path / "python3", 'echo "set up with $*" >&2; exit 1')

    def bazel(self, command: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        options = [f"--output_base={self.base}", "--max_idle_secs=60"]
        return subprocess.run(
            [ROOT / "tools/bazel", *options, command, *arguments],
            cwd=self.source,
            capture_output=True,
            text=True,
        )

    def fetch(self, repository: str, **variables: str | Path) -> str:
        """Fetches a repository and returns "" or what was said when it failed."""
        settings = {"PATH": f"{self.path}:/usr/bin:/bin", **variables}
        arguments = [f"--repo_env={name}={value}" for name, value in settings.items()]
        done = self.bazel("query", *arguments, f"@{repository}//:all")
        return "" if done.returncode == 0 else done.stderr

    def chosen(self, repository: str, name: str) -> Path:
        return Path(os.readlink(self.base / "external" / repository / name))

    def constant(self, repository: str) -> str:
        text = (self.base / "external" / repository / "version.bzl").read_text()
        match = re.search(r"_VERSION = (.*)", text)
        assert match
        return match[1]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    workspace = Workspace(tmp_path_factory.mktemp("workspace"))
    yield workspace
    workspace.bazel("shutdown")


@pytest.fixture
def workspace(server: Workspace, tmp_path: Path) -> Workspace:
    server.use_path(tmp_path / "path")
    return server


@pytest.mark.parametrize("given", ["", "bin", "bin/qemu-system-arm"])
def test_qemu_of_the_variable(workspace: Workspace, tmp_path: Path, given: str) -> None:
    mine = fake_qemu(tmp_path / "mine/bin/qemu-system-arm", "10.0.2")
    fake_qemu(workspace.path / "qemu-system-arm", "9.0.0")
    assert workspace.fetch("qemu", PILOTLIGHT_QEMU=tmp_path / "mine" / given) == ""
    assert workspace.chosen("qemu", "qemu-system-arm") == mine
    assert workspace.constant("qemu") == "(10, 0, 2)"


def test_qemu_of_the_variable_is_wrong(workspace: Workspace, tmp_path: Path) -> None:
    message = workspace.fetch("qemu", PILOTLIGHT_QEMU=tmp_path)
    assert f"PILOTLIGHT_QEMU={tmp_path} is no qemu-system-arm and has none" in message


def test_qemu_of_the_variable_is_too_old(workspace: Workspace, tmp_path: Path) -> None:
    fake_qemu(tmp_path / "qemu-system-arm", "5.2.0")
    message = workspace.fetch("qemu", PILOTLIGHT_QEMU=tmp_path)
    assert "is version 5.2.0; at least 7.2 is needed" in message


def test_qemu_on_path(workspace: Workspace) -> None:
    mine = fake_qemu(workspace.path / "qemu-system-arm", "7.2.22")
    assert workspace.fetch("qemu") == ""
    assert workspace.chosen("qemu", "qemu-system-arm") == mine
    assert workspace.constant("qemu") == "(7, 2, 22)"


@pytest.mark.parametrize("version", ["7.1.0", ""])
def test_qemu_is_set_up(workspace: Workspace, version: str) -> None:
    if version:
        fake_qemu(workspace.path / "qemu-system-arm", version)
    message = workspace.fetch("qemu")
    assert "set up with -m tools.bootstrap.fetch --name qemu" in message
    assert "install the package qemu-system-arm, or set PILOTLIGHT_QEMU" in message


def test_toolchain_of_the_variable(workspace: Workspace, tmp_path: Path) -> None:
    mine = fake_gcc(tmp_path, "15.2.0")
    assert workspace.fetch("arm_gnu_toolchain", PILOTLIGHT_ARM_GNU_TOOLCHAIN=tmp_path) == ""
    assert workspace.chosen("arm_gnu_toolchain", "bin/arm-none-eabi-gcc") == mine
    assert workspace.constant("arm_gnu_toolchain") == "(15, 2, 0)"


def test_toolchain_of_the_variable_is_wrong(workspace: Workspace, tmp_path: Path) -> None:
    message = workspace.fetch("arm_gnu_toolchain", PILOTLIGHT_ARM_GNU_TOOLCHAIN=tmp_path)
    assert "has no bin/arm-none-eabi-gcc" in message


@pytest.mark.parametrize(("version", "used"), [("14.3.1", True), ("12.2.1", False)])
def test_toolchain_on_path(workspace: Workspace, tmp_path: Path, version: str, used: bool) -> None:
    mine = fake_gcc(tmp_path, version)
    (workspace.path / "arm-none-eabi-gcc").symlink_to(mine)
    message = workspace.fetch("arm_gnu_toolchain")
    if used:
        assert message == ""
        assert workspace.chosen("arm_gnu_toolchain", "bin/arm-none-eabi-gcc") == mine
    else:
        assert "set up with -m tools.bootstrap.fetch --name arm-gnu-toolchain" in message


def test_python_environment_of_the_variable(workspace: Workspace, tmp_path: Path) -> None:
    program(
        tmp_path / "bin/python3",
        'case "$*" in *"--check "*) echo "$6" >"$PILOTLIGHT_RESULT";; esac',
    )
    assert workspace.fetch("python_env", PILOTLIGHT_PYTHON_ENV=tmp_path) == ""
    build = (workspace.base / "external/python_env/BUILD.bazel").read_text()
    assert f'interpreter_path = "{tmp_path}/bin/python3"' in build


def test_python_environment_of_the_variable_is_wrong(workspace: Workspace, tmp_path: Path) -> None:
    message = workspace.fetch("python_env", PILOTLIGHT_PYTHON_ENV=tmp_path)
    assert f"PILOTLIGHT_PYTHON_ENV={tmp_path} has no bin/python3" in message


def test_buildifier_on_path(workspace: Workspace) -> None:
    mine = program(workspace.path / "buildifier", "echo buildifier version: 8.5.1")
    assert workspace.fetch("buildifier") == ""
    assert workspace.chosen("buildifier", "buildifier") == mine


def test_missing_buildifier_says_so_when_it_is_called(workspace: Workspace) -> None:
    assert workspace.fetch("buildifier") == ""
    stub = workspace.base / "external/buildifier/buildifier"
    done = subprocess.run([stub], capture_output=True, text=True)
    assert done.returncode == 1
    assert "set PILOTLIGHT_BUILDIFIER to the program" in done.stderr
