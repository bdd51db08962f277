# SPDX-License-Identifier: Apache-2.0
"""Check of kernels for `restrict` pointers; none are allowed.

A result may alias its input, at an alias distance derived from the source's order of reads and
writes (kernels/common/overlap.py). A compiler may choose another order for `restrict` pointers.

    bazel run //tools/lint:restrict
"""

from tools.text.signal_handling import run_main

import re

from absl import app

from tools.lint.workspace import source_files, workspace_root

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def lines_with_restrict(text: str) -> list[int]:
    """Return the numbers, from 1, of code lines with `restrict`; comments are skipped."""
    code = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)
    lines = enumerate(code.split("\n"), 1)
    return [number for number, line in lines if re.search(r"\b(__)?restrict(__)?\b", line)]


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    root = workspace_root()
    files = source_files(root, ["kernels/*.c", "kernels/*.h"])
    wrong = 0
    for name in files:
        for line in lines_with_restrict((root / name).read_text(encoding="utf-8")):
            print(f"{name}:{line}: a result may lie over this input (see restrict.py)")
            wrong += 1
    print(f"restrict: {len(files)} files, {wrong} wrong lines")
    if wrong or not files:
        raise SystemExit(1)


if __name__ == "__main__":
    run_main(main)
