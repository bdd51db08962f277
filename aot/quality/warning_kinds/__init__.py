# SPDX-License-Identifier: Apache-2.0
"""Warnings about a lowered model, one kind in each file: `find(subject)` yields the findings.

Each file beside this one takes part, by its name.
"""

from __future__ import annotations

from collections.abc import Iterator

from aot.quality.finding import Finding
from aot.quality.subject import Subject
from tools.python.submodules import submodules

_KINDS = [module.find for module in submodules(__name__)]


def find_warnings(subject: Subject) -> Iterator[Finding]:
    """Yield the findings of all kinds."""
    for find in _KINDS:
        yield from find(subject)
