# SPDX-License-Identifier: Apache-2.0
"""The description of a kernels' folder in its cases.py."""

import importlib.util
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import kernels.registry
from kernels.testing.case import Case, Layer, Mutant, Valid

_KERNELS = Path(kernels.registry.__file__).parent


class IncompleteFolder(ValueError):
    """A kernel's folder lacks something. The text gives the missing code and its place."""


@dataclass(frozen=True)
class Folder:
    """A cases.py.

    Attributes:
      name: of the folder.
      cases: calls with values, for the kernels' test.
      calls: a valid call of each op, and refused ones.
      mutants: bugs for the cases to find.
      layers: calls with instruction counts.
    """

    name: str
    cases: Callable[[], Iterable[Case]]
    calls: Sequence[Valid]
    mutants: Sequence[Mutant]
    layers: Callable[[], Iterable[Layer]]


def folder(name: str) -> Folder:
    """Return the contents of kernels/<name>/cases.py.

    Raise IncompleteFolder if something is missing.
    """
    path = f"kernels/{name}/cases.py"
    if importlib.util.find_spec(f"kernels.{name}.cases") is None:
        raise IncompleteFolder(f"{path} is missing: see kernels/README.md")
    module = importlib.import_module(f"kernels.{name}.cases")
    parts = {"cases": "cases()", "calls": "CALLS", "mutants": "MUTANTS", "layers": "layers()"}
    missing = [part for part in parts.values() if not hasattr(module, part.removesuffix("()"))]
    if missing:
        raise IncompleteFolder(f"{path} has no {', '.join(missing)}: see kernels/README.md")
    return Folder(
        name, **{field: getattr(module, part.removesuffix("()")) for field, part in parts.items()}
    )


def folders() -> list[Folder]:
    """Return every folder with a kernel.py, by name."""
    names = (path.parent.name for path in _KERNELS.glob("*/kernel.py"))
    return [folder(name) for name in sorted(names) if name != "common"]
