# SPDX-License-Identifier: Apache-2.0
"""How torchao names what it adds to a module: by the first number that is free."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from unittest.mock import patch

import torch
from torchao.quantization.pt2e import utils

# Its package has a function of the same name.
prepare = import_module("torch.ao.quantization.fx.prepare")

_FUNCTION = "get_new_attr_name_with_prefix"


@contextmanager
def names_counted() -> Iterator[None]:
    """Within it that number is looked for from the one before on; torchao begins with 0 each time,
    and a thousand layers take a million looks.

    What has such a name has to stay meanwhile.
    """
    free: dict[tuple[torch.nn.Module, str], int] = {}

    def counted(prefix: str) -> Callable[[torch.nn.Module], str]:
        prefix = prefix.replace(".", "_")

        def name(module: torch.nn.Module) -> str:
            number = free.get((module, prefix), 0)
            while hasattr(module, f"{prefix}{number}"):
                number += 1
            free[module, prefix] = number
            return f"{prefix}{number}"

        return name

    with patch.object(prepare, _FUNCTION, counted), patch.object(utils, _FUNCTION, counted):
        yield
