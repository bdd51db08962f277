# SPDX-License-Identifier: Apache-2.0
"""The signature of an op: the parameters of its reference and their annotations.

It defines the argument list of the schema, and the verifier's checks: dtypes of tensors, lengths of
lists, zero points.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import torch

from aot.dialect.quantization import ACTIVATIONS

Activation = Annotated[torch.Tensor, ACTIVATIONS]
Movable = Annotated[torch.Tensor, (*ACTIVATIONS, torch.int32, torch.float32, torch.bool)]
Int8 = Annotated[torch.Tensor, (torch.int8,)]
Int16 = Annotated[torch.Tensor, (torch.int16,)]
Int32 = Annotated[torch.Tensor, (torch.int32,)]
Float32 = Annotated[torch.Tensor, (torch.float32,)]
Mask = Annotated[torch.Tensor, (torch.bool,)]
"""Tensors, with their allowed dtypes."""

Pair = Annotated[Sequence[int], 2]
Sides = Annotated[Sequence[int], 4]
"""Lists, with their lengths."""

_SCHEMA = {torch.Tensor: "Tensor", int: "int", bool: "bool", float: "float"}
_ZERO_POINT = "_zero_point"


@dataclass(frozen=True)
class Signature:
    """The arguments and results of an op.

    Attributes:
      arguments: argument name -> its type in a schema, in order.
      dtypes: tensor argument -> its allowed dtypes.
      lengths: list argument -> its length, if fixed.
      results: number of result tensors of a call.
    """

    arguments: Mapping[str, str]
    dtypes: Mapping[str, tuple[torch.dtype, ...]]
    lengths: Mapping[str, int]
    results: int

    @staticmethod
    def of(reference: Callable[..., Any]) -> Signature:
        """Read the annotations of a reference.

        Raises:
          TypeError: an argument's type has no form in a schema, or it is a tensor of any dtype.
        """
        hints = get_type_hints(reference, include_extras=True)
        result = hints.pop("return")
        arguments, dtypes, lengths = {}, {}, {}
        for name, hint in hints.items():
            arguments[name], known = _in_schema(hint)
            if arguments[name].startswith("Tensor"):
                if known is None:
                    raise TypeError(
                        f"{reference.__name__}: give the tensor {name} a dtype in its annotation"
                    )
                dtypes[name] = known
            elif known is not None:
                lengths[name] = known
        results = len(get_args(result)) if get_origin(result) is tuple else 1
        return Signature(arguments, dtypes, lengths, results)

    @property
    def schema(self) -> str:
        """The argument list of a schema."""
        return ", ".join(f"{kind} {name}" for name, kind in self.arguments.items())

    def zero_points(self) -> dict[str, str]:
        """Map each argument `<name>_zero_point` to its tensor, or to "output" (one result)."""
        owners = {*self.dtypes, "output"} if self.results == 1 else set(self.dtypes)
        found = {name: name.removesuffix(_ZERO_POINT) for name in self.arguments}
        return {name: owner for name, owner in found.items() if owner in owners and owner != name}

    def by_name(
        self, function: Callable[..., Any], output: Callable[..., Any] | None = None
    ) -> Callable[..., Any]:
        """Adapt a function of some arguments, by name, to a call with all of them, in order.

        Args:
          function: its parameters are names of arguments, or "output".
          output: returns the value of "output", from all arguments.

        Raises:
          TypeError: the function has another parameter.
        """
        wanted = inspect.signature(function).parameters.keys()
        known = self.arguments.keys() | ({"output"} if output else set())
        if unknown := wanted - known:
            raise TypeError(
                f"{function.__name__} takes {', '.join(sorted(unknown))}, which the op does not "
                "have"
            )

        def of_all(*args: Any, **kwargs: Any) -> Any:
            given = {**dict(zip(self.arguments, args, strict=False)), **kwargs}
            if output is not None and "output" in wanted:
                given["output"] = output(*args, **kwargs)
            return function(**{name: given[name] for name in wanted})

        return of_all


def _in_schema(hint: Any) -> tuple[str, Any]:
    """Return the type in a schema, the dtypes of tensors, and the length of a list."""
    known = None
    if get_origin(hint) is Annotated:
        hint, known = get_args(hint)
    if get_origin(hint) is Sequence:
        item, of_item = _in_schema(*get_args(hint))
        return f"{item}[{known or ''}]", known or of_item
    if hint not in _SCHEMA:
        raise TypeError(f"an op's schema has no type for {hint}")
    return _SCHEMA[hint], known
