# SPDX-License-Identifier: Apache-2.0
"""Programs of calls drawn from the schemas of torch's operators.

They have any rank from 0 to 6, numbers where schemas accept them, vectors, and optional arguments.
"""

from __future__ import annotations

import operator
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from aot.upstream.torch import OpOverloadPacket
from measure.survey.databases import program_of
from measure.survey.programs import SurveyProgram

_SHAPES = ((), (3,), (1,), (2, 3), (3, 4), (1, 2, 3), (1, 2, 4, 4), (2, 1, 1, 1, 1, 3))
_NOT_CALLED = re.compile(
    r"^_|backward|cudnn|miopen|mkldnn|quantize|_out$|_$|rand|dropout|sparse|csr|csc|coo|bsr"
    r"|jagged|nested|storage|^from_|^to_|lstm|gru|rnn|resize|unsafe|record|stft|fbgemm"
    r"|^lu_|^linalg_|cholesky|triangular|ormqr|geqrf|chalf|embedding_bag|ctc|native_batch_norm"
)
"""Other layouts and devices, random functions, and functions that do not check their arguments."""
_TRIES = 40
_TWO = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "le", "eq", "ne", "and_")

_Draw = Callable[[random.Random, tuple[int, ...]], Any]


def _tensor(draw: random.Random, shape: tuple[int, ...]) -> torch.Tensor:
    generator = torch.Generator().manual_seed(draw.randrange(1 << 30))
    if draw.random() < 0.3:
        shape = draw.choice(_SHAPES)
    kind = draw.random()
    if kind < 0.1:
        return torch.randint(0, 2, shape, generator=generator)
    if kind < 0.15:
        return torch.randint(0, 2, shape, generator=generator).bool()
    return torch.rand(shape, generator=generator) * 2.0 + draw.choice((-1.0, 0.25))


_DRAWN: dict[str, _Draw] = {
    "Tensor": _tensor,
    "Scalar": lambda draw, _: draw.choice((2, 0.5, -1, 3.0)),
    "int": lambda draw, _: draw.choice((0, 1, 2, -1)),
    "SymInt": lambda draw, _: draw.choice((0, 1, 2, -1)),
    "float": lambda draw, _: draw.choice((0.5, 2.0)),
    "bool": lambda draw, _: draw.random() < 0.5,
    "List[Tensor]": lambda draw, shape: [_tensor(draw, shape) for _ in range(2)],
    "List[int]": lambda draw, shape: [draw.choice((1, 2, 0, -1)) for _ in range(draw.randrange(4))],
    "List[SymInt]": lambda draw, shape: [draw.choice((1, 2, 3)) for _ in range(draw.randrange(5))],
    "str": lambda draw, _: draw.choice(("mean", "floor", "trunc", "linear", "none")),
}


def _drawn(draw: random.Random, kind: str, shape: tuple[int, ...]) -> Any:
    """Return an argument. Raise KeyError for a type that cannot be drawn."""
    if kind.startswith("Optional["):
        return None if draw.random() < 0.5 else _drawn(draw, kind[9:-1], shape)
    return _DRAWN[kind](draw, shape)


def _call(draw: random.Random, op: Any) -> tuple[Any, Any]:
    shape = draw.choice(_SHAPES)
    args, kwargs = [], {}
    for entry in op._schema.arguments:
        kind = str(entry.type)
        if entry.name == "reduction":
            args.append(draw.randrange(3))  # torch takes any other, as "none"
            continue
        if entry.name in ("dtype", "layout", "device", "pin_memory", "memory_format", "generator"):
            continue
        if entry.kwarg_only:
            if entry.has_default_value() and draw.random() < 0.5:
                continue
            kwargs[entry.name] = _drawn(draw, kind, shape)
        else:
            args.append(_drawn(draw, kind, shape))
    return tuple(args), kwargs


def _overloads() -> Iterator[tuple[str, Any]]:
    packets = [name for name in dir(torch.ops.aten) if not _NOT_CALLED.search(name)]
    for name in sorted(packets):
        packet = getattr(torch.ops.aten, name)
        if not isinstance(packet, OpOverloadPacket):
            continue
        for overload in packet.overloads():
            op = getattr(packet, overload)
            results = [str(r.type) for r in op._schema.returns]
            if "out" not in overload and "Tensor" in results and not op._schema.is_mutable:
                yield f"{name}.{overload}", op
    for name in _TWO:
        function = getattr(operator, name)
        for number in (5, 2.5):
            yield f"number {name} {number}", lambda x, f=function, n=number: f(n, x)


def of_schemas(place: str, count: int) -> Iterator[tuple[str, Iterator[SurveyProgram]]]:
    """Yield programs by overload, for calls accepted by torch itself."""
    for name, op in _overloads():
        yield name, _programs(name, op, place, count)


def _programs(name: str, op: Any, place: str, count: int) -> Iterator[SurveyProgram]:
    draw = random.Random(name)
    found = 0
    for index in range(_TRIES):
        if found == count:
            return
        try:
            arguments = _given(draw, op)
            with torch.no_grad():
                result = op(*arguments[0], **arguments[1])
        except (KeyError, RuntimeError, ValueError, TypeError, IndexError, NotImplementedError):
            continue
        results = result if isinstance(result, tuple | list) else [result]
        given = [x for x in (*arguments[0], *arguments[1].values()) if isinstance(x, torch.Tensor)]
        if given and all(isinstance(r, torch.Tensor) and 0 < r.numel() < 4096 for r in results):
            found += 1
            yield program_of(f"{name}/{index}", lambda: _of(op), arguments, place)


def _given(draw: random.Random, op: Any) -> tuple[Any, Any]:
    if hasattr(op, "_schema"):
        return _call(draw, op)
    return (_tensor(draw, draw.choice(_SHAPES)),), {}


def _of(op: Any) -> tuple[Callable[..., Any], nn.Module | None]:
    return op, None
