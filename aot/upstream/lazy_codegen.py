# SPDX-License-Identifier: Apache-2.0
"""Postpones torch's generation of Python code for graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock, get_ident
from typing import Any
from weakref import ref

from torch.fx import GraphModule

from aot.upstream.torch import PyTreeCodeGen

_modules: Any = GraphModule
_recompile = _modules.recompile
_lock = Lock()
_threads: Counter[int] = Counter()
"""Nesting depth of `lazy_codegen` for each thread."""


@contextmanager
def lazy_codegen() -> Iterator[None]:
    """Within the context, postpone the code generation of graphs until the code is used.

    A graph made or changed by this thread becomes Python code only if it is run or its code is
    read. torch generates the code after each change, and most of it is never run.
    """
    thread = get_ident()
    with _lock:
        _threads[thread] += 1
        _modules.recompile = _postponed
    try:
        yield
    finally:
        with _lock:
            _threads[thread] -= 1
            if not +_threads:
                _threads.clear()
                _modules.recompile = _recompile


class _Late:
    """Attribute on the class of a single module.

    Its first access generates the graph's code and replaces the attribute.
    """

    def __init__(self, module: GraphModule, name: str) -> None:
        self._module, self._name = ref(module), name

    def __get__(self, module: GraphModule | None, kind: type) -> Any:
        owner = self._module()
        _recompile(owner)
        with suppress(AttributeError):  # another thread may have been here, too
            delattr(type(owner), "_code")  # now an attribute of the instance
        return getattr(kind if module is None else owner, self._name)


def _postponed(module: GraphModule) -> Any:
    if not _threads[get_ident()]:
        return _recompile(module)
    kind: Any = type(module)
    codegen = module.graph._codegen
    if isinstance(codegen, PyTreeCodeGen):  # read by hooks of the module
        module._in_spec = codegen.pytree_info.in_spec
        module._out_spec = codegen.pytree_info.out_spec
    vars(module).pop("_code", None)
    for name in ("_code", "forward"):
        setattr(kind, name, _Late(module, name))
    kind.__reduce__ = _reduced
    return None


def _reduced(module: GraphModule) -> Any:
    """Return the pickled form, which contains the code.

    From now on, torch generates this module's code at once.
    """
    kind: Any = type(module)
    kind.recompile = _recompile
    module.recompile()
    del kind.__reduce__
    return module.__reduce__()
