# SPDX-License-Identifier: Apache-2.0
"""Lets torch.export follow uses of a tensor's .data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from aot.errors import LoweringError, calling_line

_DATA: Any = torch.Tensor.data


class DataAttributeMode(TorchFunctionMode):
    """Mode in which x.data is x.detach(), with the same memory.

    Assigning other memory raises an error, because torch.export would silently keep the old one.
    """

    def __init__(self) -> None:
        super().__init__()
        self._given: list[tuple[torch.Tensor, torch.Tensor]] = []

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func == _DATA.__get__:
            self._given.append((args[0], args[0].detach()))
            return self._given[-1][1]
        if func == _DATA.__set__:
            if any(x is args[0] and data is args[1] for x, data in self._given):
                return None  # x.data += y assigns the tensor that it changed in place
            raise LoweringError(
                "the model assigns a tensor's .data; torch.export does not see it\n"
                f"    at {calling_line()}\n"
                "    instead: for a buffer (register_buffer), self.state.copy_(value) in place "
                "of self.state.data = value (docs/state.md); elsewhere use the value itself"
            )
        return func(*args, **(kwargs or {}))
