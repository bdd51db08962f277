# SPDX-License-Identifier: Apache-2.0
"""Entries of compile_commands.json."""

import json
from pathlib import Path

import pytest

from tools.clangd import compile_commands

_ARM = "external/arm_gnu_toolchain/usr/bin/arm-none-eabi-gcc"
_OPTIONS = ["-masm-syntax-unified", "-Ibazel-out/x/bin", "-isystem", "external/c/include", "-O2"]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "work/kernels").mkdir(parents=True)
    (tmp_path / "work/kernels/add.c").touch()
    return tmp_path / "work"


def test_paths_that_an_editor_finds(workspace: Path) -> None:
    execution = Path("/base/execroot/pilotlight")
    arguments = [_ARM, *_OPTIONS, "-c", "kernels/add.c", "-o", "bazel-out/x/add.o"]
    entry = compile_commands.command(arguments, workspace, execution)
    assert entry["arguments"] == [
        f"/base/{_ARM}",
        "--target=arm-none-eabi",
        "-I/base/execroot/pilotlight/bazel-out/x/bin",
        "-isystem",
        "/base/external/c/include",
        "-O2",
        "-c",
        "kernels/add.c",
        "-o",
        "/base/execroot/pilotlight/bazel-out/x/add.o",
    ]
    assert (entry["directory"], entry["file"]) == (str(workspace), "kernels/add.c")


def test_file_of_sources_of_the_workspace(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    actions = [
        {"arguments": [_ARM, first, "-c", file]}
        for first, file in [
            ("-O2", "kernels/add.c"),
            ("-O0", "kernels/add.c"),
            ("-O2", "bazel-out/x/generated.c"),
        ]
    ]
    bazel = workspace / "tools/bazel"
    bazel.parent.mkdir()
    (workspace / "actions.json").write_text(json.dumps({"actions": actions}))
    answer = 'info) echo /base/execroot/p;; aquery) echo "$2" >asked; cat actions.json;;'
    bazel.write_text(f'#!/bin/sh\ncase "$1" in {answer} esac\n')
    bazel.chmod(0o755)
    monkeypatch.setenv("BUILD_WORKSPACE_DIRECTORY", str(workspace))
    monkeypatch.delenv("BAZEL_REAL", raising=False)
    compile_commands.main(["compile_commands", "//a:b", "//c"])
    assert (workspace / "asked").read_text() == 'mnemonic("CppCompile", deps(//a:b + //c))\n'
    (entry,) = json.loads((workspace / "compile_commands.json").read_text())
    assert "-O2" in entry["arguments"]
    assert capsys.readouterr().out.endswith("compile_commands.json: 1 files\n")
