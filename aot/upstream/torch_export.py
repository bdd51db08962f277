# SPDX-License-Identifier: Apache-2.0
"""Private names of torch.export and Dynamo, which take seconds to import, and replacements there.

test_upstream.py finds a replaced function no longer called by torch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module

from torch._dynamo.eval_frame import OptimizedModule
from torch._subclasses import fake_tensor
from torch.export import _trace
from torch.export._unlift import _StatefulGraphModule as StatefulGraphModule
from torch.fx.experimental import symbolic_shapes
from torch.nn.modules import transformer

from aot.upstream.patches import patched

__all__ = [
    "OptimizedModule",
    "StatefulGraphModule",
    "call_names_matched_fast",
    "causal_masks_unread",
    "export_silent",
]

# Its package has a function of the same name.
_unflatten = import_module("torch.export.unflatten")

_CALLED = re.compile(r"(@\d+)?")


@contextmanager
def export_silent() -> Iterator[None]:
    """Within the context, hide torch's output on incomplete graphs and failing ops.

    The error message gives the reason.
    """
    names = vars(_trace)
    names["print"] = lambda *_, **__: None  # shadows the builtin
    try:
        with (
            patched(fake_tensor.log, disabled=True),
            patched(symbolic_shapes.log, disabled=True),
        ):
            yield
    finally:
        del names["print"]


def causal_masks_unread() -> AbstractContextManager[None]:
    """Within the context, nn.TransformerEncoder and similar modules do not inspect masks.

    Otherwise they read a mask's data to detect a causal mask, for kernels on other machines.
    """

    def detect(mask: object, is_causal: bool | None = None, size: int | None = None) -> bool:
        return is_causal is True

    return patched(transformer, _detect_is_causal_mask=detect)


def call_names_matched_fast() -> AbstractContextManager[None]:
    """Within the context, match names of calls by one pattern.

    torch compiles a pattern from the base in each call, so n layers make n^2 patterns.
    """

    def is_call_name(name: str, base: str) -> bool:
        return name.startswith(base) and _CALLED.fullmatch(name, len(base)) is not None

    return patched(_unflatten, _is_call_name=is_call_name)
