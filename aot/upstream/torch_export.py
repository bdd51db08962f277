# SPDX-License-Identifier: Apache-2.0
"""Private names of torch.export and Dynamo, whose import takes seconds, and what we replace there.

A replaced function that torch no longer calls is found by test_upstream.py.
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

from aot.upstream.replaced import replaced

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
    """Within it, torch prints nothing of a graph that it cannot finish, or of an op that does not
    run: the error says why.
    """
    names = vars(_trace)
    names["print"] = lambda *_, **__: None  # in front of the builtin
    try:
        with (
            replaced(fake_tensor.log, disabled=True),
            replaced(symbolic_shapes.log, disabled=True),
        ):
            yield
    finally:
        del names["print"]


def causal_masks_unread() -> AbstractContextManager[None]:
    """Within it, nn.TransformerEncoder and its kin take a mask as it is.

    They would read the data, to hint at a causal mask, which other machines have kernels for.
    """

    def detect(mask: object, is_causal: bool | None = None, size: int | None = None) -> bool:
        return is_causal is True

    return replaced(transformer, _detect_is_causal_mask=detect)


def call_names_matched_fast() -> AbstractContextManager[None]:
    """Within it, names of calls are matched by one pattern.

    Torch's makes a pattern of the base in each call, of which n layers make n^2.
    """

    def is_call_name(name: str, base: str) -> bool:
        return name.startswith(base) and _CALLED.fullmatch(name, len(base)) is not None

    return replaced(_unflatten, _is_call_name=is_call_name)
