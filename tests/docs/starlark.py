# SPDX-License-Identifier: Apache-2.0
"""Runs .bzl files in Python: Starlark is a subset of it, except for a few functions."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

# Rules and functions of Bazel's own.
_NATIVE = (
    *("alias", "config_setting", "constraint_setting", "constraint_value", "exports_files"),
    *("filegroup", "genrule", "label_flag", "label_setting", "licenses", "package"),
    *("package_group", "platform", "sh_test", "test_suite", "toolchain", "toolchain_type"),
)
_TYPES = {"str": "string", "NoneType": "NoneType"}


class Refused(Exception):
    """The text of `fail`."""


def _fail(*texts: object) -> None:
    raise Refused(" ".join(map(str, texts)))


class _Anything:
    """Stand-in for Bazel names mentioned by macros but never inspected."""

    def __getattr__(self, name: str) -> _Anything:
        return _Anything()

    def __call__(self, *args: Any, **kwargs: Any) -> _Anything:
        return _Anything()

    def _same(self, *_: object) -> _Anything:
        return self

    __add__ = __radd__ = __mul__ = __rmul__ = __or__ = __ror__ = _same

    def __ge__(self, other: object) -> bool:
        return True

    def __getitem__(self, key: object) -> _Anything:
        return self

    def __iter__(self) -> Iterator[_Anything]:
        return iter(())


class _Loaded(_Anything):
    """A symbol of another repository: as a rule, its calls are noted."""

    def __init__(self, make: Callable[..., None]) -> None:
        self._make = make

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._make(*args, **kwargs)


class _Lists(ast.NodeTransformer):
    """Starlark's `elems`, `keys`, `values` and `items` give lists."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        of = node.func if isinstance(node.func, ast.Attribute) else None
        if of is None or of.attr not in {"elems", "keys", "values", "items"}:
            return node
        given = of.value if of.attr == "elems" else node
        return ast.Call(ast.Name("list", ast.Load()), [given], [])


class Starlark:
    """The .bzl files of a tree.

    Attributes:
      made: calls of rules, each with its name and arguments.
    """

    def __init__(self, root: Path) -> None:
        self.made: list[tuple[str, dict[str, Any]]] = []
        self._root = root
        self._package = "user"
        self._files: dict[str, dict[str, Any]] = {}

    def file(self, name: str) -> dict[str, Any]:
        """Return the names defined by a file."""
        if name not in self._files:
            names = self._files[name] = self._builtins(name)
            tree = _Lists().visit(ast.parse((self._root / name).read_text()))
            exec(compile(ast.fix_missing_locations(tree), name, "exec"), names)
        return self._files[name]

    def package(self, name: str) -> list[tuple[str, dict[str, Any]]]:
        """Return the calls of rules in the BUILD file of a folder."""
        self.made.clear()
        self._package = name
        build = f"{name}/BUILD.bazel".lstrip("/")
        names = self._builtins(build)
        names |= vars(names["native"])
        tree = _Lists().visit(ast.parse((self._root / build).read_text()))
        exec(compile(ast.fix_missing_locations(tree), build, "exec"), names)
        return list(self.made)

    def build_file(self, text: str) -> list[tuple[str, dict[str, Any]]]:
        """Return the calls of rules in a BUILD file of a user."""
        self.made.clear()
        names = self._builtins("user/BUILD.bazel")
        names |= vars(names["native"])
        tree = _Lists().visit(ast.parse(text))
        exec(compile(ast.fix_missing_locations(tree), "BUILD", "exec"), names)
        return list(self.made)

    def _subpackages(self, include: list[str], exclude: Sequence[str] = ()) -> list[str]:
        folder = self._root / self._package
        found = {
            path.parent.name for name in include for path in folder.glob(f"{name}/BUILD.bazel")
        }
        return sorted(found - set(exclude))

    def _maker(self, kind: str) -> Callable[..., None]:
        def make(*args: Any, **kwargs: Any) -> None:
            self.made.append((kind, {"": args, **kwargs}))

        return make

    def _builtins(self, file: str) -> dict[str, Any]:
        names: dict[str, Any] = {}
        package = file.rpartition("/")[0]

        def load(label: str, *symbols: str, **renamed: str) -> None:
            wanted = {s: s for s in symbols} | renamed
            if label.startswith("@"):
                names.update({own: _Loaded(self._maker(theirs)) for own, theirs in wanted.items()})
                return
            folder, _, name = label.removeprefix("//").partition(":")
            found = self.file(f"{folder if label.startswith('//') else package}/{name}".lstrip("/"))
            names.update({own: found[theirs] for own, theirs in wanted.items()})

        native = SimpleNamespace(
            existing_rule=lambda _: None,
            glob=lambda *_, **__: [],
            subpackages=self._subpackages,
            package_name=lambda: self._package,
            package_relative_label=_label,
            **{kind: self._maker(kind) for kind in _NATIVE},
        )
        rules = iter(range(10**6))
        names |= {
            **dict.fromkeys(
                (
                    "attr",
                    "cc_common",
                    "config",
                    "aspect",
                    "provider",
                    "transition",
                    "CcInfo",
                    "CcToolchainConfigInfo",
                ),
                _Anything(),
            ),
            **dict.fromkeys(("DefaultInfo", "OutputGroupInfo", "depset", "platform_common"), list),
            "Label": _label,
            "fail": _fail,
            "json": SimpleNamespace(encode=json.dumps, decode=json.loads, encode_indent=json.dumps),
            "load": load,
            "native": native,
            "module_extension": lambda **_: None,
            "repository_rule": lambda **_: None,
            "tag_class": lambda **_: None,
            "rule": lambda **of: self._maker(
                f"{file} {next(rules)}{'_test' if of.get('test') else ''}"
            ),
            "select": _Anything(),
            "struct": SimpleNamespace,
            "type": lambda x: _TYPES.get(type(x).__name__, type(x).__name__),
        }
        return names


class _Label(str):
    workspace_name = ""

    def same_package_label(self, name: str) -> _Label:
        return _Label(f"//{self.package}:{name}")

    @property
    def package(self) -> str:
        return self.removeprefix("//").partition(":")[0]

    @property
    def name(self) -> str:
        return self.replace("/", ":").rpartition(":")[2]


def _label(text: str) -> _Label:
    return _Label("//user" + text if text.startswith(":") else text)
