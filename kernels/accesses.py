# SPDX-License-Identifier: Apache-2.0
"""Access maps of all kernels (kernels/common/access.py), by function."""

import importlib.util
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from kernels.common.access import Access
from kernels.common.kernel import KernelCall


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
    return _folder(".".join(call.header.split("/")[:-1])).get(call.function)


@cache
def _folder(package: str) -> Mapping[str, Access]:
    name = f"{package}.access"
    if importlib.util.find_spec(name) is None:
        return {}
    found: Mapping[str, Access] = importlib.import_module(name).ACCESS
    return found
