# SPDX-License-Identifier: Apache-2.0
"""Each attribute of each macro and rule acts or is refused: none is dropped without a word."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any, cast

import pytest

from tests.docs.starlark import Refused, Starlark
from tools.lint.workspace import source_files, workspace_root

_ROOT = workspace_root()
_TREES = {name: ast.parse((_ROOT / name).read_text()) for name in source_files(_ROOT, ["*.bzl"])}

# Bazel's own; it is only declared.
_READ_BY_BAZEL = {"_allowlist_function_transition"}


def _read(tree: ast.AST) -> set[str]:
    """Return the names, attributes and texts that are read."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
    return found


def test_every_argument_of_every_function_is_read() -> None:
    dropped, count = [], 0
    for name, tree in _TREES.items():
        for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
            given = [*function.args.args, *function.args.kwonlyargs]
            given += [a for a in (function.args.vararg, function.args.kwarg) if a]
            read = set().union(*(_read(statement) for statement in function.body))
            count += len(given)
            dropped += [
                f"{name} {function.name}({a.arg})"
                for a in given
                if a.arg not in read and not a.arg.startswith("_")
            ]
    assert count > 500 and dropped == []


def _attributes(tree: ast.AST) -> set[str]:
    """Return the keys of dictionaries with `attr.…(…)` as values."""
    found = set()
    for node in (n for n in ast.walk(tree) if isinstance(n, ast.Dict)):
        for key, value in zip(node.keys, node.values, strict=True):
            made = value.func if isinstance(value, ast.Call) else None
            of_attr = isinstance(made, ast.Attribute) and isinstance(made.value, ast.Name)
            if isinstance(key, ast.Constant) and of_attr and made.value.id == "attr":  # type: ignore[union-attr]
                found.add(str(key.value))
    return found


def test_every_attribute_of_every_rule_is_read() -> None:
    declared = {(name, a) for name, tree in _TREES.items() for a in _attributes(tree)}
    everywhere = set().union(*map(_read, _TREES.values()))
    assert len(declared) > 100
    assert [d for d in sorted(declared) if d[1] not in everywhere | _READ_BY_BAZEL] == []


# Macros of the pages, with their required arguments.
_MACROS: dict[str, tuple[str, dict[str, Any]]] = {
    "pte_model": ("aot/pte_model.bzl", {"model": "user.net:factory", "calibration": "user.net:d"}),
    "pte_model of srcs": ("aot/pte_model.bzl", {"srcs": ["net.py"]}),
    "pte_model of a .tflite": ("aot/pte_model.bzl", {"tflite": "net.tflite"}),
    "check_image": (
        "firmware/apps/check_image.bzl",
        {"model": ":net", "board": "//boards/corstone300"},
    ),
    "check_app": ("firmware/apps/vectors.bzl", {"plan": ":plan", "vectors": ":net"}),
    "classify_app": ("firmware/apps/vectors.bzl", {"plan": ":plan", "test_set": ":net"}),
    "vectors_app": (
        "firmware/apps/vectors.bzl",
        {"program": ":main", "plan": ":plan", "vectors": ":net"},
    ),
    "plan_library": ("aot/plan/plan_library.bzl", {"pte": ":net"}),
    "model_package": (
        "firmware/slot/slot.bzl",
        {"model": ":net", "key": "key.pem", "version": "1.0.0", "arena": 1000},
    ),
    "slot_kernels": ("firmware/slot/slot.bzl", {"models": [":net"]}),
    "firmware_image": (
        "boards/firmware_image.bzl",
        {"app": ":app", "board": "//boards/corstone300"},
    ),
    "board_test": ("boards/board_test.bzl", {"srcs": ["main.c"]}),
    "log_mel": (
        "firmware/features/log_mel.bzl",
        {"rate": 16000, "frame": 400, "hop": 160, "bands": 40},
    ),
}


_STARLARK = Starlark(_ROOT)


def _macro(case: str) -> Callable[..., None]:
    return cast(Callable[..., None], _STARLARK.file(_MACROS[case][0])[case.partition(" ")[0]])


def _made(case: str, **changed: Any) -> str:
    """The calls of rules, or why there are none."""
    _STARLARK.made.clear()
    try:
        _macro(case)(**{"name": "net", **_MACROS[case][1], **changed})
    except Refused as refused:
        return f"refused: {refused}"
    return repr(_STARLARK.made)


def _other(default: object) -> Any:
    if isinstance(default, bool):
        return not default
    if isinstance(default, int):
        return default + 1
    if isinstance(default, list):
        return ["other.py"]
    return {"ethos-u55-128": "ethos-u55-128"} if isinstance(default, dict) else "other"


def _parameters(case: str) -> dict[str, Any]:
    """The defaults of a macro's arguments."""
    parameters = inspect.signature(_macro(case)).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD}


_ARGUMENTS = [(case, argument) for case in _MACROS for argument in _parameters(case)]


@pytest.mark.parametrize(("case", "argument"), _ARGUMENTS)
def test_an_argument_acts_or_is_refused(case: str, argument: str) -> None:
    default = _MACROS[case][1].get(argument, _parameters(case)[argument])
    plain = _made(case)
    assert not plain.startswith("refused")
    assert _made(case, **{argument: _other(default)}) != plain


@pytest.mark.parametrize("argument", ["quantization", "observer", "io_layout", "min_sqnr", "train"])
def test_a_tflite_file_takes_no_setting_of_a_model(argument: str) -> None:
    expected = f"refused: pte_model net: a .tflite file takes no {argument}; remove it"
    assert _made("pte_model of a .tflite", **{argument: "1"}) == expected


@pytest.mark.parametrize(
    ("attribute", "value", "npu", "flag"),
    [
        ("verify_npu", "off", "ethos-u55-128", "--verify_npu=off"),
        ("neutron", "auto", "imxrt700", "--neutron=auto"),
    ],
)
def test_settings_of_an_npu(attribute: str, value: str, npu: str, flag: str) -> None:
    alone = _made("pte_model", **{attribute: value})
    assert alone.startswith(f"refused: pte_model net: {attribute} is for the targets")
    as_target = _made("pte_model", **{attribute: value, "target": npu})
    as_engine = _made("pte_model", **{attribute: value, "engines": {npu: npu}})
    assert as_target.count(flag) == as_engine.count(flag) == 1
