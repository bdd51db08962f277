# SPDX-License-Identifier: Apache-2.0
"""Provides values of constant tensors during export, which knows only shapes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from aot.errors import LoweringError, calling_line
from aot.upstream.torch import (
    FakeTensor,
    disable_current_modes,
    is_functorch_wrapped_tensor,
    tree_leaves,
    tree_map_only,
)

_Tensor: Any = torch.Tensor
_NONZERO = (torch.nonzero, _Tensor.nonzero)
_SELECT = (torch.masked_select, _Tensor.masked_select)
_REPEAT = (torch.repeat_interleave, _Tensor.repeat_interleave)
_PYTHON = {
    *(getattr(_Tensor, f"__{name}__") for name in ("bool", "complex", "float", "index", "int")),
    *(_Tensor.item, _Tensor.tolist, _Tensor.is_nonzero, torch.is_nonzero),
    *(_Tensor.equal, torch.equal, _Tensor.allclose, torch.allclose),
}
"""Functions with a result of Python."""

_SIZED = {
    *_NONZERO,
    *_SELECT,
    *(torch.argwhere, _Tensor.argwhere, torch.bincount, _Tensor.bincount),
    *(torch.unique, _Tensor.unique, torch.unique_consecutive, _Tensor.unique_consecutive),
    *_REPEAT,
    *(torch.tensor, torch.as_tensor),
}
"""Functions with results whose shape, or creation, depends on values."""

_CREATES = {
    *(torch.arange, torch.as_tensor, torch.eye, torch.full, torch.linspace, torch.ones),
    *(torch.tensor, torch.tril_indices, torch.triu_indices, torch.zeros),
}
"""Functions of Python's values with a known result."""

_COUNTS = {
    *(torch.arange, torch.eye, torch.full, torch.linspace, torch.narrow, torch.ones, torch.zeros),
    *(torch.nn.functional.pad, torch.reshape, torch.roll, torch.split, torch.tile),
    *(_Tensor.expand, _Tensor.narrow, _Tensor.new_ones, _Tensor.new_zeros, _Tensor.repeat),
    *(_Tensor.reshape, _Tensor.roll, _Tensor.split, _Tensor.unfold, _Tensor.view),
}
"""Functions with sizes and positions, which may be tensors of one integer."""

_NO_TENSOR = torch.empty(0)
"""In place of a result that is not there yet. A tensor made in a trace would be part of it."""

_DRAWS = {"bernoulli", "dropout", "multinomial", "normal", "poisson", "rrelu"}
_DRAWS |= {f"{name}_like" for name in ("rand", "randint", "randn")}
"""Names of functions with random results."""


@dataclass(frozen=True)
class _Known:
    """A traced tensor with a known value.

    Attributes:
      tensor: kept so that no other tensor gets its id().
      version: number of its changes in place when it had the value.
      names: buffers that the value is computed from.
      value: computes it; it is not to be changed.
    """

    tensor: torch.Tensor
    version: int
    names: frozenset[str]
    value: Callable[[], Any]


class ConstantValues(TorchFunctionMode):
    """Mode that lets forward read values of constants: int(self.length), if self.count > 1,
    x[mask].

    Constants are parameters, buffers and other tensors of the model, tensors written in forward,
    and values computed from these. Values of inputs, and changed tensors, are left alone.

    A buffer that is taken for a constant must be one: it is an error if forward changes it later.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self._model = model
        self._given = dict(_tensors(model))
        self._traced: dict[int, tuple[str, torch.Tensor]] = {}
        self._known: dict[int, _Known] = {}
        self._used: dict[str, tuple[torch.Tensor, str]] = {}
        self._handles: list[Any] = []

    def __enter__(self) -> ConstantValues:
        self._handles = [
            self._model.register_forward_pre_hook(lambda *_: self._begin()),
            self._model.register_forward_hook(lambda *_: self._end()),
        ]
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        for handle in self._handles:
            handle.remove()

    def _begin(self) -> None:
        """Collect the model's tensors in this trace."""
        self._traced = {id(tensor): (name, tensor) for name, tensor in _tensors(self._model)}

    def _end(self) -> None:
        self._check_used()
        self._used.clear()

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = dict(kwargs or {})
        if torch.compiler.is_dynamo_compiling():  # torch.cond: its branches are no part of forward
            return func(*args, **kwargs)
        self._check_used()
        if func is _Tensor.__getitem__:
            args = args[0], self._without_values(args[1])
        elif func in _SELECT and len(args) == 2 and not kwargs and self._of(args[0]) is None:
            mask = self._mask(args[1])
            if mask is not None:
                shape = torch.broadcast_shapes(args[0].shape, mask.shape)
                return args[0].expand(shape)[_indices(mask, shape)]
        elif func in _REPEAT and len(args) > 1 and self._of(args[0]) is None:
            return self._repeated(func, *args, **kwargs)
        elif func in _COUNTS:
            args, kwargs = tree_map_only(torch.Tensor, self._number, (args, kwargs))
        sources = self._sources(func, args, kwargs)
        if sources is None:
            return func(*args, **kwargs)
        computed = self._computed(func, args, kwargs, sources)
        if func in _PYTHON or (func in _SIZED and sources):
            value = computed.value()
            self._use(computed.names)
            return value if func in _PYTHON else tree_map_only(torch.Tensor, _written, value)
        result = func(*args, **kwargs)
        self._note(result, computed)
        return result

    def _sources(
        self, func: Callable[..., Any], args: Any, kwargs: Any
    ) -> dict[int, _Known] | None:
        """Return the values of all tensors among arguments; None if one is not known."""
        tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        if getattr(func, "__name__", "") in _DRAWS:
            return None
        if not tensors:
            return {} if func in _CREATES else None
        found = {}
        for tensor in tensors:
            known = self._of(tensor)
            if known is None:
                return None
            found[id(tensor)] = known
        return found

    def _of(self, tensor: Any) -> _Known | None:
        if not isinstance(tensor, torch.Tensor):
            return None
        if type(tensor) in (torch.Tensor, torch.nn.Parameter):
            wrapped = is_functorch_wrapped_tensor(tensor)
            return None if wrapped else _Known(tensor, 0, frozenset(), lambda: tensor)
        if id(tensor) in self._known:
            known = self._known[id(tensor)]
            return known if known.version == tensor._version else None
        name, traced = self._traced.get(id(tensor), ("", None))
        given = self._given.get(name)
        if traced is not tensor or given is None or tensor._version != 0:
            return None
        return _Known(tensor, 0, frozenset([name]), lambda: given)

    def _computed(
        self, func: Callable[..., Any], args: Any, kwargs: Any, sources: dict[int, _Known]
    ) -> _Known:
        values: list[Any] = []

        def value() -> Any:
            if not values:
                with disable_current_modes(), torch.no_grad(), torch.random.fork_rng([]):
                    given = tree_map_only(
                        torch.Tensor, lambda x: sources[id(x)].value(), (args, kwargs)
                    )
                    values.append(func(*given[0], **given[1]))
            return values[0]

        names = frozenset[str]().union(*(known.names for known in sources.values()))
        return _Known(_NO_TENSOR, 0, names, value)

    def _note(self, result: Any, computed: _Known) -> None:
        """Store the values of new results."""
        parts = result if isinstance(result, tuple | list) else [result]
        for place, part in enumerate(parts):
            if isinstance(part, FakeTensor) and self._of(part) is None and part._version == 0:
                chosen = computed.value if part is result else _item(computed.value, place)
                self._known[id(part)] = _Known(part, 0, computed.names, chosen)

    def _use(self, names: Iterable[str]) -> None:
        """Record that forward read the values of buffers."""
        tensors = dict(self._traced.values())
        for name in names:
            self._used.setdefault(name, (tensors[name], calling_line()))

    def _check_used(self) -> None:
        for name, (tensor, line) in self._used.items():
            part = self._model.get_submodule(name.rpartition(".")[0])
            if tensor._version != 0 or getattr(part, name.rpartition(".")[2]) is not tensor:
                raise LoweringError(
                    f"the model reads its state {name} as a Python value, and changes it\n"
                    f"    at {line}\n"
                    "    instead: compute with it as a tensor, torch.where(self.count > 0, a, b)"
                )

    def _mask(self, mask: Any) -> torch.Tensor | None:
        """Return the value of a tensor if it is a known mask with dimensions."""
        if isinstance(mask, list) and mask and all(isinstance(part, bool) for part in mask):
            with disable_current_modes():
                return torch.tensor(mask)
        known = self._of(mask)
        if known is None or mask.dtype != torch.bool or mask.dim() == 0:
            return None
        self._use(known.names)
        value: torch.Tensor = known.value()
        return value

    def _repeated(
        self,
        func: Callable[..., Any],
        x: torch.Tensor,
        repeats: Any,
        dim: int | None = None,
        **kwargs: Any,
    ) -> Any:
        """Return repeat_interleave as an index, if the positions of its elements are known."""
        known = self._of(repeats)
        if known is None:
            return func(x, repeats, dim, **kwargs)
        self._use(known.names)
        x = x.flatten() if dim is None else x
        axis = 0 if dim is None else dim
        with disable_current_modes():
            places = torch.arange(x.shape[axis]).repeat_interleave(known.value()).tolist()
        return x.index_select(axis, torch.tensor(places, dtype=torch.int64))

    def _number(self, tensor: torch.Tensor) -> Any:
        """Return the number in a known tensor without dimensions; return other values unchanged."""
        known = None if tensor.dim() or tensor.is_floating_point() else self._of(tensor)
        if known is None or tensor.dtype == torch.bool:
            return tensor
        self._use(known.names)
        return known.value().item()

    def _without_values(self, index: Any) -> Any:
        """Return an index with masks as positions, and with numbers as the ends of slices."""
        parts: list[Any] = []
        for part in index if isinstance(index, tuple) else (index,):
            if isinstance(part, slice):
                ends = (part.start, part.stop, part.step)
                parts.append(slice(*tree_map_only(torch.Tensor, self._number, ends)))
                continue
            mask = self._mask(part)
            parts.extend([part] if mask is None else _indices(mask, mask.shape))
        return tuple(parts)


def _tensors(model: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    yield from model.named_buffers(remove_duplicate=False)
    yield from model.named_parameters(remove_duplicate=False)


def _item(value: Callable[[], Any], place: int) -> Callable[[], Any]:
    return lambda: operator.getitem(value(), place)


def _written(value: torch.Tensor) -> torch.Tensor:
    """Return a value as a constant of the traced code."""
    return torch.tensor(value.tolist(), dtype=value.dtype).reshape(value.shape)


def _indices(mask: torch.Tensor, shape: Sequence[int]) -> tuple[torch.Tensor, ...]:
    """Return the indices of a mask expanded to this shape: one tensor per dimension."""
    with disable_current_modes():
        found = mask.expand(shape).nonzero().T.tolist()
    return tuple(torch.tensor(places, dtype=torch.int64) for places in found)
