# SPDX-License-Identifier: Apache-2.0
"""Writes README.md of this folder: each pass with the first sentence of its docstring.

bazel run //aot/passes:page -- --update
"""

from tools.text.signal_handling import run_main

import ast
from pathlib import Path

from absl import flags

from tools.lint.workspace import source_files, workspace_root

_UPDATE = flags.DEFINE_bool("update", False, "Write README.md in place of printing it.")

FOLDER = "aot/passes"
PAGE = f"{FOLDER}/README.md"
_HEAD = """# Passes

A pass rewrites a graph in place and returns the number of its changes.
`bazel run //aot/passes:page -- --update` writes this page from the passes' docstrings.

- `aten/`: ATen graphs, before and after the quantizer. `export_aten` in `aot/accept/export.py`
  calls them in order.
- `fold_qdq.py`: from the quantized ATen graph to the dialect.
- `rewrite/`: dialect graphs. `_REWRITES` in `aot/artefact/artefact.py` is their order.
"""


def first_sentence(text: str) -> str:
    """Return the first sentence of a module's docstring, on one line."""
    document = ast.get_docstring(ast.parse(text)) or ""
    paragraph = " ".join(document.split("\n\n", 1)[0].split())
    sentence = paragraph.split(". ", 1)[0].rstrip(".")
    return sentence.replace("|", "\\|")


def page(root: Path) -> str:
    """Return the page of a source tree."""
    folders: dict[str, list[str]] = {}
    for name in source_files(root, [f"{FOLDER}/*.py"], ["*/test_*", "*/__init__.py", "*/page.py"]):
        folders.setdefault(name.removeprefix(f"{FOLDER}/").rpartition("/")[0], []).append(name)
    lines = [_HEAD]
    for folder, names in sorted(folders.items()):
        if folder:
            lines += [f"## {folder}", ""]
        lines += ["| module | does |", "|---|---|"]
        for name in names:
            link = name.removeprefix(f"{FOLDER}/")
            text = first_sentence((root / name).read_text())
            lines.append(f"| [`{Path(name).stem}`]({link}) | {text} |")
        lines.append("")
    return "\n".join(lines)


def main(argv: list[str]) -> None:
    root = workspace_root()
    if _UPDATE.value:
        (root / PAGE).write_text(page(root))
    else:
        print(page(root), end="")


if __name__ == "__main__":
    run_main(main)
