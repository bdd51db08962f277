# SPDX-License-Identifier: Apache-2.0
"""The `pl` operator library: how an op of the dialect is declared.

An op is one file in `aot/dialect/ops`: a schema, the shape it gives, and a reference implementation
in torch that *is* the specification. `define` registers three things with torch: the functional
overload, its fake (shape only) form for export, and the `.out` overload that a .pte refers to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from aot.dialect.transposes import Transposes

_LIBRARY = torch.library.Library("pl", "DEF")


@dataclass(frozen=True)
class Op:
    """One op of the dialect.

    Attributes:
      name: without the namespace, e.g. "conv2d".
      reference: the specification; exact integer arithmetic on torch tensors.
      infer: `(shape, dtype)` of the output from the same arguments.
      dtypes: tensor argument name -> dtypes that it may have.
      zero_points: name of an int argument -> name of the tensor (or "output") whose zero_point it
        must equal.
      shares_quantization: the output has the scale and zero_point of its (first) tensor argument.
      spatial: input and output are NHWC.
      macs: multiply-accumulates of one call, for reports; None where the notion does not apply.
      memory_format: how the result lies in memory.
      transposes: how transposes pass through it; None: they stop in front of it.
    """

    name: str
    reference: Callable[..., torch.Tensor]
    infer: Callable[..., tuple[tuple[int, ...], torch.dtype]]
    dtypes: Mapping[str, tuple[torch.dtype, ...]]
    zero_points: Mapping[str, str] = field(default_factory=dict)
    shares_quantization: bool = False
    spatial: bool = False
    macs: Callable[..., int] | None = None
    memory_format: torch.memory_format = torch.contiguous_format
    transposes: Transposes | None = None

    @property
    def overload(self) -> Any:
        """The functional overload, `torch.ops.pl.<name>.default`."""
        return getattr(torch.ops.pl, self.name).default


OPS: dict[str, Op] = {}


def define(
    arguments: str,
    *,
    infer: Callable[..., tuple[tuple[int, ...], torch.dtype]],
    dtypes: Mapping[str, tuple[torch.dtype, ...]],
    zero_points: Mapping[str, str] | None = None,
    shares_quantization: bool = False,
    spatial: bool = False,
    macs: Callable[..., int] | None = None,
    memory_format: torch.memory_format = torch.contiguous_format,
    transposes: Transposes | None = None,
) -> Callable[[Callable[..., torch.Tensor]], Op]:
    """Declares the op that the decorated reference function specifies.

    Args:
      arguments: the argument list of the functional schema, e.g. "Tensor input, Tensor table".
      infer: gives shape and dtype of the output from the same arguments (it may look at shapes
        only).
      dtypes: tensor argument name -> dtypes that the verifier lets through.
      zero_points: int argument -> tensor argument (or "output") whose zero_point it repeats.
      shares_quantization: output quantization equals the input's.
      spatial: input and output are NHWC.
      macs: counts multiply-accumulates from the same arguments.
      memory_format: how the result lies in memory.
      transposes: how transposes pass through the op, if they do.
    """

    def decorate(reference: Callable[..., torch.Tensor]) -> Op:
        name = reference.__name__
        _LIBRARY.define(f"{name}({arguments}) -> Tensor")
        _LIBRARY.define(f"{name}.out({arguments}, *, Tensor(a!) out) -> Tensor(a!)")

        def out_variant(*args: Any, out: torch.Tensor, **kwargs: Any) -> torch.Tensor:
            return out.copy_(reference(*args, **kwargs))

        def fake(*args: Any, **kwargs: Any) -> torch.Tensor:
            shape, dtype = infer(*args, **kwargs)
            return torch.empty(shape, dtype=dtype, device="meta", memory_format=memory_format)

        def fake_out(*args: Any, out: torch.Tensor, **kwargs: Any) -> torch.Tensor:
            return out

        _LIBRARY.impl(name, reference, "CPU")
        _LIBRARY.impl(f"{name}.out", out_variant, "CPU")
        _LIBRARY.impl(name, fake, "Meta")
        _LIBRARY.impl(f"{name}.out", fake_out, "Meta")
        op = Op(
            name,
            reference,
            infer,
            dict(dtypes),
            dict(zero_points or {}),
            shares_quantization,
            spatial,
            macs,
            memory_format,
            transposes,
        )
        OPS[name] = op
        return op

    return decorate
