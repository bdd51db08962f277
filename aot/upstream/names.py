# SPDX-License-Identifier: Apache-2.0
"""Speeds up torchao's search for a free number in new attribute names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from weakref import WeakKeyDictionary

import torch
from torchao.quantization.pt2e import utils

from aot.upstream.patches import patched

# Its package has a function of the same name.
prepare = import_module("torch.ao.quantization.fx.prepare")


@contextmanager
def names_counted() -> Iterator[None]:
    """Within the context, start this search at the previous number.

    torchao starts at 0 each time, so a thousand layers take a million checks. Attributes with such
    names must stay meanwhile.
    """
    free: WeakKeyDictionary[torch.nn.Module, dict[str, int]] = WeakKeyDictionary()

    def counted(prefix: str) -> Callable[[torch.nn.Module], str]:
        prefix = prefix.replace(".", "_")

        def name(module: torch.nn.Module) -> str:
            numbers = free.setdefault(module, {})
            number = numbers.get(prefix, 0)
            while hasattr(module, f"{prefix}{number}"):
                number += 1
            numbers[prefix] = number
            return f"{prefix}{number}"

        return name

    ours = {"get_new_attr_name_with_prefix": counted}
    with patched(prepare, **ours), patched(utils, **ours):
        yield
