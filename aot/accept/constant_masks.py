# SPDX-License-Identifier: Apache-2.0
"""Replaces constant masks by their indices: export treats their number of elements as a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from aot.upstream.torch import FakeTensor, unset_fake_temporarily

_NONZERO = (torch.nonzero, torch.Tensor.nonzero)
_SELECT = (torch.masked_select, torch.Tensor.masked_select)


class ConstantMasks(TorchFunctionMode):
    """Mode for models with constant masks: they take elements by the mask's indices.

    Matches x[mask] (also with other indices next to the mask), x.masked_select(mask) and
    mask.nonzero(). The mask is a buffer or another tensor of the model, or is written in forward.
    Masks computed from inputs, or changed, are left alone: their result's shape depends on values.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self._model = model
        self._buffers = {
            name: buffer.clone()
            for name, buffer in model.named_buffers()
            if buffer.dtype == torch.bool
        }
        # Keep the tensors too, so that no other tensor gets their id().
        self._written: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if func is torch.Tensor.__getitem__:
            return func(args[0], self._without_masks(args[1]))
        if func in _SELECT and len(args) == 2 and not kwargs:
            mask = self._values(args[1])
            if mask is not None:
                shape = torch.broadcast_shapes(args[0].shape, mask.shape)
                return args[0].expand(shape)[_indices(mask, shape)]
        if func in _NONZERO and len(args) == 1 and not kwargs:
            mask = self._values(args[0])
            if mask is not None:
                return torch.stack(_indices(mask, mask.shape), 1)
        result = func(*args, **kwargs)
        if func is torch.tensor and result.dtype == torch.bool and isinstance(result, FakeTensor):
            with unset_fake_temporarily():
                self._written[id(result)] = result, torch.tensor(*args, **kwargs)
        return result

    def _without_masks(self, index: Any) -> Any:
        parts: list[Any] = []
        for part in index if isinstance(index, tuple) else (index,):
            mask = self._values(part)
            parts.extend([part] if mask is None else _indices(mask, mask.shape))
        return tuple(parts)

    def _values(self, mask: Any) -> torch.Tensor | None:
        """Return the mask if it is boolean, has dimensions and does not depend on an input."""
        if isinstance(mask, list) and mask and all(isinstance(part, bool) for part in mask):
            with unset_fake_temporarily():
                return torch.tensor(mask)
        if not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool or mask.dim() == 0:
            return None
        if not isinstance(mask, FakeTensor):
            return mask
        if id(mask) in self._written:
            return self._written[id(mask)][1]
        names = (name for name, buffer in self._model.named_buffers() if buffer is mask)
        return self._buffers.get(next(names, "")) if mask._version == 0 else None


def _indices(mask: torch.Tensor, shape: Sequence[int]) -> tuple[torch.Tensor, ...]:
    """Return the indices of a mask expanded to this shape: one tensor per dimension."""
    with unset_fake_temporarily():
        found = mask.expand(shape).nonzero().T.tolist()
    return tuple(torch.tensor(places, dtype=torch.int64) for places in found)
