# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's own reader and runtime, without its compiler, which the runtime imports for one
decorator: tests that only load a .pte need not wait for it.
"""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import aot.pte.exir  # noqa: F401  (leaves the compiler out)

_PACKAGE, _NAME = "executorch.exir", "_warnings"


def _decorators(package: ModuleType) -> None:
    """Imports that module alone."""
    name = f"{_PACKAGE}.{_NAME}"
    if name in sys.modules:
        return
    spec = spec_from_file_location(name, Path(str(package.__file__)).with_name(f"{_NAME}.py"))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = vars(package)[_NAME] = module
    spec.loader.exec_module(module)


_decorators(sys.modules[_PACKAGE])
from executorch.exir._serialize._program import deserialize_pte_binary  # noqa: E402
from executorch.runtime import Runtime  # noqa: E402

__all__ = ["Runtime", "deserialize_pte_binary"]
