# SPDX-License-Identifier: Apache-2.0
"""Check of imports: modules import only their own room and lower ones, without import cycles.

bazel run //tools/lint:rooms
"""

from tools.text.signal_handling import run_main

import ast
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from absl import app

from tools.lint.imports import imports
from tools.lint.workspace import source_files, workspace_root

FLOORS = (
    "tools",
    "kernels/common npu boards aot/__init__.py aot/upstream",
    "aot/errors.py",
    "aot/dialect firmware",
    "kernels",
    "aot/rules aot/pte",
    "aot/plan aot/backends",
    "aot/passes aot/slot",
    "aot/quantizer",
    "aot/accept aot/partition",
    "aot/quality aot/backends/ethos_u",
    "aot/importers",
    "aot/backends/tflite",
    "aot/backends/neutron",
    "aot/targets aot/artefact aot/support aot/options.py",
    "aot/onnx_import.py",
    "aot/lower.py aot/lower_onnx.py aot/lower_tflite.py",
    "aot/advice aot/lower_files.py aot/measure_flags.py aot/testing",
    "aot/lower_main.py tools/simulator tools/npu",
    "aot/bazel tools/image tools/package",
    "aot/models tools/report",
    "tools/wheel",
    "measure",
)
"""Rooms, lowest first. A module may import modules of its own room and of lower floors.

The longest name wins. Tests, `testing` folders, `tests/` and `examples/` import any room. Imports
inside functions and for types count as arrows between rooms, but not for cycles.
"""

_FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms.split()}
_FREE = ["test_*.py", "*/test_*.py", "*/testing/*", "*/testing*.py", "*/tests/*", "tests/*"]
_FREE += ["examples/*"]


def room_of(path: str) -> str | None:
    """Return the room of a module: the longest name in FLOORS at the start of its path."""
    parts = path.split("/")
    names = ("/".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((name for name in names if name in _FLOOR), None)


def imported(nodes: Iterable[ast.AST], modules: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Yield line number and path of each module of the tree imported by statements."""
    for line, names in imports(nodes):
        found = next((modules[name] for name in names if name in modules), None)
        if found:
            yield line, found


def problems(sources: Mapping[str, str], free: Iterable[str] = ()) -> list[str]:
    """Return one line for each upward import, and one for each import cycle.

    Args:
      sources: the text of each module, by its path.
      free: paths of modules with access to any room.
    """
    found, arrows = [], {}
    modules = {
        path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path
        for path in sources
    }
    skipped = set(free)
    for path, text in sorted(sources.items()):
        if path in skipped:
            continue
        room = room_of(path)
        if room is None:
            found.append(f"{path} is in no room: add its folder to FLOORS in tools/lint/rooms.py")
            continue
        tree = ast.parse(text)
        arrows[path] = {target for _, target in imported(tree.body, modules)} - {path}
        for line, target in imported(ast.walk(tree), modules):
            other = room_of(target)
            if other not in (None, room) and _FLOOR[str(other)] >= _FLOOR[room]:
                found.append(
                    f"{path}:{line}: {room} imports {target}, but {other} is not on a lower floor "
                    "(FLOORS in tools/lint/rooms.py). Move what both need down"
                )
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        found.append(f"modules import each other: {' -> '.join(error.args[1])}")
    return found


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    root = workspace_root()
    sources = {path: (root / path).read_text() for path in source_files(root, ["*.py"])}
    lines = problems(sources, source_files(root, _FREE))
    for line in lines:
        print(line, flush=True)
    print(f"rooms: {len(sources)} modules, {len(lines)} problems", flush=True)
    if lines:
        raise SystemExit(1)


if __name__ == "__main__":
    run_main(main)
