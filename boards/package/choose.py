# SPDX-License-Identifier: Apache-2.0
"""Chooses the sources that a program was linked from, and the headers that they include."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

_MEMBER = re.compile(r"^(\S+?)\((\S+?)(?:\.pic)?\.o\)$", re.MULTILINE)
_START = "Archive member included"
_OUTPUT = re.compile(r"^(?:.*/)?bazel-out/[^/]+/bin/")
_EXTERNAL = re.compile(r"^external/[^/]+/")
_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)

# Of the rest the program has its own: start-up, console, the app.
_PACKED = ("kernels/", "firmware/runtime/")


class PackageError(Exception):
    """A package cannot be made; the text says why."""


def include_path(path: str) -> str:
    """The path that a file has in an #include: below the workspace or the outputs of the build."""
    return _EXTERNAL.sub("", _OUTPUT.sub("", path))


def linked(link_map: str) -> set[str]:
    """Paths, without suffix, of what the linker took from libraries: `kernels/conv2d/conv2d_s8`."""
    _, found, text = link_map.partition(_START)
    if not found:
        raise PackageError("the link map does not say what was taken from libraries")
    members = _MEMBER.findall(text.partition("Memory Configuration")[0])
    return {str(PurePosixPath(include_path(archive)).parent / name) for archive, name in members}


def check_plan(plan: Mapping[str, Any]) -> None:
    """Raises PackageError where a model needs more than kernels and the runtime."""
    for step in plan["steps"]:
        if "delegate" in step:
            raise PackageError(
                f"op {step['id']}, {step['module']}, runs on an NPU, whose driver packages do not "
                "have: pack the image of a board without one"
            )


def choose(sources: Sequence[Path], link_map: str, plans: Sequence[str]) -> dict[str, Path]:
    """Returns files by their paths in #include.

    Args:
      sources: all C of the program, of which it takes a part.
      link_map: the linker's map of the program.
      plans: names of the plans.

    Raises:
      PackageError: a file that is needed is not among the sources.
    """
    by_path = {include_path(str(path)): path for path in sources}
    wanted = linked(link_map)
    files = {f"{plan}.plan.c" for plan in plans}
    chosen = {
        path: file
        for path, file in by_path.items()
        if path.endswith(".c")
        and path.removesuffix(".c") in wanted
        and (path.startswith(_PACKED) or PurePosixPath(path).name in files)
    }
    for plan in plans:
        if not any(PurePosixPath(path).name == f"{plan}.plan.c" for path in chosen):
            raise PackageError(f"the program has no plan {plan}")
    missing = {p for p in wanted if p.startswith(_PACKED)} - {p.removesuffix(".c") for p in chosen}
    if missing:
        raise PackageError(f"no source is known of {', '.join(sorted(missing))}")
    todo = list(chosen)
    while todo:
        path = todo.pop()
        for include in _INCLUDE.findall(chosen[path].read_text()):
            if include in chosen:
                continue
            if include not in by_path:
                raise PackageError(f"{path} includes {include}, which is no source of the program")
            chosen[include] = by_path[include]
            todo.append(include)
    return dict(sorted(chosen.items()))
