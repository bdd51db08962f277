# SPDX-License-Identifier: Apache-2.0
"""Lists the public interface of Pilotlight, one name a line, and compares it with the released one.

bazel run //tests/api:surface               prints the names that differ from the released interface
bazel run //tests/api:surface -- --update   writes released.txt, at a release
"""

from tools.text.signal_handling import run_main

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from absl import flags

from tools.lint.workspace import source_files, workspace_root
from tools.site.public import HEADERS, PYTHON, SCHEMAS, STARLARK

_UPDATE = flags.DEFINE_bool("update", False, "Write released.txt.")

RELEASED = "tests/api/released.txt"
CHANGELOG = "CHANGELOG.md"


def _python(text: str) -> Iterator[tuple[str, str]]:
    """Yield public names of a module or of a .bzl file, and their arguments."""
    for node in ast.parse(text).body:
        if getattr(node, "name", "_").startswith("_"):
            continue
        if isinstance(node, ast.FunctionDef):
            yield node.name, f"({ast.unparse(node.args)})"
        elif isinstance(node, ast.ClassDef):
            yield node.name, ""
            for part in node.body:
                if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                    name, value = part.target.id, ": " + ast.unparse(part.annotation)
                elif isinstance(part, ast.FunctionDef):
                    name, value = part.name, f"({ast.unparse(part.args)})"
                else:
                    continue
                if not name.startswith("_"):
                    yield f"{node.name}.{name}", value


def _arguments(text: str) -> Iterator[tuple[str, str]]:
    """Yield each argument of each macro as a name of its own, and the names that files pass on."""
    module = ast.parse(text)
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            arguments, count = node.args, len(node.args.defaults)
            defaults = [None] * (len(arguments.args) - count) + arguments.defaults
            yield node.name, ""
            for argument, default in zip(arguments.args, defaults, strict=True):
                value = "" if default is None else f" = {ast.unparse(default)}"
                yield f"{node.name}.{argument.arg}", value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, rule = node.targets[0].id, node.value
            if name.startswith("_"):
                continue
            yield name, ""
            for keyword in rule.keywords if isinstance(rule, ast.Call) else ():
                if keyword.arg == "attrs" and isinstance(keyword.value, ast.Dict):
                    keys = [key for key in keyword.value.keys if isinstance(key, ast.Constant)]
                    attributes = [str(key.value) for key in keys]
                    yield from ((f"{name}.{a}", "") for a in attributes if a[0] != "_")


def _c(text: str) -> Iterator[tuple[str, str]]:
    """Yield functions, types, fields, constants and macros of a header."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL).replace("\\\n", " ")
    for name in re.findall(r"^#define (PL_\w+)(?!\w*_H_)", text, re.MULTILINE):
        if not name.endswith("_H_"):
            yield name, ""
    text = re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
    for name in re.findall(r"\b(PL_[A-Z0-9_]+)\b(?=\s*(?:=[^,}]*)?[,}])", text):
        yield name, ""
    for kind, body, name in re.findall(
        r"typedef (struct|union)[^{;]*\{(.*?)\}\s*(\w+);", text, re.DOTALL
    ):
        fields = " ".join(body.split())
        yield name, f" {kind} {{ {fields} }}"
    for line in re.split(r"[;{}]", text):
        match = re.fullmatch(r"(.*\W(pl_\w+|board_\w+)\s*\(.*\))", " ".join(line.split()))
        if match and "=" not in match[1]:
            yield match[2], " " + match[1].replace('extern "C" ', "").removeprefix("PL_MUST_USE ")


def _schema(node: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the paths of a JSON schema's properties with their types."""
    if not isinstance(node, Mapping):
        return
    for name, child in node.get("properties", {}).items():
        where = f"{path}.{name}" if path else name
        yield where, f" {child['type']}" if "type" in child else ""
        yield from _schema(child, where)
    yield from _schema(node.get("items"), f"{path}[]")
    for name, child in node.get("$defs", {}).items():
        yield from _schema(child, name)


def surface(root: Path) -> dict[str, str]:
    """Return the signature or value after each public name, by `file name`, in order."""
    readers = (
        (PYTHON, _python),
        (STARLARK, _arguments),
        (HEADERS, _c),
        (SCHEMAS, lambda text: _schema(json.loads(text))),
    )
    found = {}
    for patterns, read in readers:
        files = source_files(root, patterns)
        missing = [p for p in patterns if "*" not in p and p not in files]
        if missing:
            raise ValueError(f"{missing}: such a file is not there; correct tools/site/public.py")
        for file in files:
            for name, value in read((root / file).read_text()):
                found[f"{file} {name}"] = value
    return dict(sorted(found.items()))


def differences(root: Path) -> list[str]:
    """Return `file name` of each public name that is new, changed or gone since the release."""
    lines = (root / RELEASED).read_text().splitlines()
    now = {key + value for key, value in surface(root).items()}
    changed = now.symmetric_difference(lines)
    return sorted({" ".join(re.split(r"[ (:]", line)[:2]) for line in changed})


def unreleased(root: Path) -> str:
    """Return the changelog's section of changes since the release."""
    _, _, rest = (root / CHANGELOG).read_text().partition("\n## Unreleased\n")
    return rest.partition("\n## ")[0]


def unexplained(root: Path) -> list[str]:
    """Return the differences without their name or file in that section.

    A name is its last part (`lower`, `weight_bytes`). A file is listed if all of it moves.
    """
    text = unreleased(root)
    words = {word.lstrip(".") for word in re.findall(r"[\w./-]+", text)}

    def is_named(difference: str) -> bool:
        file, name = difference.split(" ")
        return bool({file, name, re.split(r"[.\]]", name)[-1]} & words)

    return [difference for difference in differences(root) if not is_named(difference)]


def main(argv: Sequence[str]) -> None:
    del argv
    root = workspace_root()
    if _UPDATE.value:
        lines = [key + value for key, value in surface(root).items()]
        (root / RELEASED).write_text("\n".join(lines) + "\n")
        return
    print("\n".join(differences(root)) or "The interface is the released one.")


if __name__ == "__main__":
    run_main(main)
