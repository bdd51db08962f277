# SPDX-License-Identifier: Apache-2.0
"""Pack the models of an image for other build systems.

    make_package --board=board.json --flags_by_core='{"cortex-m3": ["-mcpu=cortex-m3"]}' \\
        --map=app.map --plan=plan.json --pte=model.pte --vectors=model.vectors.npz \\
        --name=app --license=LICENSE --output=app.package.zip SOURCE...

The sources are all C of the program; only the linked ones are packed. Use --isa and --tree in place
of --map if there was no link; the package then has the plan's sources. The same input gives the
same bytes.
"""

import hashlib
import json
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from absl import app, flags

from tools.package import build_files, example
from tools.package.build_files import PackagedModel, SourcePackage
from tools.package.choose import (
    PACKED,
    ChoiceError,
    check_plan,
    choose,
    include_path,
    linked,
    needed,
)

_BOARD = flags.DEFINE_string("board", None, "The board's board.json.", required=True)
_FLAGS = flags.DEFINE_string("flags_by_core", None, "What GCC is told, JSON.", required=True)
_MAP = flags.DEFINE_string("map", None, "The linker's map file, of a program that was linked.")
_ISA = flags.DEFINE_enum(
    "isa", None, ("scalar", "thumb1", "dsp", "mve"), "Without a map: the core's class of kernels."
)
_TREE = flags.DEFINE_string("tree", None, "Without a map: the folder of all C.")
_PLANS = flags.DEFINE_multi_string("plan", None, "A plan's JSON.", required=True)
_PTES = flags.DEFINE_multi_string("pte", None, "A model.", required=True)
_VECTORS = flags.DEFINE_multi_string("vectors", None, "Its test vectors, .npz.", required=True)
_NAME = flags.DEFINE_string("name", None, "Of a package of several models.", required=True)
_LICENSE = flags.DEFINE_string("license", None, "The licence.", required=True)
_OUTPUT = flags.DEFINE_string("output", None, "The .zip to write.", required=True)

_EPOCH = (1980, 1, 1, 0, 0, 0)


def with_vectors(
    plans: Sequence[dict[str, Any]], ptes: Sequence[str], vectors: Sequence[str]
) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each plan with the vector file of its model, in the models' order.

    Raises:
      PackageError: models and plans do not match.
    """
    left = list(plans)
    for pte, file in zip(ptes, vectors, strict=True):
        digest = hashlib.sha256(Path(pte).read_bytes()).hexdigest()
        planned = next((plan for plan in left if plan.get("pte_sha256") == digest), None)
        if planned is None:
            raise ChoiceError(f"the image has no plan made from {pte}")
        left.remove(planned)
        yield planned, file
    if left:
        names = ", ".join(plan["name"] for plan in left)
        raise ChoiceError(f"the image does not name the model of its plan {names}")


def contents(sources: list[Path]) -> dict[str, str]:
    """Return every file of the package by its path in it."""
    plans = [json.loads(Path(path).read_text()) for path in _PLANS.value]
    board = json.loads(Path(_BOARD.value).read_text())
    names = [plan["name"] for plan in plans]
    name = names[0] if len(names) == 1 else _NAME.value
    for plan in plans:
        check_plan(plan)
    if _MAP.value:
        by_path = {include_path(str(path)): path for path in sources}
        wanted = linked(Path(_MAP.value).read_text())
    else:
        by_path = {path.name: path for path in sources}
        assert _TREE.value and _ISA.value  # main requires them
        tree = Path(_TREE.value)
        for folder in PACKED:
            files_below = sorted((tree / folder).rglob("*.[ch]"))
            by_path |= {str(path.relative_to(tree)): path for path in files_below}
        wanted = needed(by_path, _ISA.value, names)
    chosen = choose(by_path, wanted, names)
    files = {f"src/{path}": file.read_text() for path, file in chosen.items()}
    for plan, vectors in with_vectors(plans, _PTES.value, _VECTORS.value):
        (source,) = (path for path in chosen if Path(path).name == f"{plan['name']}.plan.c")
        header = source.removesuffix(".plan.c") + ".h"
        with np.load(vectors) as arrays:
            files[f"src/{plan['name']}_check.c"] = example.check_source(
                plan["name"],
                header,
                arrays,
                len(plan["inputs"]),
                len(plan["outputs"]),
                # Same rule as in firmware/apps/vectors.py: ExecuTorch's own ops, aten's, compute in
                # float32.
                is_close=any(step["op"].startswith("aten::") for step in plan["steps"]),
            )
        files[f"src/{plan['name']}_check.h"] = example.check_header(plan["name"])
    package = SourcePackage(
        name=name,
        models=[
            PackagedModel(
                plan["name"],
                plan["arena"]["bytes"],
                plan["weights"]["bytes"],
                plan["arena"]["shared"],
            )
            for plan in plans
        ],
        board=board["name"],
        core=board["core"],
        flags=[*json.loads(_FLAGS.value)[board["core"]], "-std=c11", "-O2"],
        sources=sorted(path for path in files if path.endswith(".c")),
        headers=sorted(path for path in files if path.endswith(".h")),
    )
    return files | {
        "CMakeLists.txt": build_files.cmake(package),
        "LICENSE": Path(_LICENSE.value).read_text(),
        "Makefile": build_files.makefile(package),
        "README.md": build_files.readme(package),
        f"Pilotlight.{name}.pdsc": build_files.pdsc(package),
        "example_main.c": example.main_source(names),
        "examples/check/check.ino": example.sketch(names),
        "flags.txt": " ".join(package.flags) + "\n",
        "library.json": build_files.platformio(package),
        "library.properties": build_files.arduino(package),
        "zephyr/CMakeLists.txt": build_files.zephyr_cmake(package),
        "zephyr/Kconfig": build_files.zephyr_kconfig(package),
        "zephyr/module.yml": build_files.zephyr_module(package),
    }


def write_zip(path: Path, files: Mapping[str, str]) -> None:
    """Write the files in the order of their names, without times."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[name])


def main(argv: list[str]) -> int:
    if bool(_MAP.value) == bool(_ISA.value and _TREE.value):
        raise app.UsageError("give --map, or --isa and --tree")
    try:
        files = contents([Path(path) for path in argv[1:]])
    except ChoiceError as error:
        print(f"{_OUTPUT.value}: {error}", file=sys.stderr)
        return 1
    write_zip(Path(_OUTPUT.value), files)
    return 0


if __name__ == "__main__":
    app.run(main)
