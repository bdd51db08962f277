# SPDX-License-Identifier: Apache-2.0
"""Kernels on bytes have a form for each class of cores, or the README gives the reason."""

import ast
import re
from pathlib import Path

import kernels.registry

_KERNELS = Path(kernels.registry.__file__).parent

_CLASSES = {"dsp", "mve"}

_ON_BYTES = re.compile(r"(?P<stem>\w+?)(_s8|_x8)$|(?P<copy>copy)$")

_ROW = re.compile(r"^\| (?P<sources>`[^|]*) \| (?P<classes>`dsp`|`mve`|both) \| (?P<why>[^|]+) \|$")


def _libraries(build: Path) -> list[dict[str, ast.expr]]:
    """The arguments of each kernel(…) and kernel_library(…)."""
    calls = [n.value for n in ast.parse(build.read_text()).body if isinstance(n, ast.Expr)]
    return [
        {argument.arg: argument.value for argument in call.keywords if argument.arg}
        for call in calls
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in ("kernel", "kernel_library")
    ]


def _missing() -> dict[str, set[str]]:
    """Return the missing classes of each source, by its name without the type."""
    found: dict[str, set[str]] = {}
    for build in sorted(_KERNELS.glob("*/BUILD.bazel")):
        for library in _libraries(build):
            variants = ast.literal_eval(library["variants"]) if "variants" in library else {}
            only = ast.literal_eval(library["only"]) if "only" in library else {}
            for base, classes in variants.items():
                match = _ON_BYTES.match(base)
                if match is None:
                    continue
                stem = match["stem"] or match["copy"]
                # Functions of one class alone replace the function with the folder's name, and one
                # with a prefix of their name.
                is_first = stem == build.parent.name
                instead = [c for name, c in only.items() if is_first or name.startswith(f"{stem}_")]
                has = set(classes).union(*instead)
                if _CLASSES - has:
                    found[stem] = _CLASSES - has
    return found


def _explained() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for line in (_KERNELS / "README.md").read_text().splitlines():
        row = _ROW.match(line)
        if row and "int16" not in row["sources"]:
            names = re.findall(r"`(?:common/)?(\w+)`", row["sources"])
            classes = _CLASSES if row["classes"] == "both" else {row["classes"].strip("`")}
            for name in names:
                found.setdefault(name, set()).update(classes)
    return found


def test_what_lacks_a_form_has_a_reason() -> None:
    missing, explained = _missing(), _explained()
    without = {stem: classes - explained.get(stem, set()) for stem, classes in missing.items()}
    assert {stem: classes for stem, classes in without.items() if classes} == {}


def test_reasons_are_of_what_lacks_a_form() -> None:
    """A reason must be removed once the form exists. Sources without a type are ignored."""
    missing, explained = _missing(), _explained()
    bases = {
        match["stem"] or match["copy"]
        for build in _KERNELS.glob("*/BUILD.bazel")
        for library in _libraries(build)
        for base in (ast.literal_eval(library["variants"]) if "variants" in library else {})
        if (match := _ON_BYTES.match(base))
    }
    left = {name: explained[name] - missing.get(name, set()) for name in explained if name in bases}
    assert {name: classes for name, classes in left.items() if classes} == {}


def test_helium_of_integers_has_no_vectors_of_floats() -> None:
    """For a core with integer-only Helium, sources with float vectors compile in their
    plain form.
    """
    found = {}
    for build in _KERNELS.glob("*/BUILD.bazel"):
        for library in _libraries(build):
            if "float_vectors" in library:
                found[build.parent.name] = ast.literal_eval(library["float_vectors"])
    assert found
    for folder, bases in found.items():
        archive = (_KERNELS / f"{folder}_without_float_vectors.a").read_bytes()
        for base in bases:
            assert f"{base}_scalar".encode() in archive
            assert f"{base}_mve".encode() not in archive
