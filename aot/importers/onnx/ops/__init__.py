# SPDX-License-Identifier: Apache-2.0
"""Operators: importing this package fills the registry."""

from __future__ import annotations

from tools.python.submodules import submodules

submodules(__name__)
