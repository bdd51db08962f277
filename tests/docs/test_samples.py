# SPDX-License-Identifier: Apache-2.0
"""Samples of pages: Python parses and its names exist, BUILD files run, commands name targets.

A block without a language, or with `text`, is output or a file; it has no commands of Bazel.
test_c_samples compiles those in C, test_python_samples runs those in Python.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re

import pytest
from _pytest.mark import ParameterSet

from tests.docs.samples import samples
from tests.docs.starlark import Starlark
from tools.lint.workspace import workspace_root

_ROOT = workspace_root()
_ROOMS = {"aot", "boards", "firmware", "kernels", "npu", "tools"}
_LANGUAGES = {"", "c", "json", "python", "sh", "starlark", "text"}

# A workspace of its own, whose files tests/outside compares with this page.
_OUTSIDE = "docs/outside.md"


def _of(*languages: str) -> list[ParameterSet]:
    counts: dict[str, int] = {}
    found = []
    for page, language, text in samples():
        counts[page] = counts.get(page, 0) + 1
        if language in languages:
            found.append(pytest.param(page, text, id=f"{page}-{counts[page]}"))
    return found


def test_samples_are_found() -> None:
    assert {language for _, language, _ in samples()} <= _LANGUAGES
    assert all(len(_of(language)) > 5 for language in ("c", "python", "sh", "starlark"))


@functools.cache
def _lower() -> inspect.Signature:
    from aot.lower import lower

    return inspect.signature(lower)


@pytest.mark.parametrize(("page", "text"), _of("python"))
def test_python(page: str, text: str) -> None:
    """Imports exist, and calls of lower() have its arguments."""
    tree = ast.parse(text.replace("…", "..."))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module.partition(".")[0] not in _ROOMS:
                continue
            module = importlib.import_module(node.module)
            assert [a.name for a in node.names if not hasattr(module, a.name)] == [], page
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "lower":
            arguments = [ast.unparse(a) for a in node.args if ast.unparse(a) != "..."]
            keywords = {k.arg: 0 for k in node.keywords if k.arg}
            _lower().bind_partial(*arguments, **keywords)


@pytest.mark.parametrize(("page", "text"), _of("starlark"))
def test_starlark(page: str, text: str) -> None:
    """Each macro and rule is loaded, and has these arguments."""
    if page != _OUTSIDE:
        Starlark(_ROOT).build_file(text)


@functools.cache
def _targets(package: str) -> frozenset[str]:
    if not (_ROOT / package / "BUILD.bazel").exists():
        return frozenset()
    rules = [rule for _, rule in Starlark(_ROOT).package(package)]
    files = [file for rule in rules for file in rule.get("outs") or [rule.get("out")]]
    return frozenset(map(str, [*files, *(rule.get("name") for rule in rules)]))


@pytest.mark.parametrize(("page", "text"), _of("sh"))
def test_commands_name_targets(page: str, text: str) -> None:
    # Labels of a workspace of your own belong to other files.
    if page == _OUTSIDE:
        return
    labels = re.findall(r"(?<![\w@:/=])//([\w/]*)(?::([\w.+-]+))?(?!\S*\.\.\.)", text)
    files = r"\.(pte|elf|hex|bin)$"
    for package, name in labels:
        name = name or package.rpartition("/")[2]
        found = _targets(package)
        known = name in found or name == "all" or re.sub(files, "", name) in found
        assert known, f"//{package}:{name}"


@pytest.mark.parametrize(("page", "text"), _of("", "text"))
def test_output_has_no_commands(page: str, text: str) -> None:
    commands = re.findall(r"^(?:tools/)?bazel .*|^load\(.*", text, re.M)
    assert commands == [], f"{page}: mark it as sh or starlark"


@pytest.mark.parametrize("name", ["check_app", "board_test", "firmware_image"])
def test_a_macro_without_load_is_found(name: str) -> None:
    with pytest.raises(NameError, match=name):
        Starlark(_ROOT).build_file(f'{name}(name = "x")')
