# SPDX-License-Identifier: Apache-2.0
"""Undoes torch.compile: compiling takes a minute and does not help lowering."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from aot.upstream.torch_export import OptimizedModule


@contextmanager
def without_torch_compile() -> Iterator[None]:
    """Disable torch.compile within the context."""
    with torch.compiler.set_stance("force_eager"):
        yield


def original(model: Any) -> Any:
    """Return the module given to torch.compile; other models unchanged."""
    return model._orig_mod if isinstance(model, OptimizedModule) else model
