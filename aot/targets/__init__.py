# SPDX-License-Identifier: Apache-2.0
"""Targets: what lowering is for, by name or by where a user's own one is."""

from __future__ import annotations

from aot.errors import LoweringError, describe
from aot.references import REFERENCE_FORMS, named
from aot.targets.target import Target

_TARGETS = {target.name: target for target in (Target("cortex-m"),)}


def target_named(reference: str) -> Target:
    """The target of a name, or a user's own.

    Args:
      reference: "cortex-m"; or where a Target is, "path/to/file.py:NAME" or "pkg.module:NAME".

    Raises:
      LoweringError: there is no such target, file, module or name, or it is no Target.
    """
    if not isinstance(reference, str):
        raise LoweringError(
            f"the target is {describe(reference)}, neither a Target nor a text: a name, or "
            f"{REFERENCE_FORMS}"
        )
    if ":" not in reference:
        if reference in _TARGETS:
            return _TARGETS[reference]
        raise LoweringError(
            f"there is no target {reference!r}; there are: {', '.join(sorted(_TARGETS))}; or say "
            f"where yours is: {REFERENCE_FORMS}"
        )
    target = named(reference)
    if not isinstance(target, Target):
        raise LoweringError(
            f"target {reference} is {target!r}, not an aot.targets.target.Target(name, backends)"
        )
    return target
