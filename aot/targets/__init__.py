# SPDX-License-Identifier: Apache-2.0
"""Targets of lowering, by name, or by a reference to a user's own target."""

from __future__ import annotations

from difflib import get_close_matches

from aot.accept.references import REFERENCE_FORMS, named
from aot.backends.npus import (
    CUT,
    NEUTRONS,
    NPUS,
    PRESENCES,
    REQUIRED,
    VERIFICATIONS,
)
from aot.backends.target import Target
from aot.errors import LoweringError, describe

_CORTEX_M = Target("cortex-m")
_TFLITE = "tflite"
NAMES = (_CORTEX_M.name, _TFLITE, *NPUS, *NEUTRONS)


def target_named(reference: str | Target, verify_npu: str = CUT, neutron: str = REQUIRED) -> Target:
    """Return the target with this name or reference.

    Args:
      reference: one of `NAMES`, such as "cortex-m" or "ethos-u55-128"; or the place of a
        Target, "path/to/file.py:NAME" or "pkg.module:NAME"; or the Target.
      verify_npu: one of `VERIFICATIONS`, for Ethos-U of `NAMES` only.
      neutron: one of `PRESENCES`, for Neutron NPUs of `NAMES` only.

    Raises:
      LoweringError: there is no such target, file, module or name, or it is no Target; or
        such verification or presence, or the target has no NPU for it.
    """
    for name, given, known, npus in (
        ("verify_npu", verify_npu, VERIFICATIONS, NPUS),
        ("neutron", neutron, PRESENCES, NEUTRONS),
    ):
        if given not in known:
            raise LoweringError(f"{name} must be one of {', '.join(known)}; got {given!r}.")
        if given != known[0] and not (isinstance(reference, str) and reference in npus):
            raise LoweringError(
                f"{name} is {given!r}, but the target is {_shown(reference)}. Remove {name}: only "
                f"the targets {', '.join(npus)} take it."
            )
    if isinstance(reference, Target):
        return reference
    if not isinstance(reference, str):
        raise LoweringError(
            f'target must be a Target or a name such as "cortex-m" ({REFERENCE_FORMS} for your '
            f"own); got {describe(reference)}."
        )
    if ":" not in reference:
        if reference == _CORTEX_M.name:
            return _CORTEX_M
        if reference == _TFLITE:
            return _tflite()
        if reference in NPUS:
            return _ethos_u(reference, verify_npu)
        if reference in NEUTRONS:
            return _neutron(reference, neutron)
        near = get_close_matches(reference.lower(), NAMES, 1)
        meant = f" (the nearest is {near[0]!r})" if near else ""
        raise LoweringError(
            f"target {reference!r} does not exist{meant}. Targets: {', '.join(NAMES)}. "
            f"{_CORTEX_M.name!r} covers all cores; the board selects the core. For your own "
            f"target, give {REFERENCE_FORMS}."
        )
    target = named(reference)
    if not isinstance(target, Target):
        raise LoweringError(
            f"target {reference} must be an aot.backends.target.Target(name, backends); it is "
            f"{target!r}."
        )
    return target


def _shown(reference: object) -> str:
    """Return a target's name, or the argument given for it."""
    if isinstance(reference, Target):
        return repr(reference.name)
    return repr(reference) if isinstance(reference, str) else describe(reference)


def _tflite() -> Target:
    """Return the TFLite target. It is imported on demand, as NPUs are."""
    try:
        from aot.backends.tflite.target import TFLITE
    except ModuleNotFoundError as error:
        raise _not_installed(_TFLITE, error) from error
    return TFLITE


def _ethos_u(configuration: str, verify_npu: str) -> Target:
    """Return an Ethos-U target. Vela is imported on demand: no other target needs it."""
    try:
        from aot.backends.ethos_u.backend import ethos_u_target
    except ModuleNotFoundError as error:
        raise _not_installed(configuration, error) from error
    return ethos_u_target(configuration, verify_npu)


def _neutron(name: str, presence: str) -> Target:
    """Return a Neutron target. TFLite's schema is imported on demand: no other target needs it."""
    try:
        from aot.backends.neutron.backend import neutron_target
    except ModuleNotFoundError as error:
        raise _not_installed(name, error) from error
    return neutron_target(name, presence)


def _not_installed(target: str, error: ModuleNotFoundError) -> LoweringError:
    return LoweringError(
        f"target {target} needs {error.name}, which is not installed here. Lower with Bazel: "
        "pte_model or //aot:lower."
    )
