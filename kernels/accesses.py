# SPDX-License-Identifier: Apache-2.0
"""Access maps of all kernels (kernels/common/access.py), by function."""

import importlib.util
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from kernels.common.access import Access
from kernels.common.kernel import KernelCall

# "" in the tree, "pilotlight." in the wheel.
_ROOMS = str(__package__).removesuffix("kernels")


@cache
def accesses() -> Mapping[str, Access]:
    """Return the access maps of the library's kernels."""
    folders = sorted(path.parent.name for path in Path(__file__).parent.glob("*/access.py"))
    return {
        function: access
        for folder in folders
        if folder != "common"
        for function, access in _folder(f"{__package__}.{folder}").items()
    }


def access_of(call: KernelCall) -> Access | None:
    """Return the access map of a call's function, None if its folder has none."""
    folder = ".".join(call.header.split("/")[:-1])
    own = _folder(f"{_ROOMS}{folder}") if _ROOMS else {}
    return own.get(call.function) or _folder(folder).get(call.function)


@cache
def _folder(package: str) -> Mapping[str, Access]:
    name = f"{package}.access"
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:  # no Python in that folder
        spec = None
    found: Mapping[str, Access] = importlib.import_module(name).ACCESS if spec else {}
    return found
