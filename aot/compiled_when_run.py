# SPDX-License-Identifier: Apache-2.0
"""When torch makes Python of graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, get_ident
from typing import Any

from torch.fx import GraphModule
from torch.fx.graph import _PyTreeCodeGen

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


class _Code:
    """The code of a module that has none yet: what a module has itself goes before."""

    def __get__(self, module: GraphModule, kind: type) -> str:
        _recompile(module)
        return str(vars(module)["_code"])


def _postponed(module: GraphModule) -> Any:
    if not _threads[get_ident()]:
        return _recompile(module)
    codegen = module.graph._codegen
    if isinstance(codegen, _PyTreeCodeGen):  # what hooks of the module look at
        module._in_spec = codegen.pytree_info.in_spec
        module._out_spec = codegen.pytree_info.out_spec
    kind: Any = type(module)  # which has this one instance
    vars(module).pop("_code", None)
    kind._code, kind.forward = _Code(), _compile_and_run
    return None


def _compile_and_run(module: GraphModule, *args: Any, **kwargs: Any) -> Any:
    if type(module).forward is _compile_and_run:
        _recompile(module)  # which gives it its own forward
    return module.forward(*args, **kwargs)
