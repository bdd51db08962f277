# SPDX-License-Identifier: Apache-2.0
"""Packs the model of an image for every other build system.

    make_package --board=board.json --flags_by_core='{"cortex-m3": ["-mcpu=cortex-m3"]}' \\
        --map=app.map --plan=plan.json --vectors=model.vectors.npz --license=LICENSE \\
        --output=app.package.zip SOURCE...

The sources are all C of the program: what it was linked from is packed. The same input gives the
same bytes.
"""

import json
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from absl import app, flags

from boards.package import build_files, example
from boards.package.build_files import Package
from boards.package.choose import PackageError, check_plan, choose

_BOARD = flags.DEFINE_string("board", None, "The board's board.json.", required=True)
_FLAGS = flags.DEFINE_string("flags_by_core", None, "What GCC is told, JSON.", required=True)
_MAP = flags.DEFINE_string("map", None, "The linker's map file.", required=True)
_PLAN = flags.DEFINE_string("plan", None, "The plan's JSON.", required=True)
_VECTORS = flags.DEFINE_string("vectors", None, "Test vectors of the model, .npz.", required=True)
_LICENSE = flags.DEFINE_string("license", None, "The licence.", required=True)
_OUTPUT = flags.DEFINE_string("output", None, "The .zip to write.", required=True)

_EPOCH = (1980, 1, 1, 0, 0, 0)


def contents(sources: list[Path]) -> dict[str, str]:
    """Every file of the package by its path in it."""
    plan = json.loads(Path(_PLAN.value).read_text())
    board = json.loads(Path(_BOARD.value).read_text())
    name = plan["name"]
    check_plan(plan)
    chosen = choose(sources, Path(_MAP.value).read_text(), name)
    files = {f"src/{path}": file.read_text() for path, file in chosen.items()}
    (header,) = (path for path in chosen if Path(path).name == f"{name}.h")
    with np.load(_VECTORS.value) as arrays:
        files[f"src/{name}_check.c"] = example.check_source(
            name,
            header,
            arrays,
            len(plan["inputs"]),
            len(plan["outputs"]),
            # As in firmware/apps/vectors.py: ExecuTorch's own ops, aten's, compute in float32.
            is_close=any(step["op"].startswith("aten::") for step in plan["steps"]),
        )
    files[f"src/{name}_check.h"] = example.check_header(name)
    package = Package(
        name=name,
        board=board["name"],
        core=board["core"],
        flags=[*json.loads(_FLAGS.value)[board["core"]], "-std=c11", "-O2"],
        sources=sorted(path for path in files if path.endswith(".c")),
        headers=sorted(path for path in files if path.endswith(".h")),
        arena=plan["arena"]["bytes"],
        weights=plan["weights"]["bytes"],
    )
    return files | {
        "CMakeLists.txt": build_files.cmake(package),
        "LICENSE": Path(_LICENSE.value).read_text(),
        "Makefile": build_files.makefile(package),
        "README.md": build_files.readme(package),
        f"Pilotlight.{name}.pdsc": build_files.pdsc(package),
        "example_main.c": example.main_source(name),
        "examples/check/check.ino": example.sketch(name),
        "flags.txt": " ".join(package.flags) + "\n",
        "library.json": build_files.platformio(package),
        "library.properties": build_files.arduino(package),
        "zephyr/CMakeLists.txt": build_files.zephyr_cmake(package),
        "zephyr/Kconfig": build_files.zephyr_kconfig(package),
        "zephyr/module.yml": build_files.zephyr_module(package),
    }


def write_zip(path: Path, files: Mapping[str, str]) -> None:
    """Writes the files in the order of their names, without times."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[name])


def main(argv: list[str]) -> int:
    try:
        files = contents([Path(path) for path in argv[1:]])
    except PackageError as error:
        print(f"{_OUTPUT.value}: {error}", file=sys.stderr)
        return 1
    write_zip(Path(_OUTPUT.value), files)
    return 0


if __name__ == "__main__":
    app.run(main)
