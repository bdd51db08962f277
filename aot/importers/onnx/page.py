# SPDX-License-Identifier: Apache-2.0
"""Writes the table of operators in docs/onnx.md, from the registry and its docstrings.

bazel run //aot/importers/onnx:page -- --update
"""

from tools.text.signal_handling import run_main

import inspect

from absl import flags

from aot.importers.onnx import importing
from aot.importers.onnx.registry import FUNCTIONS, LAYERS
from tools.lint.workspace import workspace_root

_UPDATE = flags.DEFINE_bool("update", False, "Write the table of docs/onnx.md.")

PAGE = "docs/onnx.md"
START, END = "<!-- operators -->\n", "<!-- /operators -->\n"


def table() -> str:
    """Return the table of operators: those without limits first, together."""
    limits: dict[str, list[str]] = {}
    for name in sorted({*FUNCTIONS, *LAYERS, *importing.FOLDED}):
        made = FUNCTIONS.get(name) or LAYERS.get(name)
        text = importing.FOLDED.get(name) or (inspect.getdoc(made) if made else "") or ""
        limits.setdefault(" ".join(text.split()), []).append(name)
    free = limits.pop("")
    lines = ["| operator | limits |", "|---|---|"]
    for text, names in sorted([("", free), *limits.items()], key=lambda x: (x[0] != "", x[1])):
        lines.append(f"| {', '.join(f'`{name}`' for name in names)} | {text} |")
    return "\n".join(lines) + "\n"


def updated(text: str) -> str:
    """Return the page with the current table."""
    before, rest = text.split(START)
    _, after = rest.split(END)
    return f"{before}{START}{table()}{END}{after}"


def main(argv: list[str]) -> None:
    path = workspace_root() / PAGE
    if _UPDATE.value:
        path.write_text(updated(path.read_text()))
    else:
        print(table(), end="")


if __name__ == "__main__":
    run_main(main)
