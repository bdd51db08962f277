# SPDX-License-Identifier: Apache-2.0
"""List of the targets."""

from types import SimpleNamespace

_TARGETS = [SimpleNamespace(name=name) for name in ("imxrt700", "mcxn94x")]


def getNeutronTargets() -> list[SimpleNamespace]:
    return _TARGETS


def isNeutronTarget(name: str) -> bool:
    return any(target.name == name for target in _TARGETS)
