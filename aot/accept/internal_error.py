# SPDX-License-Identifier: Apache-2.0
"""Boundary of lowering: an internal fault of Pilotlight becomes one error, with a bundle."""

from __future__ import annotations

import copy
import functools
import inspect
import platform
import tempfile
import traceback
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from aot.accept.inputs import Inputs
from aot.accept.torch_compile import original, without_torch_compile
from aot.dialect.graph import Origin
from aot.errors import LIBRARIES, LoweringError, describe, node_of, op_name, place, place_of

_P = ParamSpec("_P")
_T = TypeVar("_T")

_ROOT = Path(__file__).parents[2]
_OURS = ("aot", "kernels", "npu", "tools")
_AS_USERS = ("models", "testing")
"""Folders of aot with models and data, as users write them."""

_VERSIONS = ("torch", "torchao", "executorch", "numpy")


class InternalError(Exception):
    """A fault of Pilotlight. The text names the op, the line of the user's model, and a file to
    send.

    Attributes:
      bundle: the file: the exported program without weights, the traceback, the versions.
    """

    def __init__(self, message: str, bundle: Path) -> None:
        self.bundle = bundle
        super().__init__(message)


def internal_errors_named(lowers: Callable[_P, _T]) -> Callable[_P, _T]:
    """Decorate a function of lowering: unexpected errors become InternalError.

    LoweringError, errors of the user's own code and failures of the machine pass unchanged.
    """

    @functools.wraps(lowers)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return lowers(*args, **kwargs)
        except (LoweringError, InternalError, MemoryError, OSError):
            raise
        except Exception as error:
            if not _is_ours(error):
                raise
            given = inspect.signature(lowers).bind(*args, **kwargs).arguments
            raise _internal(error, given) from error

    return run


def _is_ours(error: Exception) -> bool:
    """Return True if Pilotlight called the failing library. Frame 0 is the boundary."""
    owners = [_is_file_of_ours(f.filename) for f in traceback.extract_tb(error.__traceback__)[1:]]
    known = [owner for owner in owners if owner is not None]
    return bool(known) and known[-1]


def _is_file_of_ours(name: str) -> bool | None:
    """Return True for Pilotlight's own files, not for libraries or code without a file."""
    path = Path(name)
    if path.is_relative_to(_ROOT) and path.relative_to(_ROOT).parts[0] in _OURS:
        inside = path.relative_to(_ROOT).parts[1]
        return inside not in _AS_USERS and not path.name.startswith("test_")
    return None if name.startswith("<") or any(part in name for part in LIBRARIES) else False


def _internal(error: Exception, given: Mapping[str, Any]) -> InternalError:
    bundle = _bundle(error, given)
    said = f"{type(error).__name__}: {error}".splitlines()[0].removesuffix(": ")
    at = _at(error)
    where = f"\n    at {at}" if at else ""
    return InternalError(
        f"lowering ends in {said}{where}\n    This is a fault of Pilotlight, not of the model. "
        f"Send {bundle}: it holds the program without weights, the traceback and the versions.",
        bundle,
    )


def _at(error: Exception) -> str:
    """Return the op and the line of the model being lowered; "" if unknown."""
    node = node_of(error)
    return "" if node is None else place(*_op_and_place(node))


def _op_and_place(node: Node) -> tuple[str, str]:
    origin = node.meta.get("origin")
    if isinstance(origin, Origin):
        op = ", ".join(origin.ops) or f"{node.target}"
        return op, place(origin.module, origin.source)
    return op_name(node), place_of(node)


def _bundle(error: Exception, given: Mapping[str, Any]) -> Path:
    """Write a file for fault analysis. A model that was not exported is only listed by name."""
    with tempfile.NamedTemporaryFile(
        prefix="pilotlight-fault-", suffix=".zip", delete=False
    ) as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("fault.txt", "\n".join(_told(error, given)))
            try:
                archive.writestr("program.pt2", _without_weights(given))
            except Exception as unexported:
                archive.writestr("program.txt", f"not exported: {unexported}\n")
        return Path(file.name)


def _told(error: Exception, given: Mapping[str, Any]) -> Iterator[str]:
    yield f"python {platform.python_version()} on {platform.platform()}"
    yield from (f"{package} {version(package)}" for package in _VERSIONS)
    for name, value in _settings(given):
        is_plain = isinstance(value, str | bool | float)
        yield f"{name}: {value if is_plain else describe(value)}"
    yield "".join(traceback.format_exception(error))


def _settings(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield arguments; groups of settings are replaced by their members."""
    for name, value in given.items():
        if is_dataclass(value) and not isinstance(value, type):
            yield from ((field.name, getattr(value, field.name)) for field in fields(value))
        else:
            yield name, value


def _without_weights(given: Mapping[str, Any]) -> bytes:
    """Return the exported program with ones in place of floats. Integers, such as indices, stay."""
    taken = Inputs(original(given["model"]), given["example_inputs"], "example_inputs")
    if isinstance(taken.model, ExportedProgram):
        program = copy.copy(taken.model)
    else:
        with without_torch_compile():
            program = torch.export.export(taken.model, taken.example)
    program._state_dict = {name: _ones(value) for name, value in program.state_dict.items()}
    program._constants = {name: _ones(value) for name, value in program.constants.items()}
    program._example_inputs = None
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "program.pt2"
        torch.export.save(program, path)
        return path.read_bytes()


def _ones(value: Any) -> Any:
    """Return a float tensor of ones that stores one number."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return value
    one = torch.ones((), dtype=value.dtype).expand(value.shape)
    return torch.nn.Parameter(one, False) if isinstance(value, torch.nn.Parameter) else one
