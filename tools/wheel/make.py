# SPDX-License-Identifier: Apache-2.0
"""Make the wheel: one importable package, `pilotlight`, with all parts working without Bazel.

  bazel run //tools/wheel -- --output=dist

A module such as `aot.lower` in the tree is `pilotlight.aot.lower` in the wheel. The wheel contains
its entry points and all their imports, the C of kernels, runtime and drivers, and boards' data.
"""

from tools.text.signal_handling import run_main

import ast
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import chdir
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from absl import flags
from setuptools import build_meta

from tools.lint.imports import imports
from tools.lint.workspace import source_files, workspace_root
from tools.report.libraries import libraries
from tools.text.printed import captured

_OUTPUT = flags.DEFINE_string("output", "dist", "Folder for the wheel.")

ROOMS = ("aot", "boards", "firmware", "kernels", "npu", "tools")
"""Folders of the tree with modules renamed by the wheel."""

_ENTRIES = (
    "aot/backends/ethos_u/backend.py",
    "aot/backends/neutron/backend.py",
    "aot/backends/tflite/target.py",
    "aot/backends/ethos_u/emitters/*.py",
    "aot/lower_main.py",
    "aot/importers/onnx/module.py",
    "aot/importers/onnx/ops/*.py",
    "aot/lower_onnx.py",
    "aot/lower_tflite.py",
    "aot/rules/*.py",
    "aot/support/supported_ops.py",
    "boards/common/linker_script.py",
    "firmware/apps/vectors_main.py",
    "tools/image/fit.py",
    "tools/image/size_report.py",
    "tools/package/make_package.py",
    "tools/report/make_report.py",
    "tools/report/plan_report.py",
    "tools/report/profile.py",
    "aot/plan/compile.py",
    "kernels/*/access.py",
    "kernels/*/kernel.py",
    "kernels/*/op*.py",
    "tools/wheel/command.py",
    "tools/wheel/pilotlight.py",
)
"""Modules called by a user, and modules found by name."""

_READ = (
    "aot/backends/*.ini",
    "tools/report/page/*",
    "boards/chips/*.[ch]",
    "boards/common/*.[ch]",
    "kernels/*.[ch]",
    "firmware/apps/*.[ch]",
    "firmware/ethos_u/*.[ch]",
    "firmware/runtime/*.[ch]",
    "npu/ethos_u/*.[ch]",
)
"""Files read by modules of the wheel."""

_IMPORT = re.compile(rf"^(\s*)(from|import) ({'|'.join(ROOMS)})(?=[. ])", re.MULTILINE)


def renamed(text: str) -> str:
    """Return a module's text with its imports in the wheel."""
    return _IMPORT.sub(r"\1\2 pilotlight.\3", text)


def imported(text: str | bytes) -> Iterator[str]:
    """Yield the modules and names imported by a module's text."""
    for _, names in imports(ast.walk(ast.parse(text))):
        yield from names


def _files(root: Path, module: str) -> Iterator[str]:
    """Yield the file of a module and those of its packages."""
    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        package = "/".join([*parts[:count], "__init__.py"])
        if (root / package).is_file():
            yield package
    if (root / "/".join(parts)).with_suffix(".py").is_file():
        yield "/".join(parts) + ".py"


def modules(root: Path) -> list[str]:
    """Return the entry points and all their imports, as paths in the tree."""
    found: set[str] = set()
    todo = source_files(root, _ENTRIES, ["*/test_*.py"])
    while todo:
        file = todo.pop()
        if file in found:
            continue
        found.add(file)
        for module in imported((root / file).read_text()):
            if module.split(".")[0] in ROOMS:
                todo += _files(root, module)
    return sorted(found)


def core_flags(root: Path) -> dict[str, dict[str, Any]]:
    """Return the facts and GCC's flags of each core, by the core's name."""
    names: dict[str, Any] = {"struct": SimpleNamespace}
    for file in ("tools/platforms/cores.bzl", "tools/toolchains/compile_flags.bzl"):
        exec((root / file).read_text(), names)  # Starlark is Python here
    return {
        core: {
            "isa": facts.isa,
            "startup": facts.startup,
            "flags": names["core_flags"](core),
            "image_flags": [*names["C_FLAGS"], *names["COMPILE_FLAGS"], "-O2"],
            "kernel_flags": [*names["KERNEL_FLAGS"], *names["NO_HELIUM_FLAGS"]],
            "helium_flags": [*names["KERNEL_FLAGS"], *names["HELIUM_FLAGS"]],
        }
        for core, facts in names["CORES"].items()
    }


def make_tree(root: Path, built: Iterable[Path], output: Path) -> None:
    """Write the package `pilotlight` and the files read by setuptools.

    Args:
      root: the source tree.
      built: files made by Bazel, relative to the current folder: boards' data and
        shared libraries.
      output: an empty folder.
    """
    package = output / "pilotlight"

    def write(name: str, data: bytes) -> None:
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_bytes(data)

    for name in modules(root):
        write(name, renamed((root / name).read_text()).encode())
    for name in source_files(root, _READ, ["*/testing/*", "*_test.c"]):
        write(name, (root / name).read_bytes())
    for file in built:
        write(str(file), file.read_bytes())
    for file in libraries():
        write(f"page_libraries/{file.name}", file.read_bytes())
    write("cores.json", json.dumps(core_flags(root), indent=1).encode())
    write("LICENSE", (root / "LICENSE").read_bytes())
    (package / "tools/wheel/pilotlight.py").rename(package / "__init__.py")
    for name in ("LICENSE", "NOTICE", "README.md", "pyproject.toml"):
        shutil.copy(root / name, output / name)


def make_wheel(root: Path, built: Iterable[Path], output: Path) -> Path:
    """Return the wheel's path. The same tree gives the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        make_tree(root, built, Path(folder))
        with chdir(folder):
            os.environ["SOURCE_DATE_EPOCH"] = "315532800"  # 1980, the earliest year in a zip
            machine = os.uname().machine
            options = {"--build-option": [f"--plat-name=manylinux_2_34_{machine}"]}
            with captured():
                name = build_meta.build_wheel(folder, options)
        output.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(f"{folder}/{name}", output / name))


def built_files() -> list[Path]:
    """Return Bazel's output files for the wheel, relative to the folder of this program's files."""
    boards = Path("boards").glob("*/*.data.json")
    plugins = Path("tools/simulator/plugin").glob("count_qemu_*.so")
    return sorted([*boards, *plugins, Path("npu/ethos_u/libethos_u_model.so")])


def main(argv: Sequence[str]) -> None:
    del argv
    output = Path(os.environ.get("BUILD_WORKING_DIRECTORY", ".")) / _OUTPUT.value
    print(make_wheel(workspace_root(), built_files(), output))


if __name__ == "__main__":
    run_main(main)
