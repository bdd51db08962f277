# SPDX-License-Identifier: Apache-2.0
"""Write compile_commands.json: clangd reads the options of each C file there.

bazel run //tools:compile_commands                     all files of a Cortex-M55 image
bazel run //tools:compile_commands -- //boards:other_app //kernels/...
"""

from tools.text.signal_handling import run_main

import json
import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tools.python.bazel import bazel_program

_DEFAULT = ["//boards:corstone300_app"]

# Options unknown to clang.
_OF_GCC = re.compile(r"-fno-canonical-system-headers|-masm-syntax-unified")

# A folder of Bazel's in an option, or by itself. The workspace has no links of these names.
_FOLDER = re.compile(r"^(-[A-Za-z]|--sysroot=)?(external|bazel-out)/")


def command(arguments: Sequence[str], workspace: Path, execution: Path) -> dict[str, Any]:
    """Return the entry of one compilation.

    Args:
        arguments: of the compiler, the compiler first.
        workspace: folder of the sources.
        execution: Bazel's working folder for compilations.
    """
    roots = {"external": execution.parents[1], "bazel-out": execution}
    words = [
        _FOLDER.sub(lambda m: f"{m[1] or ''}{roots[m[2]]}/{m[2]}/", word)
        for word in arguments
        if not _OF_GCC.fullmatch(word)
    ]
    if "arm-none-eabi" in words[0]:
        words.insert(1, "--target=arm-none-eabi")
    source = words[words.index("-c") + 1]
    return {"directory": str(workspace), "file": source, "arguments": words}


def commands(actions: Iterable[Any], workspace: Path, execution: Path) -> list[dict[str, Any]]:
    """Return the entries of a query's actions, the first of each file of the workspace."""
    found: dict[str, dict[str, Any]] = {}
    for action in actions:
        entry = command(action["arguments"], workspace, execution)
        if (workspace / entry["file"]).exists():
            found.setdefault(entry["file"], entry)
    return [found[file] for file in sorted(found)]


def main(argv: list[str]) -> None:
    workspace = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    bazel = bazel_program(workspace)

    def run(*arguments: str) -> str:
        return subprocess.run(
            [bazel, *arguments], cwd=workspace, stdout=subprocess.PIPE, text=True, check=True
        ).stdout

    execution = Path(run("info", "execution_root").strip())
    targets = " + ".join(argv[1:] or _DEFAULT)
    query = f'mnemonic("CppCompile", deps({targets}))'
    text = run("aquery", query, "--output=jsonproto", "--include_artifacts=false")
    entries = commands(json.loads(text).get("actions", []), workspace, execution)
    path = workspace / "compile_commands.json"
    path.write_text(json.dumps(entries, indent=1) + "\n")
    print(f"{path}: {len(entries)} files")


if __name__ == "__main__":
    run_main(main)
