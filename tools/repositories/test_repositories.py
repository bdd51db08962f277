# SPDX-License-Identifier: Apache-2.0
"""Sources of the repository rules' tools (a variable, PATH, set-up), and their fingerprints."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tools.repositories.workspace import Workspace, fake_gcc, fake_qemu, program

_AR, _GCC, _STRIP = (Path(os.environ[f"PL_{name}"]).resolve() for name in ("AR", "GCC", "STRIP"))


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


def test_qemu_of_the_variable_may_be_older_than_others(
    workspace: Workspace, tmp_path: Path
) -> None:
    mine = fake_qemu(tmp_path / "qemu-system-arm", "7.2.22")
    assert workspace.fetch("qemu", PILOTLIGHT_QEMU=mine) == ""
    assert workspace.constant("qemu") == "(7, 2, 22)"


def test_qemu_of_a_suite_of_debian(workspace: Workspace) -> None:
    fake_qemu(workspace.path / "qemu-system-arm", "11.1.0")
    message = workspace.fetch("qemu", PILOTLIGHT_QEMU="bookworm")
    assert "set up with -m tools.bootstrap.fetch --name qemu --suite bookworm" in message


def test_qemu_on_path(workspace: Workspace) -> None:
    mine = fake_qemu(workspace.path / "qemu-system-arm", "8.0.0")
    assert workspace.fetch("qemu") == ""
    assert workspace.chosen("qemu", "qemu-system-arm") == mine
    assert workspace.constant("qemu") == "(8, 0, 0)"


@pytest.mark.parametrize("version", ["7.2.22", ""])
def test_qemu_is_set_up(workspace: Workspace, version: str) -> None:
    if version:
        fake_qemu(workspace.path / "qemu-system-arm", version)
    message = workspace.fetch("qemu")
    assert "set up with -m tools.bootstrap.fetch --name qemu" in message
    assert "install the package qemu-system-arm, or set PILOTLIGHT_QEMU" in message


def test_llvm_of_the_variable(workspace: Workspace, tmp_path: Path) -> None:
    for name in ("llvm-mca", "llvm-objdump"):
        program(tmp_path / "bin" / name, "echo LLVM version 20.1.8")
    assert workspace.fetch("llvm", PILOTLIGHT_LLVM=tmp_path) == ""
    assert workspace.chosen("llvm", "llvm-mca") == tmp_path / "bin/llvm-mca"


def test_llvm_of_the_variable_is_wrong(workspace: Workspace, tmp_path: Path) -> None:
    message = workspace.fetch("llvm", PILOTLIGHT_LLVM=tmp_path)
    assert f"PILOTLIGHT_LLVM={tmp_path}: there is no {tmp_path}/bin/llvm-mca" in message


def test_llvm_is_set_up_and_not_taken_from_path(workspace: Workspace) -> None:
    program(workspace.path / "llvm-mca", "echo LLVM version 14.0.6")
    message = workspace.fetch("llvm")
    assert "set up with -m tools.bootstrap.fetch --name llvm" in message
    assert "set PILOTLIGHT_LLVM to a folder with bin/llvm-mca and bin/llvm-objdump" in message


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


def test_python_environment_is_set_up_with_a_users_packages(workspace: Workspace) -> None:
    message = workspace.fetch("python_env")
    assert "set up with -m tools.bootstrap.python_env --lock" in message
    assert f"--requirements {workspace.source}/more.txt" in message


def test_python_on_path_does_not_count(workspace: Workspace) -> None:
    program(workspace.path / "python3.11", "echo Python 3.11.2")
    message = workspace.fetch("python_env")
    assert "set up with -m tools.bootstrap.python_env --lock" in message
    assert str(workspace.path / "python3.11") not in message


def test_packages_of_checks_lie_beside(workspace: Workspace) -> None:
    message = workspace.fetch("python_checks")
    locks = workspace.source / "tools/python"
    assert f"--lock {locks}/requirements.txt --more {locks}/checks.txt" in message
    assert "--requirements" not in message


def test_compiler_on_path_does_not_count(workspace: Workspace) -> None:
    program(workspace.path / "gcc", "exit 0")
    message = workspace.fetch("host_gcc")
    assert "set up with -m tools.bootstrap.fetch --name host-gcc --suite bookworm" in message
    assert "set CC, AR and STRIP to the programs" in message


def test_compiler_of_the_variable_is_wrong(workspace: Workspace) -> None:
    message = workspace.fetch("host_gcc", CC="/nowhere/gcc")
    assert "CC=/nowhere/gcc is not there" in message


def test_python_environment_of_the_variable(workspace: Workspace, tmp_path: Path) -> None:
    program(
        tmp_path / "bin/python3",
        'case "$*" in *"--environment "*) echo "$6" >"$PILOTLIGHT_RESULT";; esac',
    )
    (tmp_path / "lib").mkdir()
    assert workspace.fetch("python_env", PILOTLIGHT_PYTHON_ENV=tmp_path) == ""
    assert workspace.chosen("python_env", "bin/python3") == tmp_path / "bin/python3"
    for name in ("BUILD.bazel", "bin/python3"):
        assert str(tmp_path.parent) not in workspace.text("python_env", name)


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


def fake_set_up(root: Path) -> None:
    """Create the results of set-up: a launcher, its program, a library."""
    program(root / "usr/bin/qemu-system-arm", 'exec "$(readlink -f "$0").elf" "$@"')
    fake_qemu(root / "usr/bin/qemu-system-arm.elf", "10.0.0")
    (root / "usr/lib/x86_64-linux-gnu").mkdir(parents=True)
    (root / "usr/lib/x86_64-linux-gnu/libglib-2.0.so.0").write_text("1")
    (root / "packages.json").write_text("{}")


def compile_c(output: Path, source: str, *options: str) -> None:
    command: list[str | Path] = [_GCC, "-x", "c", "-", "-x", "none", "-o", str(output), *options]
    subprocess.run(command, input=source, text=True, check=True)


def compile_library(folder: Path, version: str) -> None:
    source = f'const char *version(void) {{ return "{version}"; }}'
    compile_c(folder / "libversion.so", source, "-shared", "-fPIC")


def compile_qemu(folder: Path) -> None:
    """Compile a program that uses a library for its behaviour."""
    folder.mkdir(exist_ok=True)
    compile_library(folder, "10.0.0")
    source = """
        int puts(const char *); int printf(const char *, ...); const char *version(void);
        int main(void) { printf("QEMU emulator version "); return puts(version()) < 0; }
    """
    options = [f"{folder}/libversion.so", f"-Wl,-rpath,{folder}"]
    compile_c(folder / "qemu-system-arm", source, *options)


def test_result_of_a_program_behind_a_launcher(workspace: Workspace) -> None:
    fake_set_up(workspace.set_up)
    assert workspace.run() == "QEMU emulator version 10.0.0 (Debian 1:x)\n"
    fake_qemu(workspace.set_up / "usr/bin/qemu-system-arm.elf", "10.0.1")
    assert workspace.run() == "QEMU emulator version 10.0.1 (Debian 1:x)\n"


def test_result_of_a_program_with_libraries(workspace: Workspace) -> None:
    compile_qemu(workspace.path)
    assert workspace.run() == "QEMU emulator version 10.0.0\n"
    compile_library(workspace.path, "10.0.1")
    assert workspace.run() == "QEMU emulator version 10.0.1\n"


# A tool in a folder: repository, variables and the changeable file.
Tool = tuple[str, dict[str, str | Path], Path]


def part_of_set_up(name: str) -> Callable[[Workspace, Path], Tool]:
    def make(workspace: Workspace, _: Path) -> Tool:
        fake_set_up(workspace.set_up)
        return "qemu", {}, workspace.set_up / name

    return make


def copy_of_set_up(_: Workspace, folder: Path) -> Tool:
    fake_set_up(folder)
    return "qemu", {"PILOTLIGHT_QEMU": folder / "usr"}, folder / "packages.json"


def part_of_the_compiler(_: Workspace, folder: Path) -> Tool:
    part = program(folder / "libexec/cc1", "exit 0")
    gcc = fake_gcc(folder, "15.2.0")
    text = gcc.read_text().replace("in ", f"in -print-prog-name=cc1) echo {part};; ", 1)
    gcc.write_text(text)
    return "arm_gnu_toolchain", {"PILOTLIGHT_ARM_GNU_TOOLCHAIN": folder}, part


def python_environment(folder: Path) -> dict[str, str | Path]:
    check = 'case "$*" in *"--environment "*) echo "$6" >"$PILOTLIGHT_RESULT";; esac'
    interpreter = program(folder / "usr/python3", check)
    record = folder / "lib/python3.11/site-packages/numpy-2.0.dist-info/RECORD"
    record.parent.mkdir(parents=True)
    record.write_text("numpy/__init__.py,sha256=x,1\n")
    (folder / "bin").mkdir()
    (folder / "bin/python3").symlink_to(interpreter)
    return {"PILOTLIGHT_PYTHON_ENV": folder}


def python_interpreter(_: Workspace, folder: Path) -> Tool:
    return "python_env", python_environment(folder), folder / "usr/python3"


def python_package(_: Workspace, folder: Path) -> Tool:
    variables = python_environment(folder)
    return "python_env", variables, next(folder.glob("lib/*/*/*/RECORD"))


def formatter(workspace: Workspace, _: Path) -> Tool:
    return "buildifier", {}, program(workspace.path / "buildifier", "echo version: 8.5.1")


def header_of_the_host(_: Workspace, folder: Path) -> Tool:
    header = folder / "include/stdint.h"
    header.parent.mkdir()
    header.write_text("#include_next <stdint.h>\n")
    gcc = program(folder / "mygcc", f'exec {_GCC} -isystem {header.parent} "$@"')
    return "host_gcc", {"AR": _AR, "CC": gcc, "STRIP": _STRIP}, header


TOOLS: dict[str, tuple[Callable[[Workspace, Path], Tool], str]] = {
    "program": (part_of_set_up("usr/bin/qemu-system-arm.elf"), "qemu-system-arm"),
    "library": (part_of_set_up("usr/lib/x86_64-linux-gnu/libglib-2.0.so.0"), "qemu-system-arm"),
    "package": (part_of_set_up("packages.json"), "qemu-system-arm"),
    "package of a copy": (copy_of_set_up, "qemu-system-arm"),
    "compiler": (part_of_the_compiler, "identity"),
    "Python": (python_interpreter, "bin/python3"),
    "Python's package": (python_package, "bin/vela"),
    "formatter": (formatter, "buildifier"),
    "header": (header_of_the_host, "host_gcc.bzl"),
}


def test_the_same_tool_in_another_place(workspace: Workspace, tmp_path: Path) -> None:
    keys = set()
    for place in (tmp_path / "first", tmp_path / "second"):
        fake_set_up(place)
        assert workspace.fetch("qemu", PILOTLIGHT_QEMU=place / "usr") == ""
        assert workspace.chosen("qemu", "qemu-system-arm").is_relative_to(place)
        keys.add(workspace.text("qemu", "qemu-system-arm"))
    assert len(keys) == 1


def test_the_same_environment_in_another_home(workspace: Workspace, tmp_path: Path) -> None:
    keys = set()
    for place in (tmp_path / "first", tmp_path / "second"):
        variables = python_environment(place)
        record = next(place.glob("lib/*/*/*/RECORD"))
        # A script's first line names the environment, so its checksum is another one.
        record.write_text(f"../../../bin/f2py,sha256={place.name},1\n" + record.read_text())
        assert workspace.fetch("python_env", **variables) == ""
        keys.add(tuple(workspace.text("python_env", n) for n in ("BUILD.bazel", "bin/python3")))
    assert len(keys) == 1


def test_an_environment_that_a_machine_has_in_its_image(
    workspace: Workspace, tmp_path: Path
) -> None:
    assert workspace.fetch("python_env", **python_environment(tmp_path / "here")) == ""
    alone = tmp_path / "worker/bin/python3"
    alone.parent.mkdir(parents=True)
    text = workspace.text("python_env", "bin/python3")
    image = tmp_path / "image"
    alone.write_text(re.sub(r"/opt/pilotlight/python-\w{12}", str(image), text))
    alone.chmod(0o755)
    done = subprocess.run([alone], capture_output=True, text=True)
    assert done.returncode == 1 and f"has no {image}" in done.stderr
    program(image / "bin/python3", 'echo "from the image: $*"')
    assert subprocess.check_output([alone, "x"], text=True) == "from the image: x\n"


@pytest.mark.parametrize("name", TOOLS)
def test_tool_changed_in_its_place(workspace: Workspace, tmp_path: Path, name: str) -> None:
    make, in_keys = TOOLS[name]
    (tmp_path / "tool").mkdir()
    repository, variables, part = make(workspace, tmp_path / "tool")

    def key() -> str:
        assert workspace.fetch(repository, **variables) == ""
        return workspace.text(repository, in_keys)

    before = key()
    shutil.copy(part, part.with_suffix(".new"))
    part.with_suffix(".new").rename(part)
    assert key() == before
    part.write_text(part.read_text() + "\n")
    assert key() != before
