# SPDX-License-Identifier: Apache-2.0
"""Converts model inputs in any form that users give to the model's tensors.

A sample is one tensor, a tuple or list of forward's arguments in order, or a dict of arguments by
name. An argument may itself be a tuple, list or dict of tensors. numpy arrays become tensors;
float64 becomes float32. Other values (None, a number, a text) are part of the model, and equal in
every sample. Items without an argument in forward are left out, such as the labels of a
DataLoader's (x, y).
"""

from __future__ import annotations

import copy
import inspect
import itertools
import keyword
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch.export import ExportedProgram

from aot.accept.calibration import as_inputs, iterable
from aot.accept.program import by_name, signature_of, tensor_names
from aot.errors import LoweringError, describe

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

Tensors = tuple[torch.Tensor, ...]


class Inputs:
    """Converter from samples to the model's tensors.

    Args:
      model: the model for the tensors.
      example: a sample.
      name: the example's name in errors.

    Attributes:
      model: the same model; its forward takes the tensors one by one.
      example: the example's tensors.

    Raises:
      LoweringError: the example is no sample, or does not fit forward.
    """

    def __init__(
        self, model: torch.nn.Module | ExportedProgram, example: object, name: str
    ) -> None:
        self._signature = _signature(model)
        given = self._arguments(example, name)
        leaves = dict(_leaves(given.arguments))
        self._constants = {p: v for p, v in leaves.items() if not isinstance(v, torch.Tensor)}
        self._paths = [path for path in leaves if path not in self._constants]
        if not self._paths:
            raise LoweringError(
                f"{name} is {describe(example)} and has no tensor in it. Pass tensors, or tuples, "
                "lists and dicts of tensors."
            )
        if isinstance(model, ExportedProgram):
            self._take_as(model, name)
        self.example = self.tensors(example, name)
        self.model = model
        plain = not given.kwargs and all(isinstance(a, torch.Tensor) for a in given.args)
        if isinstance(model, torch.nn.Module) and not plain:
            self.model = _flat(model, given, self._paths)

    def _take_as(self, program: ExportedProgram, name: str) -> None:
        """Use the order of a program's tensors."""
        example = [torch.empty(0)] * len(tensor_names(program))
        leaves = dict(_leaves(by_name(program, example)))
        paths = [path for path, value in leaves.items() if isinstance(value, torch.Tensor)]
        other = [p for p, v in self._constants.items() if p not in leaves or leaves[p] != v]
        if set(paths) != set(self._paths) or other:
            raise LoweringError(
                f"{name} has {_listed([*self._paths, *other])}, but the program was exported with "
                f"{_listed((f'{p}={v!r}' if p not in paths else p for p, v in leaves.items()))}."
            )
        self._paths = paths

    def tensors(self, sample: Any, name: str) -> Tensors:
        """Return a sample's tensors in the order of forward's arguments. A tuple of these is
        accepted, too.

        Raises:
          LoweringError: it is no sample, or has other arguments than the example.
        """
        flat = isinstance(sample, tuple) and len(sample) == len(self._paths) > 1
        if flat and all(isinstance(x, torch.Tensor) for x in sample):
            return as_inputs(sample, name)
        leaves = dict(_leaves(self._arguments(sample, name).arguments))
        known = [*self._paths, *self._constants]
        if leaves.keys() != set(known) and not _has_tensor(list(leaves.values())):
            raise LoweringError(
                f"{name} is {describe(sample)} and has no tensor in it. Convert numbers with "
                "torch.tensor(...)."
            )
        if leaves.keys() != set(known):
            raise LoweringError(
                f"{name} has {_listed(leaves)}, but the example has {_listed(known)}. All samples "
                "must have the inputs of the example. Drop labels and other extra fields."
            )
        for path, value in self._constants.items():
            if type(leaves[path]) is not type(value) or leaves[path] != value:
                raise LoweringError(
                    f"{name}: {path} is {leaves[path]!r:.40}, but {value!r:.40} in the example. "
                    "Values other than tensors are part of the model and must be equal in all "
                    "samples."
                )
        return as_inputs(tuple(leaves[path] for path in self._paths), name)

    def of_call(self, *args: Any, **kwargs: Any) -> Tensors:
        """Return the tensors of a call of the model. Raise TypeError if the arguments
        do not fit.
        """
        leaves = dict(_leaves(self._signature.bind(*args, **kwargs).arguments))
        if missing := [path for path in self._paths if path not in leaves]:
            raise TypeError(f"the model is called without {_listed(missing)}.")
        return tuple(leaves[path] for path in self._paths)

    def samples(
        self, data: object, name: str, splits: bool = False
    ) -> Iterator[Tensors | Iterator[Tensors]]:
        """Yield samples, or sequences of samples, as tuples of tensors.

        An array of the example's rank is one batch of samples. An array of higher rank holds
        samples along its first dimension.

        Args:
          data: the user's data.
          name: the data's name in errors.
          splits: True if a batch of several examples is split into that many samples.

        Raises:
          LoweringError: the data is not iterable; or, once it is reached, an item is no
            sample.
        """
        array = as_tensors(data) if isinstance(data, np.ndarray) else data
        is_batch = (
            isinstance(array, torch.Tensor)
            and len(self.example) == 1
            and array.dim() == self.example[0].dim()
        )
        return self._samples([array] if is_batch else iterable(data, name), name, splits)

    def _samples(
        self, data: Iterable[Any], name: str, splits: bool
    ) -> Iterator[Tensors | Iterator[Tensors]]:
        count = itertools.count()
        for item in data:
            if self._is_sequence(item):
                yield (self.tensors(s, f"{name} sample {next(count)}") for s in item)
            else:
                number = next(count)
                self._check_pair(item, f"{name} sample {number}")
                tensors = self.tensors(item, f"{name} sample {number}")
                yield from self._split(tensors) if splits else [tensors]

    def _is_sequence(self, item: Any) -> bool:
        """Return True if an item of calibration data is a sequence of samples.

        A sequence is a generator, or a list of items other than tensors. A list with the example's
        own structure is a sample.
        """
        if isinstance(item, Iterator):
            return True
        if not isinstance(item, list) or not item or not isinstance(item[0], tuple | list | dict):
            return False
        try:
            self.tensors(item, "")
        except LoweringError:
            return True
        return False

    def _check_pair(self, item: Any, name: str) -> None:
        """Raise LoweringError for an ambiguous list: two samples, or a sample with a
        similar label.
        """
        if not isinstance(item, list) or len(item) != 2 or len(self.example) != 1:
            return
        (example,) = self.example
        like = [as_tensors(x) for x in item]
        if all(isinstance(x, torch.Tensor) and _are_alike(x, example) for x in like):
            raise LoweringError(
                f"{name} is a list of two tensors, both like the input. Pass two samples in "
                "sequence as [(a,), (b,)]. Pass a sample with its label as (a, b)."
            )

    def _split(self, tensors: Tensors) -> list[Tensors]:
        sizes = {
            len(x) / len(e) if x.dim() == e.dim() > 0 and x.shape[1:] == e.shape[1:] else 0.0
            for x, e in zip(tensors, self.example, strict=True)
        }
        size = sizes.pop()
        if sizes or size <= 1 or size % 1:
            return [tensors]
        return list(zip(*(x.chunk(int(size)) for x in tensors), strict=True))

    def _arguments(self, sample: object, name: str) -> inspect.BoundArguments:
        sample = as_tensors(sample)
        given = sample if isinstance(sample, tuple | list) else (sample,)
        parameters = list(self._signature.parameters.values())
        names = {p.name for p in parameters if p.kind is not p.POSITIONAL_ONLY}
        any_name = any(p.kind is p.VAR_KEYWORD for p in parameters)
        try:
            if isinstance(sample, Mapping) and (any_name or names >= set(sample)):
                return self._signature.bind(**sample)
            if isinstance(sample, Mapping) and len(parameters) > 1:
                raise TypeError(f"forward has no argument {min(map(str, sample.keys() - names))!r}")
            if not isinstance(sample, torch.Tensor | tuple | list | Mapping):
                raise TypeError("not a sample")
            positional = [p for p in parameters if p.kind in _POSITIONAL]
            takes_more = any(p.kind is p.VAR_POSITIONAL for p in parameters)
            if len(given) == len(positional) + 1 > 1 and not takes_more:
                given = given[:-1]  # a label
            return self._signature.bind(*given)
        except TypeError as error:
            is_sequence = isinstance(sample, list) and len(sample) > len(parameters)
            steps = ", or for a sequence a list of such tuples" if is_sequence else ""
            forms = (
                f"a tensor, a tuple of the arguments of forward{self._signature} in this order, or "
                f"a dict of them by name{steps}"
            )
            if isinstance(sample, tuple | list) and not _has_tensor(sample):
                forms = "numbers as a tensor, torch.tensor(...)"
            elif parameters and all(p.kind is p.KEYWORD_ONLY for p in parameters):
                forms = f"a dict of the arguments of forward{self._signature} by name"
            raise LoweringError(f"{name} is {describe(sample)}: {error}. Pass {forms}.") from error


def _has_tensor(sample: Any) -> bool:
    return not sample or any(isinstance(value, torch.Tensor) for _, value in _leaves(sample))


def _are_alike(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype


def first_sample(data: object, name: str) -> tuple[Any, Iterator[Any]]:
    """Return the first sample of calibration data, and data that still has it.

    Raises:
      LoweringError: there is none, or they cannot be iterated over.
    """
    items = iter(iterable(data, name))
    for item in items:
        if isinstance(item, Iterator):
            for sample in item:
                return sample, itertools.chain([itertools.chain([sample], item)], items)
        elif isinstance(item, list) and item and isinstance(item[0], tuple | list | dict):
            return item[0], itertools.chain([item], items)
        else:
            return item, itertools.chain([item], items)
    raise LoweringError(f"{name} yields no samples; give at least one sample.")


def _signature(model: object) -> inspect.Signature:
    """Return forward's signature without annotations; any number of inputs if it has none."""
    inputs = inspect.Parameter("inputs", inspect.Parameter.VAR_POSITIONAL)
    if isinstance(model, ExportedProgram):
        return signature_of(model)
    if not isinstance(model, torch.nn.Module):
        return inspect.Signature([inputs])
    try:
        parameters = list(inspect.signature(model.forward).parameters.values())
    except (TypeError, ValueError):
        return inspect.Signature([inputs])
    empty = inspect.Parameter.empty
    return inspect.Signature([p.replace(annotation=empty) for p in parameters])


def as_tensors(value: Any) -> Any:
    """Return the value with all numpy arrays as tensors, also in tuples, lists and dicts."""
    if isinstance(value, np.ndarray):
        wide = value.astype(np.float32) if value.dtype == np.float64 else value
        wide = wide.astype(wide.dtype.newbyteorder("="), copy=False)
        try:
            return torch.from_numpy(np.require(wide, requirements="C"))
        except TypeError:
            return value  # not of numbers: the error comes at a place needing a tensor
    return _mapped(value, lambda inner, _: as_tensors(inner))


def _mapped(value: Any, function: Any) -> Any:
    """Apply a function to the items of a tuple, list or dict, with their keys.

    Other values stay unchanged.
    """
    if isinstance(value, dict):
        return {key: function(inner, key) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        items = [function(inner, index) for index, inner in enumerate(value)]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the items of nested tuples, lists and dicts by path: "x", "state[0]",
    "batch['image']".
    """
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}[{key!r}]" if path else str(key))
    elif isinstance(value, tuple | list):
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{index}]")
    else:
        yield path, value


def _listed(paths: Iterable[str]) -> str:
    return ", ".join(paths) or "nothing"


def _flat(
    model: torch.nn.Module, example: inspect.BoundArguments, paths: list[str]
) -> torch.nn.Module:
    """Return a model that takes its tensors one by one, in the order of their paths."""
    kind = type(model)

    def forward(self: torch.nn.Module, *tensors: torch.Tensor) -> Any:
        found = dict(zip(paths, tensors, strict=True))

        def fill(value: Any, path: str) -> Any:
            if isinstance(value, tuple | list | dict):
                return _mapped(value, lambda inner, key: fill(inner, f"{path}[{key!r}]"))
            return found.get(path, value)

        filled = {name: fill(value, name) for name, value in example.arguments.items()}
        given = inspect.BoundArguments(example.signature, OrderedDict(filled))
        return kind.forward(self, *given.args, **given.kwargs)

    forward.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, _POSITIONAL[1]) for name in ("self", *_names(paths))]
    )
    flat = copy.copy(model)
    flat.__class__ = type(kind.__name__, (kind,), {"forward": forward})
    return flat


def _names(paths: list[str]) -> list[str]:
    """Return a unique identifier for each path: "batch['image']" is batch_image.

    Identifiers in use get a number.
    """
    names = ["self"]
    for path in paths:
        name = re.sub(r"\W+", "_", path).strip("_")
        if not name.isidentifier() or keyword.iskeyword(name):
            name = f"input_{name}".strip("_")
        numbered = (f"{name}_{n}" for n in itertools.count(1))
        names.append(next(n for n in itertools.chain([name], numbered) if n not in names))
    return names[1:]
