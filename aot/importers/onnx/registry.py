# SPDX-License-Identifier: Apache-2.0
"""Registry of the importable operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from aot.importers.onnx.call import NodeCall

Function = Callable[..., Any]
"""Computes the results of a node from its Call and all inputs; an omitted input is None."""

Layer = Callable[[NodeCall], torch.nn.Module | None]
"""Makes a module with constants of its own, for the computed inputs; None: use the function."""

FUNCTIONS: dict[str, Function] = {}
LAYERS: dict[str, Layer] = {}


def function(*operators: str) -> Callable[[Function], Function]:
    """Register a function for operators; its docstring has their limits, for the page."""

    def register(made: Function) -> Function:
        FUNCTIONS.update(dict.fromkeys(operators, made))
        return made

    return register


def layer(*operators: str) -> Callable[[Layer], Layer]:
    """Register a layer for operators with constant weights."""

    def register(made: Layer) -> Layer:
        LAYERS.update(dict.fromkeys(operators, made))
        return made

    return register
