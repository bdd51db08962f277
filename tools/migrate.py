# SPDX-License-Identifier: Apache-2.0
"""Rewriter of moved Pilotlight names in your workspace: docs/migration.md lists them.

    python3 tools/migrate.py your/workspace           lists the lines that change
    python3 tools/migrate.py your/workspace --write   changes them

It reads BUILD, .bzl, WORKSPACE, Python, C, shell, Markdown and configuration files.
"""

import argparse
import difflib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

_PAGE = Path(__file__).parents[1] / "docs/migration.md"
_ROW = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \|$", re.MULTILINE)
_READ = {".bzl", ".bazel", ".bazelrc", ".py", ".c", ".cc", ".h", ".sh", ".md", ".toml", ".yml"}
_NAMES = {"BUILD", "WORKSPACE", "MODULE.bazel", ".bazelrc", ".bazelrc.user"}
_IMPORT = re.compile(r"^([ \t]*)from ([\w.]+) import (\([^)]*\)|[^\n(#]+)", re.MULTILINE)
_LABEL = re.compile(r"@(?:pilotlight|_main)?//([\w./-]*)(?::([\w./-]+))?")


class Moves:
    """Old and new names, from the tables of a page."""

    def __init__(self, page: str) -> None:
        rows = _ROW.findall(page)
        self._labels = {_full(old): _full(new) for old, new in rows if old.startswith("//")}
        self._paths = {old: new for old, new in rows if not old.startswith("//")}
        self._modules = {_module(old): _module(new) for old, new in self._paths.items()}
        names = sorted(self._modules, key=len, reverse=True)
        dotted = "|".join(re.escape(name) for name in names if "." in name)
        self._dotted = re.compile(rf"(?<![\w./\0-])({dotted})(?![\w/-])")

    def rewritten(self, text: str, python: bool = False) -> str:
        """Return a file's text with the names of today."""
        text = _LABEL.sub(self._label, text)
        if python:
            text = _IMPORT.sub(self._import, text)
            text = self._dotted.sub(lambda match: self._modules[match[1]], text).replace("\0", "")
        return re.sub(r'(?<=#include ")[\w./-]+', lambda match: self.path(match[0]), text)

    def path(self, old: str) -> str:
        """Return where a file or folder of the tree is now."""
        head, tail = old, ""
        while head:
            if head in self._paths:
                return f"{self._paths[head]}{tail}"
            head, _, last = head.rpartition("/")
            tail = f"/{last}{tail}"
        return old

    def _label(self, match: re.Match[str]) -> str:
        package, target = match[1], match[2] or match[1].rpartition("/")[2]
        repository = match[0][: match[0].index("//")]
        moved = self._labels.get(f"//{package}:{target}")
        if moved is None:
            file = f"{package}/{target}"
            now = self.path(file)
            if now == file:
                return match[0]
            package, _, target = now.rpartition("/")
            moved = f"//{package}:{target}"
        package, _, target = moved.removeprefix("//").partition(":")
        short = package.rpartition("/")[2] == target
        return f"{repository}//{package}" + ("" if short else f":{target}")

    def _import(self, match: re.Match[str]) -> str:
        indent, package, names = match.groups()
        groups: dict[str, list[str]] = {}
        for item in filter(None, (name.strip() for name in names.strip("()").split(","))):
            name, _, alias = item.partition(" as ")
            new = self._modules.get(f"{package}.{name}")
            if new is None:
                groups.setdefault(self._modules.get(package, package), []).append(item)
                continue
            parent, _, last = new.rpartition(".")
            kept = alias or (name if name != last else "")
            groups.setdefault(parent, []).append(f"{last} as {kept}" if kept else last)
        if list(groups) == [package]:
            return match[0]
        lines = (f"{indent}from \0{new} import {', '.join(items)}" for new, items in groups.items())
        return "\n".join(lines) + ("\n" if names.endswith("\n") else "")


def _full(label: str) -> str:
    return label if ":" in label else f"{label}:{label.rpartition('/')[2]}"


def _module(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def files(workspace: Path) -> Iterator[Path]:
    """Yield the files of a workspace with possible names of Pilotlight."""
    for folder, folders, names in os.walk(workspace):
        folders[:] = [name for name in folders if not name.startswith((".git", "bazel-"))]
        for name in names:
            path = Path(folder) / name
            if (path.suffix in _READ or name in _NAMES) and not path.is_symlink():
                yield path


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--write", action="store_true", help="Change the files.")
    arguments = parser.parse_args()
    if not arguments.workspace.is_dir():
        parser.error(f"{arguments.workspace} is no folder")
    moves = Moves(_PAGE.read_text(encoding="utf-8"))
    count = 0
    for path in sorted(files(arguments.workspace)):
        try:
            old = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        new = moves.rewritten(old, python=path.suffix == ".py")
        if new == old:
            continue
        count += 1
        lines = difflib.unified_diff(
            old.splitlines(True), new.splitlines(True), str(path), str(path), n=0
        )
        sys.stdout.writelines(lines)
        if arguments.write:
            path.write_text(new, encoding="utf-8")
    print(f"{count} files {'changed' if arguments.write else 'to change (--write)'}")


if __name__ == "__main__":
    main()
