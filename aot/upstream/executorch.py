# SPDX-License-Identifier: Apache-2.0
"""Names of ExecuTorch: schema, serialiser, memory planning for its runtime.

They are in the package executorch.exir. Its __init__ imports the whole compiler, 2.5 s of CPU for
unused code. Therefore it only runs at the first access to one of its names.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import SimpleNamespace
from typing import Any

from aot.upstream.patches import patched


@contextmanager
def _without_init(package: str) -> Iterator[None]:
    """Within the context, import submodules of the package without its __init__.

    It runs later, at the first access to a missing name or submodule.
    """
    spec = find_spec(package)
    if package in sys.modules or spec is None or spec.loader is None:
        yield
        return
    loader = spec.loader
    module = module_from_spec(spec)
    path = module.__path__

    def submodule(name: str) -> Any:
        if name.startswith("__"):  # requested by the import system
            raise AttributeError(name)
        return import_module(f"{package}.{name}")

    def whole(name: str) -> Any:
        if name.startswith("__") and name != "__path__":
            raise AttributeError(name)
        del module.__dict__["__getattr__"]
        module.__path__ = path
        loader.exec_module(module)
        return getattr(module, name)

    module.__dict__["__getattr__"] = submodule
    sys.modules[package] = module
    parent, _, name = package.rpartition(".")
    setattr(import_module(parent), name, module)
    yield
    module.__dict__["__getattr__"] = whole
    del module.__dict__["__path__"]  # requested by the import of another submodule


with _without_init("executorch.exir"):
    import executorch.exir._warnings  # noqa: F401  (for ExecuTorch's runtime and its parts for Arm)
    import executorch.exir.schema as et
    from executorch.exir._serialize._program import (
        PTEFile,
        deserialize_pte_binary,
        serialize_pte_binary,
    )
    from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite
    from executorch.exir.operator.convert import to_out_variant
    from executorch.exir.tensor import (
        ALIGNMENT,
        TensorSpec,
        make_allocation_info,
        make_tensor_value,
    )
    from executorch.exir.version import EXECUTORCH_SCHEMA_VERSION

__all__ = [
    "ALIGNMENT",
    "EXECUTORCH_SCHEMA_VERSION",
    "MemoryPlanningAlgorithmSuite",
    "PTEFile",
    "TensorSpec",
    "deserialize_pte_binary",
    "et",
    "make_allocation_info",
    "make_tensor_value",
    "serialize_pte_binary",
    "serialized_in_place",
    "to_out_variant",
]


def serialized_in_place() -> AbstractContextManager[None]:
    """Within the context, let serialize_pte_binary change its program argument in place.

    The default is a slow copy.
    """
    as_it_is = SimpleNamespace(deepcopy=lambda given: given)
    return patched(sys.modules[serialize_pte_binary.__module__], copy=as_it_is)
