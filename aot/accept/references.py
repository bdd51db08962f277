# SPDX-License-Identifier: Apache-2.0
"""What a user's module or file defines, by a text such as "pkg.module:name"."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Any

from aot.errors import LoweringError, describe, raised

REFERENCE_FORMS = "pkg.module:name or path/to/file.py:name"


def named(reference: str) -> object:
    """What a reference names: "pkg.module:name" in deps or anywhere in the user's workspace, or
    "path/to/file.py:name" relative to where the user called. A file imports what is beside it, as
    Python's own programs do, and both what is in the workspace.

    Raises:
      LoweringError: the text has another form, or there is no such file, module or name.
    """
    module, name = _parts(reference)
    if not hasattr(module, name):
        place, _, _ = reference.rpartition(":")
        # A module may be another one of that name: one of Python's own, or an installed one.
        found = "" if place.endswith(".py") else f" ({getattr(module, '__file__', 'built in')})"
        raise LoweringError(f"{reference}: {place}{found} has no {name!r}")
    return getattr(module, name)


def function(reference: str, given: int = 0) -> Callable[..., Any]:
    """The callable that a reference names. Where it raises an error, or what it yields does, that
    is a LoweringError which says so.

    Args:
      reference: names it.
      given: how many arguments it is called with.

    Raises:
      LoweringError: the text has another form, or there is no such module or name.
    """
    value = named(reference)
    if not callable(value):
        raise LoweringError(f"{reference} must be a function; it is {describe(value)}.")
    needed = [
        p.name
        for p in _parameters(value)
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    if len(needed) > given:
        called = "none" if given == 0 else f"{given}"
        raise LoweringError(
            f"{reference} requires arguments ({', '.join(needed)}), but is called with {called}. "
            "Give them default values."
        )

    @wraps(value, updated=())
    def run(*args: Any) -> Any:
        with _told(reference):
            result = value(*args)
        return _yielded(result, reference) if isinstance(result, Iterator) else result

    return run


def _yielded(items: Iterator[Any], reference: str) -> Iterator[Any]:
    with _told(reference):
        yield from items


@contextmanager
def _told(reference: str) -> Iterator[None]:
    """Within it, what a reference names runs."""
    try:
        yield
    except LoweringError:
        raise
    except Exception as error:
        what = f"{reference} raises {raised(error)}"
        if isinstance(error, FileNotFoundError):
            what += (
                ". For files next to the module use Path(__file__).with_name(...), and list them "
                "in data of the "
            )
            what += "pte_model"
        raise LoweringError(what) from error


def is_defined(reference: str) -> bool:
    """Whether the file or module of a reference, which there has to be, has the name.

    Raises:
      LoweringError: as of `named`.
    """
    return hasattr(*_parts(reference))


def _parameters(value: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(value).parameters.values())
    except ValueError:  # some callables of C modules do not say
        return []


def _parts(reference: str) -> tuple[ModuleType, str]:
    place, _, name = reference.rpartition(":")
    if not place or not name.isidentifier():
        raise LoweringError(f"{reference!r} is not of the form {REFERENCE_FORMS}")
    module = _file(place, reference) if place.endswith(".py") else _module(place, reference)
    return module, name


def _module(name: str, reference: str) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise LoweringError(f"{reference!r} is not of the form {REFERENCE_FORMS}")
    _import_from_workspace()
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise _missing_import(reference, error) from error
        raise LoweringError(
            f"{reference}: {error}. Check that the py_library is in deps and that the path starts "
            "at the workspace's root."
        ) from error
    except Exception as error:
        raise _broken(reference, error) from error


def _file(path: str, reference: str) -> ModuleType:
    place = Path(os.environ.get("BUILD_WORKING_DIRECTORY", ".")) / path
    if not place.is_file():
        raise LoweringError(f"{reference}: file {place} does not exist.")
    _import_from_workspace()
    _import_from(str(place.parent.absolute()))
    name = f"file_{place.stem}"
    spec = importlib.util.spec_from_file_location(name, place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        raise _missing_import(reference, error) from error
    except Exception as error:
        raise _broken(reference, error) from error
    return module


def _import_from_workspace() -> None:
    if workspace := os.environ.get("BUILD_WORKSPACE_DIRECTORY"):  # of `bazel run`
        _import_from(workspace)


def _import_from(folder: str) -> None:
    if folder not in sys.path:
        sys.path.append(folder)


def _missing_import(reference: str, error: ModuleNotFoundError) -> LoweringError:
    return LoweringError(
        f"{reference}: the module imports {error.name}, which is not installed in the "
        "environment. Add its py_library to deps, or add the package to your workspace's "
        "requirements file (docs/outside.md; in Pilotlight's own workspace "
        "tools/python/requirements.in)."
    )


def _broken(reference: str, error: Exception) -> LoweringError:
    return LoweringError(f"{reference}: the module cannot be imported: {raised(error)}")
