# SPDX-License-Identifier: Apache-2.0
"""API pages of the site: Python names and C headers of the public interface, from their texts."""

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.lint.workspace import source_files
from tools.site.public import HEADERS, PYTHON

_PYTHON_HEAD = """# Python API

Look up the public functions and classes. The wheel has them below `pilotlight`, such as
`pilotlight.aot.lower`. [Stability](../stability.md) explains which names are public.
"""
_C_HEAD = """# C API

Look up the types, functions and macros of the device. Include a header by its path, such as
`#include "firmware/runtime/model.h"`. Every header works in C++ too.
"""
_SECTION = re.compile(r"^(Args|Attributes|Returns|Yields|Raises):$", re.MULTILINE)
_ENTRY = re.compile(r"^ {2}([\w.*, ]+): ", re.MULTILINE)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _docstring(text: str) -> Iterator[str]:
    """Yield the lines of a docstring, its sections as tables."""
    about, *sections = _SECTION.split(text)
    yield from (about.strip(), "")
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        before, *entries = _ENTRY.split("\n" + body.strip("\n"))
        if not entries:
            yield from (f"{title}: {' '.join(body.split())}", "")
            continue
        yield from (f"| {title.lower()} | {_cell(before)} |", "|---|---|")
        for name, meaning in zip(entries[::2], entries[1::2], strict=True):
            yield f"| `{name}` | {_cell(meaning)} |"
        yield ""


def _signature(node: ast.FunctionDef, name: str) -> str:
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    line = f"{name}({ast.unparse(node.args)}){result}"
    if len(line) <= 88:
        return line
    return f"{name}(\n    " + ",\n    ".join(_parameters(node.args)) + f",\n){result}"


def _parameters(arguments: ast.arguments) -> list[str]:
    """Return the parameters of a function, one text each."""
    text = ast.unparse(arguments)
    found, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            found.append(text[start:at].strip())
            start = at + 1
    return [*found, text[start:].strip()]


def _public(nodes: Sequence[ast.stmt]) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_":
            yield node


def _python_names(nodes: Sequence[ast.stmt], inside: str = "") -> Iterator[str]:
    for node in _public(nodes):
        name = inside + node.name
        text = ast.get_docstring(node) or ""
        if inside and not text:  # an attribute's accessor, or a method of a base class
            continue
        yield from (f"#### {name}" if inside else f"### {name}", "")
        if isinstance(node, ast.FunctionDef):
            is_property = any(ast.unparse(d).endswith("property") for d in node.decorator_list)
            if not is_property:
                yield from ("```python", _signature(node, name), "```", "")
        yield from _docstring(text)
        if isinstance(node, ast.ClassDef):
            yield from _python_names(node.body, f"{name}.")


def python_page(root: Path) -> str:
    """Return the page of Python names."""
    lines = [_PYTHON_HEAD]
    for file in PYTHON:
        module = ast.parse((root / file).read_text())
        names = list(_python_names(module.body))
        if names:
            title = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            lines += [f"## {title}", "", *_docstring(ast.get_docstring(module) or ""), *names]
    return _joined(lines)


def declarations(text: str) -> Iterator[tuple[str, str]]:
    """Yield the comment and the code of each declaration of a header, and first its own comment.

    A block of code ends at a blank line. Bodies of functions are left out.
    """
    text = re.sub(r"^// SPDX.*\n(//\n)?", "", text)
    head, _, rest = text.partition("#ifndef")
    yield head, ""
    rest = re.sub(r'#ifdef __cplusplus\n(extern "C" \{|\}.*)\n#endif', "", rest)
    rest = re.sub(
        r"#(include|endif|ifndef \w+_H_|define \w+_H_|undef).*", "", rest.partition("\n")[2]
    )
    comment = ""
    for block in re.split(r"\n{2,}(?![ \t}])", rest.strip("\n")):
        lines = block.splitlines()
        first = next((i for i, line in enumerate(lines) if not line.startswith("//")), len(lines))
        code = "\n".join(lines[first:])
        comment = "\n".join(lines[:first])
        code = re.sub(r"^((?!typedef|#).*\))\s*\{\n.*?^\}", r"\1;", code, flags=re.M | re.S)
        if code.strip() or comment:
            yield comment, code


def _comment(text: str) -> Iterator[str]:
    """Yield the lines of a comment as Markdown: indented lines are code."""
    is_code = False
    for line in [re.sub(r"^// ?", "", line) for line in text.splitlines()] + [""]:
        now = line.startswith("  ") and not line.lstrip().startswith("- ") or (is_code and not line)
        if now != is_code and (line or is_code):
            yield "```" if is_code else "\n```text"
            is_code = now
        yield line
    if is_code:
        yield "```"


def c_page(root: Path) -> str:
    """Return the page of C headers."""
    lines = [_C_HEAD]
    for file in source_files(root, HEADERS):
        lines += [f"## {file}", ""]
        for comment, code in declarations((root / file).read_text()):
            lines += [*_comment(comment), ""]
            if code.strip():
                lines += ["```c", code.strip("\n"), "```", ""]
    return _joined(lines)


def _joined(lines: Sequence[str]) -> str:
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


PAGES = {"docs/reference/python.md": python_page, "docs/reference/c.md": c_page}
