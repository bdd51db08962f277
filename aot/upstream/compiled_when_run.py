# SPDX-License-Identifier: Apache-2.0
"""When torch makes Python of graphs."""

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
"""How often each thread is within `compiled_when_run`."""


@contextmanager
def compiled_when_run() -> Iterator[None]:
    """Within it, a graph that this thread made or changed becomes Python when it is run or somebody
    looks at its code. Torch makes that anew after each change, and nobody runs most of it.
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
    """An attribute of a module's class, whose only instance that is: who asks for it has the graph
    become Python, which puts what was asked for in its place.
    """

    def __init__(self, module: GraphModule, name: str) -> None:
        self._module, self._name = ref(module), name

    def __get__(self, module: GraphModule | None, kind: type) -> Any:
        owner = self._module()
        _recompile(owner)
        with suppress(AttributeError):  # another thread may have been here, too
            delattr(type(owner), "_code")  # it is the instance's own now
        return getattr(kind if module is None else owner, self._name)


def _postponed(module: GraphModule) -> Any:
    if not _threads[get_ident()]:
        return _recompile(module)
    kind: Any = type(module)
    codegen = module.graph._codegen
    if isinstance(codegen, PyTreeCodeGen):  # what hooks of the module look at
        module._in_spec = codegen.pytree_info.in_spec
        module._out_spec = codegen.pytree_info.out_spec
    vars(module).pop("_code", None)
    for name in ("_code", "forward"):
        setattr(kind, name, _Late(module, name))
    kind.__reduce__ = _reduced
    return None


def _reduced(module: GraphModule) -> Any:
    """What pickle writes, which is the code: of this module torch makes it at once from now on."""
    kind: Any = type(module)
    kind.recompile = _recompile
    module.recompile()
    del kind.__reduce__
    return module.__reduce__()
