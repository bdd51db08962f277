# SPDX-License-Identifier: Apache-2.0
"""The `pl` operator library: how an op of the dialect is declared.

An op is one file beside its kernel, `kernels/<op>/op.py`: a reference implementation in torch that
*is* the specification, whose parameters are the op's signature (signature.py), and the shape it
gives.
`define` registers three things with torch: the functional overload, its fake (shape only) form for
export, and the `.out` overload that a .pte refers to. An op with several results returns a tuple,
and its `.out` overload takes `out0`, `out1`, ….
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import Any

import torch

from aot.dialect.signature import Signature
from aot.dialect.transposes import Transposes

_LIBRARY = torch.library.Library("pl", "DEF")

Inferred = tuple[tuple[int, ...], torch.dtype]
"""Shape and dtype of a result."""


def as_first(first: torch.Tensor) -> Inferred:
    """Return shape and dtype of one tensor."""
    return tuple(first.shape), first.dtype


def broadcast(a: torch.Tensor, b: torch.Tensor) -> Inferred:
    """Return the shape that two tensors broadcast to, and the dtype of the first."""
    return tuple(torch.broadcast_shapes(a.shape, b.shape)), a.dtype


def reduced(input: torch.Tensor, dim: Sequence[int], keepdim: bool) -> Inferred:
    """Return the shape without the dimensions dim, and the dtype."""
    return reduced_shape(input.shape, dim, keepdim), input.dtype


def reduced_shape(shape: Sequence[int], dim: Sequence[int], keepdim: bool) -> tuple[int, ...]:
    """Return a shape with the dimensions dim of size 1 or left out; dim are not negative."""
    return tuple(1 if d in dim else s for d, s in enumerate(shape) if keepdim or d not in dim)


@dataclass(frozen=True)
class Op:
    """One op of the dialect.

    Attributes:
      name: without the namespace, e.g. "conv2d".
      reference: the specification; exact integer arithmetic on torch tensors; gives a tensor, or a
        tuple where there are several results.
      infer: shape and dtype of the output from the same arguments; a list of them where there are
        several results.
      signature: of the reference.
      zero_points: name of an int argument -> name of the tensor (or "output") whose zero_point it
        must equal.
      shares_quantization: what is quantized of the tensor arguments and of the output has one scale
        and zero_point.
      averages: results are numbers between those of the operands, hence rounded.
      spatial: input and output are NHWC.
      macs: multiply-accumulates of one call, for reports; None where the notion does not apply.
      memory_format: how the result lies in memory.
      transposes: how transposes pass through it; None: they stop in front of it.
    """

    name: str
    reference: Callable[..., Any]
    infer: Callable[..., Inferred | Sequence[Inferred]]
    signature: Signature
    zero_points: Mapping[str, str] = field(default_factory=dict)
    shares_quantization: bool = False
    averages: bool = False
    spatial: bool = False
    macs: Callable[..., int] | None = None
    memory_format: torch.memory_format = torch.contiguous_format
    transposes: Transposes | None = None

    @property
    def dtypes(self) -> Mapping[str, tuple[torch.dtype, ...]]:
        """Tensor argument name -> dtypes that it may have."""
        return self.signature.dtypes

    @property
    def results(self) -> int:
        """Number of result tensors of a call."""
        return self.signature.results

    @property
    def overload(self) -> Any:
        """The functional overload, `torch.ops.pl.<name>.default`."""
        return getattr(torch.ops.pl, self.name).default

    def values(self, *args: Any, **kwargs: Any) -> list[torch.Tensor]:
        """Return the results of a call with these arguments, on the meta device."""
        inferred: Any = self.infer(*args, **kwargs)
        return [
            torch.empty(shape, dtype=dtype, device="meta", memory_format=self.memory_format)
            for shape, dtype in ([inferred] if self.results == 1 else inferred)
        ]

    def returned(self, values: Sequence[torch.Tensor]) -> Any:
        """Return the results of a call as torch has them: one is no tuple."""
        return values[0] if self.results == 1 else tuple(values)


OPS: dict[str, Op] = {}


def define(
    *,
    infer: Callable[..., Inferred | Sequence[Inferred]] | None = None,
    zero_points: Mapping[str, str] | None = None,
    shares_quantization: bool = False,
    averages: bool = False,
    spatial: bool = False,
    macs: Callable[..., int] | None = None,
    memory_format: torch.memory_format = torch.contiguous_format,
    transposes: Transposes | None = None,
) -> Callable[[Callable[..., Any]], Op]:
    """Declare the op that the decorated reference function specifies.

    The parameters of the reference and their annotations are the op's arguments.

    Args:
      infer: gives shape and dtype of the output from the arguments that its parameters name (it may
        look at shapes only); a list of them where there are several results. If None, they are
        those of the first argument.
      zero_points: int argument -> tensor argument (or "output") whose zero_point it repeats, where
        its name does not say so: `a_zero_point` is that of `a`.
      shares_quantization: output quantization equals the inputs'.
      averages: results are numbers between those of the operands.
      spatial: input and output are NHWC.
      macs: counts multiply-accumulates from the arguments that its parameters name; `output` is
        the shape of the only result.
      memory_format: how the result lies in memory.
      transposes: how transposes pass through the op, if they do.
    """

    def decorate(reference: Callable[..., Any]) -> Op:
        signature = Signature.of(reference)
        infers = signature.by_name(infer) if infer else lambda first, *_, **__: as_first(first)
        op = Op(
            reference.__name__,
            reference,
            infers,
            signature,
            {**signature.zero_points(), **(zero_points or {})},
            shares_quantization,
            averages,
            spatial,
            signature.by_name(macs, lambda *args, **named: infers(*args, **named)[0])
            if macs
            else None,
            memory_format,
            transposes,
        )
        _register(op)
        OPS[op.name] = op
        return op

    return decorate


def _register(op: Op) -> None:
    arguments = op.signature.schema
    outs = ["out"] if op.results == 1 else [f"out{i}" for i in range(op.results)]
    written = [f"Tensor({letter}!)" for letter in ascii_lowercase[: op.results]]
    out_arguments = ", ".join(map(" ".join, zip(written, outs, strict=True)))
    _LIBRARY.define(f"{op.name}({arguments}) -> ({', '.join(['Tensor'] * op.results)})")
    _LIBRARY.define(f"{op.name}.out({arguments}, *, {out_arguments}) -> ({', '.join(written)})")

    def out_variant(*args: Any, **kwargs: Any) -> Any:
        given = [kwargs.pop(out) for out in outs]
        computed = op.reference(*args, **kwargs)
        for out, value in zip(given, [computed] if op.results == 1 else computed, strict=True):
            out.copy_(value)
        return op.returned(given)

    def fake(*args: Any, **kwargs: Any) -> Any:
        return op.returned(op.values(*args, **kwargs))

    def fake_out(*args: Any, **kwargs: Any) -> Any:
        return op.returned([kwargs[out] for out in outs])

    _LIBRARY.impl(op.name, op.reference, "CPU")
    _LIBRARY.impl(f"{op.name}.out", out_variant, "CPU")
    _LIBRARY.impl(op.name, fake, "Meta")
    _LIBRARY.impl(f"{op.name}.out", fake_out, "Meta")
