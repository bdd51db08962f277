# SPDX-License-Identifier: Apache-2.0
"""Small workspace with a Bazel server, and fake programs in place of the repositories' tools.
Set-up is a failing python3, so nothing is downloaded.
"""

import os
import re
import subprocess
from pathlib import Path

from tools.python.bazel import startup_options

ROOT = Path("WORKSPACE").resolve().parent

WORKSPACE = """\
workspace(name = "pilotlight")
load("//tools/repositories:arm_gnu_toolchain.bzl", "arm_gnu_toolchain")
load("//tools/repositories:buildifier.bzl", "buildifier")
load("//tools/repositories:llvm.bzl", "llvm")
load("//tools/repositories:python_env.bzl", "python_checks", "python_env")
load("//tools/repositories:qemu.bzl", "qemu")
load("//tools/toolchains:host_gcc.bzl", "host_gcc")
arm_gnu_toolchain(name = "arm_gnu_toolchain")
buildifier(name = "buildifier")
llvm(name = "llvm")
python_checks(name = "python_checks")
python_env(name = "python_env", requirements = ["//:more.txt"])
qemu(name = "qemu")
host_gcc(name = "host_gcc")
"""

# Bazel's view of a test: an action running the simulator.
BUILD = """\
genrule(
    name = "run",
    outs = ["run.txt"],
    cmd = "$(execpath @qemu//:qemu-system-arm) --version > $@",
    tools = ["@qemu//:qemu-system-arm"],
)
"""

SETTINGS = """\
common --noenable_bzlmod --enable_workspace --repo_env=BAZEL_DO_NOT_DETECT_CPP_TOOLCHAIN=1
build --incompatible_strict_action_env
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
        (self.source / "WORKSPACE").write_text(WORKSPACE)
        (self.source / "tools").symlink_to(ROOT / "tools")
        (self.source / "more.txt").write_text("more==1.0\n")
        (self.source / "BUILD.bazel").write_text(BUILD)
        (self.source / ".bazelrc").write_text(startup_options(ROOT) + SETTINGS)
        self.path = folder

    def use_path(self, path: Path) -> None:
        """Make repositories look for programs in a new folder; Bazel then fetches them again."""
        self.path = path
        # Fake set-up: it prints its arguments, and fails or returns this folder.
        give = f'[ -d {self.set_up} ] && echo {self.set_up} >"$PILOTLIGHT_RESULT"'
        program(self.path / "python3", f'echo "set up with $*" >&2; {give}')

    def bazel(self, command: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        options = [f"--output_base={self.base}", "--max_idle_secs=60"]
        return subprocess.run(
            [ROOT / "tools/bazel", *options, command, *arguments],
            cwd=self.source,
            capture_output=True,
            text=True,
        )

    @property
    def set_up(self) -> Path:
        return self.path / "set_up"

    def _settings(self, variables: dict[str, str | Path]) -> list[str]:
        settings = {"PATH": f"{self.path}:/usr/bin:/bin", **variables}
        return [f"--repo_env={name}={value}" for name, value in settings.items()]

    def fetch(self, repository: str, **variables: str | Path) -> str:
        """Fetch a repository and return "" or the error output of a failure."""
        done = self.bazel("query", *self._settings(variables), f"@{repository}//:all")
        return "" if done.returncode == 0 else done.stderr

    def run(self, **variables: str | Path) -> str:
        """Build //:run, unless Bazel expects the same result, and return its result."""
        done = self.bazel("build", *self._settings(variables), "//:run")
        assert done.returncode == 0, done.stderr
        return (self.source / "bazel-bin/run.txt").read_text()

    def text(self, repository: str, name: str) -> str:
        return (self.base / "external" / repository / name).read_text()

    def chosen(self, repository: str, name: str) -> Path:
        """Return the target program of a link or a launcher."""
        folder = self.base / "external" / repository
        if (folder / name).is_symlink():
            return Path(os.readlink(folder / name))
        match = re.search(r'exec "\$root/(.*?)"', (folder / name).read_text())
        assert match
        return Path(os.readlink(folder / "usr")) / match[1]

    def constant(self, repository: str) -> str:
        match = re.search(r"_VERSION = (.*)", self.text(repository, "version.bzl"))
        assert match
        return match[1]
