# SPDX-License-Identifier: Apache-2.0
"""Lookup of an object in a user's module or file, by a text such as "pkg.module:name"."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import re
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
    """Return the object of a reference.

    A reference is "pkg.module:name", in deps or anywhere in the user's workspace; or
    "path/to/file.py:name", relative to the user's working folder. A file may import its neighbours,
    as Python's own programs do. Both may import modules of the workspace.

    Raises:
      LoweringError: the text has another form, or there is no such file, module or name.
    """
    module, name = _parts(reference)
    if not hasattr(module, name):
        place, _, _ = reference.rpartition(":")
        # Another module may have that name: one of Python's own, or an installed one.
        found = "" if place.endswith(".py") else f" ({getattr(module, '__file__', 'built in')})"
        raise LoweringError(f"{reference}: {place}{found} has no {name!r}")
    return getattr(module, name)


def function(reference: str, given: int = 0) -> Callable[..., Any]:
    """Return the callable of a reference.

    An error that it raises, or that its generator raises, becomes a LoweringError.

    Args:
      reference: the reference to the callable.
      given: the number of arguments of the call.

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
    """Run the code of a reference within the context."""
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
    """Return True if the reference's file or module has the name. The file or module must exist.

    Raises:
      LoweringError: see `named`.
    """
    return hasattr(*_parts(reference))


def _parameters(value: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(value).parameters.values())
    except ValueError:  # some callables of C modules have no signature
        return []


def _parts(reference: str) -> tuple[ModuleType, str]:
    place, _, name = reference.rpartition(":")
    if not place or not name.isidentifier():
        raise LoweringError(f"{reference!r} is not of the form {REFERENCE_FORMS}")
    module = _file(place, reference) if place.endswith(".py") else _module(place, reference)
    return module, name


def _module(name: str, reference: str) -> ModuleType:
    # A folder may have a hyphen, which no import statement takes but importlib does.
    if not all(re.fullmatch(r"[\w-]+", part) for part in name.split(".")):
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
    sys.modules[name] = module  # dataclasses look up their module there
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        raise _missing_import(reference, error) from error
    except Exception as error:
        raise _broken(reference, error) from error
    return module


def _import_from_workspace() -> None:
    if workspace := os.environ.get("BUILD_WORKSPACE_DIRECTORY"):  # set by `bazel run`
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
