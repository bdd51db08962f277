# SPDX-License-Identifier: Apache-2.0
"""The generated pages of docs/reference: macros with their arguments, and statuses."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

# Files loaded by users. board.bzl also exports functions of files that it loads.
_MACROS = (
    "aot/pte_model.bzl",
    "aot/plan/plan_library.bzl",
    "boards/firmware_image.bzl",
    "boards/board_test.bzl",
    "firmware/apps/check_image.bzl",
    "firmware/apps/vectors.bzl",
    "firmware/features/log_mel.bzl",
    "firmware/slot/slot.bzl",
    "kernels/kernel.bzl",
    "tools/npu/verify_test.bzl",
    "boards/board.bzl",
    "repositories.bzl",
)
_BOARD = "boards/board.bzl"

_STATUSES = {
    "kernels/common/status.h": ("pl_status", "pl_status_name", "Models and kernels"),
    "firmware/slot/status.h": ("pl_slot_status", "pl_slot_status_text", "Model slots"),
    "npu/ethos_u/status.h": ("ethos_u_status", "ethos_u_status_name", "Ethos-U"),
}

_MACROS_HEAD = """# Macros

Look up the `load` line and the arguments of each macro. In a workspace of your own, labels start
with `@pilotlight`: `load("@pilotlight//aot:pte_model.bzl", "pte_model")`.

`tools/bazel run //tests/docs:reference_main -- --update` writes this page from the `.bzl` files.
"""
_STATUSES_HEAD = """# Statuses

Look up the status that a function on the device returned. Every function returns one, and 0 means
success. The compiler warns if you ignore it.

`tools/bazel run //tests/docs:reference_main -- --update` writes this page from the headers.

## Descriptors

A status `PL_ERROR_INPUT_…` or `PL_ERROR_OUTPUT_…` is about a descriptor (`pl_tensor`) that you
passed to a run. Take descriptors from `pl_model_input` and `pl_model_output`. Change only `data`.

| end of the name | fix |
|---|---|
| `_COUNT` | pass as many descriptors as the model has inputs or outputs |
| `_NULL` | set the descriptor and its `data` |
| `_DTYPE`, `_RANK`, `_SHAPE`, `_SCALE`, `_ZERO_POINT` | use the values of the model |
| `_LAYOUT` | use the layout of the model, such as channels last |
| `_SIZE` | make the buffer as large as the tensor |
| `_ALIGNMENT` | align the buffer as the descriptor requires |
| `_OVERLAP` | use a buffer outside the arena, or exactly the model's own place |
"""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _arguments(section: str) -> dict[str, str]:
    """Return the texts of an "Args:" section by argument."""
    found: dict[str, str] = {}
    name = ""
    for line in section.splitlines():
        if start := re.match(r"(?: {2})?\**(\w+): (.*)", line):
            name = start[1]
            found[name] = start[2]
        elif name:
            found[name] += " " + line.strip()
    return found


def _function(node: ast.FunctionDef, file: str) -> Iterator[str]:
    """Yield the lines of one macro."""
    document = ast.get_docstring(node) or ""
    about, _, rest = document.partition("\nArgs:\n")
    texts = _arguments(re.split(r"\n(?=\w+:\n)", rest)[0])
    folder, _, name = file.rpartition("/")
    yield from (f"### {node.name}", "", "```starlark", f'load("//{folder}:{name}", "{node.name}")')
    yield from ("```", "", *about.strip().splitlines(), "")
    arguments, defaults = node.args.args, node.args.defaults
    if not texts:
        yield from (f"`{node.name}({ast.unparse(node.args)})`", "")
    else:
        yield from ("| argument | default | meaning |", "|---|---|---|")
        required = [None] * (len(arguments) - len(defaults))
        for argument, default in zip(arguments, [*required, *defaults], strict=True):
            value = f"`{_cell(ast.unparse(default))}`" if default else "required"
            yield f"| `{argument.arg}` | {value} | {_cell(texts.get(argument.arg, ''))} |"
        if node.args.kwarg:
            name = node.args.kwarg.arg
            yield f"| `**{name}` | | {_cell(texts.get(name, 'attributes of the rule'))} |"
        yield ""


def _functions(root: Path, file: str) -> dict[str, ast.FunctionDef]:
    """Return the public functions that a file defines or, as board.bzl does, passes on."""
    module = ast.parse((root / file).read_text())
    found = {n.name: n for n in module.body if isinstance(n, ast.FunctionDef)}
    if file == _BOARD:
        loads = {
            keyword.arg: (str(ast.literal_eval(call.args[0])), str(ast.literal_eval(keyword.value)))
            for call in (n.value for n in module.body if isinstance(n, ast.Expr))
            if isinstance(call, ast.Call)
            for keyword in call.keywords
        }
        for node in module.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
                label, name = loads[node.value.id]
                source = label.removeprefix("//").replace(":", "/")
                if name in (functions := _functions(root, source)):
                    found[name] = functions[name]
    return {name: node for name, node in sorted(found.items()) if not name.startswith("_")}


def macros(root: Path) -> str:
    """Return the page of macros."""
    lines = [_MACROS_HEAD]
    for file in _MACROS:
        folder, _, name = file.rpartition("/")
        lines += [f"## //{folder}:{name}", ""]
        for function in _functions(root, file).values():
            lines += _function(function, file)
    return "\n".join(lines).rstrip() + "\n"


def status_names(text: str, enum: str) -> dict[str, str]:
    """Return the values of an enum in a header, with the comments after them."""
    body = text.partition(f"}} {enum};")[0].rpartition("typedef enum {")[2]
    found: dict[str, str] = {}
    name = ""
    for line in body.splitlines():
        value, _, comment = line.partition("//")
        if start := re.match(r" *([A-Z]\w+)", value):
            name = start[1]
            found[name] = comment.strip()
        elif name and not value.strip() and len(value) > 4:  # goes on after the line above
            found[name] += " " + comment.strip()
        else:
            name = ""
    return {name: comment for name, comment in found.items() if not name.endswith("STATUS_COUNT")}


def statuses(root: Path) -> str:
    """Return the page of statuses."""
    lines = [_STATUSES_HEAD]
    for file, (enum, text, title) in _STATUSES.items():
        where = f"`{enum}` is in [`{file}`](../../{file})."
        lines += [f"## {title}", "", f"{where} `{text}` returns the name or a text."]
        lines += ["", "| status | meaning |", "|---|---|"]
        for name, comment in status_names((root / file).read_text(), enum).items():
            described = "" if name.endswith("_OK") else "see [descriptors](#descriptors)"
            lines.append(f"| `{name}` | {_cell(comment) or described or 'success'} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


PAGES = {"docs/reference/macros.md": macros, "docs/reference/statuses.md": statuses}
