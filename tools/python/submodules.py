# SPDX-License-Identifier: Apache-2.0
"""Registries by glob: a package imports the files that lie beside it."""

import importlib
import pkgutil
from types import ModuleType


def submodules(package: str) -> list[ModuleType]:
    """Import the modules of a package, but no tests, in the order of their names."""
    found = pkgutil.iter_modules(importlib.import_module(package).__path__)
    names = sorted(module.name for module in found if not module.name.startswith("test_"))
    return [importlib.import_module(f"{package}.{name}") for name in names]
