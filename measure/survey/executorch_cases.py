# SPDX-License-Identifier: Apache-2.0
"""Programs lowered by ExecuTorch's own tests: the models and inputs of the installed package."""

from __future__ import annotations

import contextlib
import copy
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import SkipTest

import torch
from executorch.backends.cortex_m.test import ops
from executorch.backends.cortex_m.test.tester import McuTestCase
from executorch.backends.test.suite import operators
from torch import nn

from measure.survey.programs import SurveyProgram

_FACTORS = (1.0, 0.75, 0.5, 0.25)


def cortex_m() -> Iterator[SurveyProgram]:
    """Yield the programs of the tests of the Cortex-M backend."""
    for op, module in _tests(ops):
        for table in [t for t in vars(module).values() if isinstance(t, dict)]:
            for name, case in table.items():
                if isinstance(case, McuTestCase):
                    yield _program(f"{op}: {name}", case.model, case.get_example_inputs())


def every_backend() -> Iterator[SurveyProgram]:
    """Yield the programs of the operator tests shared by all backends.

    They are functions that pass models to a runner.
    """
    for op, module in _tests(operators):
        for name, test in sorted(vars(module).items()):
            if name.startswith("test_"):
                for i, (model, inputs) in enumerate(_given(test)):
                    yield _program(f"{op}: {name.removeprefix('test_')}/{i}", model, inputs)


def _tests(package: ModuleType) -> Iterator[tuple[str, ModuleType]]:
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda m: m.name):
        if info.name.startswith("test_"):
            module = importlib.import_module(f"{package.__name__}.{info.name}")
            yield info.name.removeprefix("test_"), module


def _given(test: Callable[..., None]) -> list[tuple[nn.Module, tuple[Any, ...]]]:
    """Return the models a test passes to its runner, or none if upstream skips it."""
    given: list[tuple[nn.Module, tuple[Any, ...]]] = []
    runner = SimpleNamespace(
        lower_and_run_model=lambda model, inputs, **_: given.append((model, inputs)),
        _flow=SimpleNamespace(quantize=True),
    )
    marks = getattr(test, "pytestmark", ())
    torch.manual_seed(0)
    with contextlib.suppress(SkipTest):
        test(runner, **{mark.args[0]: mark.args[1][0] for mark in marks})
    return given


def _program(name: str, model: nn.Module, example: tuple[Any, ...]) -> SurveyProgram:
    def samples() -> list[tuple[Any, ...]]:
        return [tuple(_scaled(x, factor) for x in example) for factor in _FACTORS]

    return SurveyProgram(name, lambda: copy.deepcopy(model).eval(), samples)


def _scaled(x: Any, factor: float) -> Any:
    is_float = isinstance(x, torch.Tensor) and x.is_floating_point()
    return x * factor if is_float else x
