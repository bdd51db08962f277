# SPDX-License-Identifier: Apache-2.0
"""Names of ExecuTorch: schema, serialiser, memory planning for its runtime.

They stand in the package executorch.exir, whose __init__ imports its whole compiler, 2.5 s of CPU
for what is not used here. So that __init__ runs when somebody asks for one of its names.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import SimpleNamespace
from typing import Any

from aot.upstream.replaced import replaced


@contextmanager
def _without_init(package: str) -> Iterator[None]:
    """Within it, submodules of the package are imported without running its __init__.

    That runs afterwards, when somebody asks for a name or a submodule that is not there yet.
    """
    spec = find_spec(package)
    if package in sys.modules or spec is None or spec.loader is None:
        yield
        return
    loader = spec.loader
    module = module_from_spec(spec)
    path = module.__path__

    def submodule(name: str) -> Any:
        if name.startswith("__"):  # what the import system asks for
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
    del module.__dict__["__path__"]  # for which the import of another submodule asks


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
    """Within it, serialize_pte_binary changes the program that it is given.

    It would change a copy, which takes long to make.
    """
    as_it_is = SimpleNamespace(deepcopy=lambda given: given)
    return replaced(sys.modules[serialize_pte_binary.__module__], copy=as_it_is)
