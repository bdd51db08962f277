# SPDX-License-Identifier: Apache-2.0
"""Command line that makes and prints signed model packages. model_package() of slot.bzl calls it.

    pack --object=plan.o --plan=plan.json --board=board.json --vectors=model.vectors.npz \\
        --key=key.pem --name=digits --version=1.2.3 --output=digits.plpk
    pack --show --key=public.pem digits.plpk
    pack --public_key --key=key.pem

Paths are relative to the folder that `bazel run` is called in. Exit status: 0; 2 if an input is
invalid.
"""

from tools.text.signal_handling import run_main

import json
import os
import sys
from pathlib import Path

import numpy as np
from absl import app, flags

from aot.slot.object_file import ObjectError, read_object
from aot.slot.package import (
    PackageError,
    make_package,
    private_key,
    public_key,
    read_package,
)
from boards.board import BoardError, load_board
from tools.text.malformed import malformed
from tools.text.written import written

_OBJECT = flags.DEFINE_string("object", "", "The plan's C, compiled for the board.")
_PLAN = flags.DEFINE_string("plan", "", "The plan's json.")
_BOARD = flags.DEFINE_string("board", "", "The board's board.json.")
_VECTORS = flags.DEFINE_string("vectors", "", "An .npz with inputs and expected outputs.")
_LIMIT = flags.DEFINE_integer("limit", 2, "Take that many vectors for the self-test.", 1)
_KEY = flags.DEFINE_string("key", None, "An Ed25519 key in PEM.", required=True)
_NAME = flags.DEFINE_string("name", "", "The model's name.")
_VERSION = flags.DEFINE_string("version", "", "Like 1.2.3; a newer one is larger.")
_OUTPUT = flags.DEFINE_string("output", "", "The package to write.")
_SHOW = flags.DEFINE_bool("show", False, "Check the package that is named, and print its header.")
_PUBLIC = flags.DEFINE_bool("public_key", False, "Print the key's public half, for firmware.")
_MACRO = flags.DEFINE_string("macro", "PL_PUBLIC_KEY", "The macro that it is printed as.")

STATUS_BAD_INPUT = 2


def _path(text: str) -> Path:
    return Path(os.environ.get("BUILD_WORKING_DIRECTORY", ".")) / text  # set by `bazel run`


def _make() -> None:
    with malformed(PackageError, _VECTORS.value), np.load(_path(_VECTORS.value)) as file:
        arrays = {name: file[name][: _LIMIT.value] for name in file.files}
    with malformed(PackageError, _PLAN.value):
        plan = json.loads(_path(_PLAN.value).read_text())
    compiled = read_object(_path(_OBJECT.value).read_bytes())
    key = private_key(_path(_KEY.value).read_bytes())
    core = load_board(_path(_BOARD.value)).core
    with malformed(PackageError, f"{_OBJECT.value} or {_PLAN.value}"):
        package = make_package(compiled, plan, core, arrays, _NAME.value, _VERSION.value, key)
    output = _path(_OUTPUT.value)
    with written(output):
        output.write_bytes(package)


def _show(path: str) -> None:
    package = read_package(_path(path).read_bytes(), public_key(_path(_KEY.value).read_bytes()))
    rows = {
        "model": f"{package.name} {package.version}",
        "io": f"{package.io:#010x}",
        "core": package.core,
        "package": f"{package.bytes} bytes",
        "constants": f"{package.constant_bytes} bytes",
        "memory": f"{package.table_bytes} bytes of tables, {package.arena_bytes} of arena",
        "self-test": f"{package.vectors} vectors",
        "kernels": " ".join(package.kernels),
    }
    print("\n".join(f"{name:<10} {value}" for name, value in rows.items()))


def main(argv: list[str]) -> int:
    making = {"object": _OBJECT, "plan": _PLAN, "board": _BOARD, "vectors": _VECTORS}
    making |= {"name": _NAME, "version": _VERSION, "output": _OUTPUT}
    missing = [f"--{name}" for name, given in making.items() if not given.value]
    try:
        if _PUBLIC.value:
            key = public_key(_path(_KEY.value).read_bytes())
            print(f"#define {_MACRO.value} {{{', '.join(map(str, key))}}}")
        elif _SHOW.value and len(argv) == 2:
            _show(argv[1])
        elif _SHOW.value or missing or len(argv) > 1:
            raise app.UsageError(f"give {', '.join(missing) or 'one package'}, or see --help")
        else:
            _make()
    except (BoardError, ObjectError, OSError, PackageError) as error:
        print(f"pack: {error}", file=sys.stderr)
        return STATUS_BAD_INPUT
    return 0


if __name__ == "__main__":
    run_main(main)
