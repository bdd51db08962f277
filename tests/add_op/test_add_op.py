# SPDX-License-Identifier: Apache-2.0
"""CONTRIBUTING.md's "Add an op", done with an op in a copy of the tree. Its list of files is
sufficient, and tests report each of them if it is missing.

The op is pl::roll. Its new files are in files/; the lines for existing files are below. Bazel also
requires that each file is listed in a BUILD file. This test checks it: a copy has no unlisted file.
"""

import gc
import importlib
import json
import os
import re
import runpy
import shutil
import signal
import sys
import tempfile
import textwrap
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

# For copies of this process in a tree (`run`).
import torchao.quantization.pt2e.quantize_pt2e  # noqa: F401

ROOT = Path.cwd()
HERE = ROOT / "tests" / "add_op"
NAMES = {"<op>": "roll"}
TIMEOUT = 600

# File: its existing text, and the text to follow it.
LINES: dict[str, list[tuple[str, str]]] = {
    "docs/operators.md": [
        (
            "| in PyTorch | becomes | computation |\n|---|---|---|\n",
            "| `roll` along one dimension | `pl.roll` | bytes move |\n",
        )
    ],
}
# Bazel runs it on every core; this test checks that the bench has the layer.
BY_COMMAND = "measure/bench/baseline.json"

# Files left out together, and the message of the tree's tests for each. Bazel itself reports a
# missing header or C source listed in a BUILD file.
TOLD: list[dict[str, str]] = [
    {"kernels/roll/op.py": "the dialect has no pl::roll: write kernels/roll/op.py"},
    {
        "kernels/roll/kernel.py": "pl::roll has no kernel: write kernels/roll/",
        "docs/operators.md": "docs/operators.md has no row for pl.roll",
    },
    {"kernels/roll/cases.py": "kernels/roll/cases.py is missing"},
]
# Files not seen without the BUILD file.
BUILD = "kernels/roll/BUILD.bazel"
IN_C = ["kernels/roll/roll.h", "kernels/roll/roll_s8_scalar.c"]


def listed() -> list[str]:
    """The files of the page, for this op."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    section = text.split("## Add an op\n")[1].split("\n## ")[0]
    files = re.findall(r"^\|[^|]*\| `([^`]+)` \|", section, re.MULTILINE)
    for name, value in NAMES.items():
        files = [file.replace(name, value) for file in files]
    return files


def build_file() -> str:
    """Return kernels/roll/BUILD.bazel, same as the one in kernels/README.md for lut."""
    text = (ROOT / "kernels" / "README.md").read_text()
    blocks = re.findall(r" *```starlark\n(.*?) *```", text, re.DOTALL)
    (shown,) = (block for block in blocks if "SPDX" in block)
    return textwrap.dedent(str(shown)).replace("lut", "roll")


def sources(text: str) -> set[str]:
    """The files of the kernel's folder that its BUILD file gives to a target."""
    (name,) = re.findall(r'kernel\(\s*name = "(\w+)"', text)
    variants = {f"{base}_scalar.c" for base in re.findall(r'"(\w+)": \[', text)}
    return {"op.py", "kernel.py", "cases.py", f"{name}.h", *variants}


def add_op(tree: Path, files: Iterable[str]) -> None:
    """Writes the files of the op, as far as they are named."""
    for file in files:
        path = tree / file
        path.parent.mkdir(parents=True, exist_ok=True)
        if file in LINES:
            text = path.read_text()
            for before, line in LINES[file]:
                assert text.count(before) == 1, f"{file} has {before!r} not once"
                text = text.replace(before, before + line)
            path.unlink()
            path.write_text(text)
        elif file == BUILD:
            path.write_text(build_file())
        else:
            shutil.copyfile(HERE / "files" / file, path)
    for file in (file for file in files if (HERE / "files" / file).exists()):
        build = (tree / file).with_name("BUILD.bazel")
        if not build.exists() or Path(file).name not in sources(build.read_text()):
            (tree / file).unlink()


def copy(tree: Path) -> Path:
    shutil.copytree(ROOT, tree, copy_function=os.symlink, dirs_exist_ok=True)
    return tree


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str


def run(tree: Path, program: Callable[[], object]) -> Done:
    """Runs a program of the tree, in a copy of this process: torch is imported once.

    Args:
      tree: where it works, and imports from.
      program: ends with a status, None or `sys.exit`; an exception is status 1.
    """
    with tempfile.TemporaryFile() as printed:
        child = os.fork()
        if child == 0:
            _be_in(tree, printed.fileno(), program)
        _, status = os.waitpid(child, 0)
        printed.seek(0)
        return Done(os.waitstatus_to_exitcode(status), printed.read().decode())


def _be_in(tree: Path, printed: int, program: Callable[[], object]) -> NoReturn:
    status: object = 1
    try:
        signal.alarm(TIMEOUT)
        gc.disable()  # otherwise it scans a million permanent objects (tools/imports.py)
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        sys.stdout = sys.stderr = open(printed, "w", closefd=False)  # noqa: SIM115
        os.chdir(tree)
        sys.path[:] = [str(tree), *(p for p in sys.path if p and Path(p).resolve() != ROOT)]
        os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)  # for programs started by tests
        for name in list(sys.modules):
            if name.split(".")[0] in OURS:
                del sys.modules[name]
        status = program()
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    os._exit(status if isinstance(status, int) else int(status is not None))


OURS = {path.name for path in ROOT.iterdir() if path.is_dir()}
"""Packages of the tree. Those imported by this process do not come from a copy."""


def main_of(module: str, *arguments: str) -> Callable[[], object]:
    """`python -m module arguments`."""

    def program() -> None:
        sys.argv[1:] = arguments
        runpy.run_module(module, run_name="__main__", alter_sys=True)

    return program


def pytest_with(*arguments: str) -> Callable[[], object]:
    return lambda: pytest.main([*arguments, "-p", "no:cacheprovider"])


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with the op, all files of the page written."""
    tree = copy(tmp_path_factory.mktemp("workspace"))
    add_op(tree, [file for file in listed() if file != BY_COMMAND])
    return tree


def test_the_page_lists_what_the_op_has() -> None:
    new = [path for path in (HERE / "files").rglob("*.*") if path.name != "__init__.py"]
    names = [path.relative_to(HERE / "files").as_posix() for path in new if path.is_file()]
    assert sorted(listed()) == sorted([*names, *LINES, BUILD, BY_COMMAND])


def test_every_file_of_the_page_is_left_out_once() -> None:
    left_out = [file for told in TOLD for file in told]
    assert sorted(listed()) == sorted([*left_out, BUILD, *IN_C, BY_COMMAND])


def test_the_list_is_short() -> None:
    assert len(listed()) <= 8


def test_it_is_lowered(workspace: Path) -> None:
    done = run(workspace, main_of("tests.add_op.lower_roll"))
    assert done.returncode == 0, done.stdout
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["alone"] == {"ops": {"pl.roll": 1}, "largest": 0}
    inside = found["between convolutions"]
    assert inside["largest"] == 0
    assert inside["ops"]["pl.roll"] == 1
    assert "pl.transpose" not in inside["ops"]


def test_its_kernel_is_its_reference_and_the_tests_see_it(workspace: Path) -> None:
    cases = workspace / "kernels" / "roll" / "roll_test.sources"
    flags = ("--package=kernels.roll", f"--output={cases}")
    generated = run(workspace, main_of("kernels.testing.generate", *flags))
    assert generated.returncode == 0, generated.stdout
    tests = [
        "aot/dialect/test_ops.py",
        "aot/rules/test_rules.py",
        "measure/bench/test_bench.py",
        "kernels/test_mutation.py",
        "kernels/test_refusals.py",
        "tests/ops/test_complete.py",
    ]
    selected = "roll or every or names or complete"
    done = run(workspace, pytest_with("-v", "-k", selected, *tests))
    assert done.returncode == 0, done.stdout
    for expected in (
        "test_shape_fake_and_out[roll]",
        "test_transposes_pass[roll]",
        "test_every_kernel_has_a_layer",
        "test_cases_pass_without_a_bug[roll]",
        "test_cases_find_the_bug[roll: dims->size - dims->shift -> dims->shift]",
        "test_takes_valid_calls[pl::roll-int8]",
        "test_refuses[pl::roll int8: shift is 5]",
        "test_a_table_has_the_op[roll]",
    ):
        assert f"{expected} PASSED" in done.stdout, done.stdout
    assert "'roll 64x64'" in run(workspace, _print_layers).stdout


def test_the_npu_leaves_it_to_the_core(workspace: Path) -> None:
    """A separate run, because the NPU adds ops without kernels to the dialect."""
    emitters = "aot/backends/ethos_u/test_emitters.py"
    done = run(workspace, pytest_with("-q", "-k", "every_op or reasons", emitters))
    assert done.returncode == 0, done.stdout


def test_the_page_has_its_row(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUILD_WORKSPACE_DIRECTORY", str(workspace))
    written = run(workspace, main_of("aot.support.supported_ops", "--update"))
    assert written.returncode == 0, written.stdout
    assert "| `roll` | `roll` | yes |" in (workspace / "docs/operators.md").read_text()
    done = run(workspace, pytest_with("-q", "tests/docs/test_operators.py"))
    assert done.returncode == 0, done.stdout


def _print_layers() -> None:
    from measure.bench.program import layers

    print([layer.name for layer in layers()])


@pytest.mark.parametrize("told", TOLD, ids=lambda told: ", ".join(told))
def test_missing_files_are_told(tmp_path: Path, told: dict[str, str]) -> None:
    tree = copy(tmp_path)
    add_op(tree, [file for file in listed() if file not in (*told, BY_COMMAND)])
    done = run(tree, pytest_with("-q", "--tb=line", "tests/ops/test_complete.py"))
    assert done.returncode != 0, done.stdout
    for message in told.values():
        assert message in done.stdout, done.stdout


def test_a_file_that_no_build_file_names_is_missing(tmp_path: Path) -> None:
    tree = copy(tmp_path)
    add_op(tree, [file for file in listed() if file not in (BUILD, BY_COMMAND)])
    assert not (tree / "kernels/roll/kernel.py").exists()


PARTS = ["cases()", "CALLS", "MUTANTS", "layers()"]


def _read(texts: Iterable[str]) -> None:
    """Read the cases with each of some texts, and print the messages about them."""
    from kernels.testing.folders import IncompleteFolder, folder

    for text in texts:
        Path("kernels/roll/cases.py").write_text(text)
        sys.modules.pop("kernels.roll.cases", None)
        importlib.invalidate_caches()
        try:
            folder("roll")
        except IncompleteFolder as problem:
            print(problem)


def test_missing_parts_of_the_cases_are_told(tmp_path: Path) -> None:
    tree = copy(tmp_path)
    add_op(tree, [file for file in listed() if file != BY_COMMAND])
    text = (tree / "kernels" / "roll" / "cases.py").read_text()
    names = [part.removesuffix("()") for part in PARTS]
    texts = [re.sub(rf"^(def )?{name}\b", rf"\1other_{name}", text, flags=re.M) for name in names]
    (tree / "kernels" / "roll" / "cases.py").unlink()
    said = run(tree, lambda: _read(texts)).stdout.splitlines()
    for part, line in zip(PARTS, said, strict=True):
        assert f"kernels/roll/cases.py has no {part}: see kernels/README.md" in line
