# SPDX-License-Identifier: Apache-2.0
"""Choice of a package's sources: by a linker's map, or without one by the names used in C."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from pathlib import Path, PurePosixPath
from typing import Any

_MEMBER = re.compile(r"^(\S+?)\((\S+?)(?:\.pic)?\.o\)$", re.MULTILINE)
_START = "Archive member included"
_OUTPUT = re.compile(r"^(?:.*/)?bazel-out/[^/]+/bin/")
_EXTERNAL = re.compile(r"^external/[^/]+/")
_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)

# The program has its own copy of the rest: start-up, console, the app.
PACKED = ("kernels/", "firmware/runtime/")
"""Folders with a package's sources."""


class ChoiceError(Exception):
    """Package that cannot be made; the text gives the reason."""


def include_path(path: str) -> str:
    """Return a file's path in an #include: below the workspace or the outputs of the build."""
    return _EXTERNAL.sub("", _OUTPUT.sub("", path))


def linked(link_map: str) -> set[str]:
    """Return the paths, without suffix, of objects linked from libraries:
    `kernels/conv2d/conv2d_s8`.
    """
    _, found, text = link_map.partition(_START)
    if not found:
        raise ChoiceError("the link map does not list the objects taken from libraries")
    members = _MEMBER.findall(text.partition("Memory Configuration")[0])
    return {str(PurePosixPath(include_path(archive)).parent / name) for archive, name in members}


_VARIANTS = {
    "scalar": ("_scalar",),
    "thumb1": ("_thumb1", "_scalar"),
    "dsp": ("_dsp", "_scalar"),
    "mve": ("_mve", "_dsp", "_scalar"),
}
"""Endings of a source's name by the core's class of kernels, best first (kernel_library.bzl)."""

_OTHER_PROGRAMS = ("_host", "_profiled", "_test")
"""Endings of sources never linked into a device program."""

_APPS_CALL = ("firmware/runtime/model", "firmware/runtime/values")

_DEFINITION = re.compile(
    r"^(?!static|typedef|extern)\w[\w *]*?\b(pl_\w+)(?:\([^;{]*\)\s*\{|(?:\[[^\]]*\])?\s*[=;])",
    re.MULTILINE,
)
_NAME = re.compile(r"\bpl_\w+")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DECLARATION = re.compile(r"^(?!static|typedef)[A-Za-z][^{};#]*\)\s*;", re.MULTILINE)


def _variant(path: str, isa: str) -> int | None:
    """Return the rank of a source among those defining the same function; None for others."""
    stem = path.removesuffix(".c")
    ends = _VARIANTS[isa]
    if stem.endswith(_OTHER_PROGRAMS) or stem.endswith(
        tuple(end for ends in _VARIANTS.values() for end in ends if end not in _VARIANTS[isa])
    ):
        return None
    return next((rank for rank, end in enumerate(ends) if stem.endswith(end)), len(ends))


def needed(by_path: Mapping[str, Path], isa: str, plans: Sequence[str]) -> set[str]:
    """Return the paths, without suffix, of the sources plans and apps need, like `linked` does.

    A source is needed if it defines a name used in a needed source or one of its headers.

    Args:
      by_path: all C by its paths in #include, variants for other cores too.
      isa: class of kernels: "scalar", "thumb1", "dsp" or "mve".
      plans: names of the plans.
    """
    texts = {path: _COMMENT.sub("", file.read_text()) for path, file in by_path.items()}
    defines: dict[str, tuple[int, str]] = {}
    for path in sorted(texts):
        rank = _variant(path, isa) if path.endswith(".c") else None
        if rank is not None:
            for name in _DEFINITION.findall(texts[path]):
                defines[name] = min(defines.get(name, (rank, path)), (rank, path))
    todo = [f"{path}.c" for path in _APPS_CALL]
    todo += [p for p in texts if PurePosixPath(p).name in {f"{plan}.plan.c" for plan in plans}]
    seen: set[str] = set()
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        used = set(_NAME.findall(_DECLARATION.sub("", texts[path])))
        todo += [defines[name][1] for name in used if name in defines]
        todo += [include for include in _INCLUDE.findall(texts[path]) if include in texts]
    return {path.removesuffix(".c") for path in seen if path.endswith(".c")}


def check_plan(plan: Mapping[str, Any]) -> None:
    """Raise PackageError where a model needs more than kernels and the runtime."""
    for step in plan["steps"]:
        if "delegate" in step:
            raise ChoiceError(
                f"op {step['id']}, {step['module']}, runs on an NPU, whose driver packages do not "
                "have: pack the image of a board without one, or lower for cortex-m"
            )


def choose(by_path: Mapping[str, Path], wanted: Set[str], plans: Sequence[str]) -> dict[str, Path]:
    """Return files by their paths in #include.

    Args:
      by_path: all C of the program; the result is a part of it.
      wanted: paths of the linked sources, without suffix: `linked` or `needed`.
      plans: names of the plans.

    Raises:
      PackageError: a needed file is not among the sources.
    """
    files = {f"{plan}.plan.c" for plan in plans}
    chosen = {
        path: file
        for path, file in by_path.items()
        if path.endswith(".c")
        and path.removesuffix(".c") in wanted
        and (path.startswith(PACKED) or PurePosixPath(path).name in files)
    }
    for plan in plans:
        if not any(PurePosixPath(path).name == f"{plan}.plan.c" for path in chosen):
            raise ChoiceError(f"the program does not contain the plan {plan}")
    missing = {p for p in wanted if p.startswith(PACKED)} - {p.removesuffix(".c") for p in chosen}
    if missing:
        raise ChoiceError(f"{', '.join(sorted(missing))}: the source is unknown")
    todo = list(chosen)
    while todo:
        path = todo.pop()
        for include in _INCLUDE.findall(chosen[path].read_text()):
            if include in chosen:
                continue
            if include not in by_path:
                raise ChoiceError(
                    f"{path} includes {include}, which is not a source of the program"
                )
            chosen[include] = by_path[include]
            todo.append(include)
    return dict(sorted(chosen.items()))
