# SPDX-License-Identifier: Apache-2.0
"""Size-optimized and fast kernels: the chosen set takes the least flash."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aot.plan.code_sizes import CodeSizes, CompiledObject, load_code_sizes
from aot.plan.graph import build_graph
from aot.plan.least_code import least_code
from aot.plan.plan import make_plan
from aot.plan.program import PlanProgram
from aot.plan.testing import sample_board
from aot.plan.testing_calls import Calls
from aot.plan.testing_convolutions import depthwise, pointwise

LINEAR, PAIRS = "pl_linear_s8", "pl_linear_pairs_s8"
DEPTHWISE, PLANES = "pl_depthwise_conv2d_s8", "pl_depthwise_planes_s8"


def network(*layers: str) -> PlanProgram:
    calls = Calls()
    x = calls.input(1, 8, 8, 8)
    for layer in layers:
        x = pointwise(calls, x, 8) if layer == "pointwise" else depthwise(calls, x)
    return calls.program(x)


def sizes(linear: int, pairs: int, depthwise: int, planes: int) -> CodeSizes:
    """Return the sizes of four functions; both small ones call the same function of 300 bytes."""
    return CodeSizes(
        [
            CompiledObject(("products",), (), 300),
            CompiledObject((LINEAR, "another"), ("products",), linear),
            CompiledObject((DEPTHWISE,), ("products", "of_no_kernel"), depthwise),
            CompiledObject((PAIRS,), (), pairs),
            CompiledObject((PLANES,), (), planes),
        ]
    )


# layers, bytes of their forms (small, fast), functions
CHOSEN: dict[str, tuple[tuple[str, ...], tuple[int, int, int, int], list[str]]] = {
    "small": (("pointwise",), (100, 500, 0, 0), [LINEAR]),
    "small, if both take the same": (("pointwise",), (100, 400, 0, 0), [LINEAR]),
    "fast": (("pointwise",), (100, 350, 0, 0), [PAIRS]),
    "all of a function": (("pointwise", "pointwise"), (100, 350, 0, 0), [PAIRS, PAIRS]),
    "small, as another is there": (
        ("pointwise", "depthwise"),
        (100, 350, 50, 1000),
        [LINEAR, DEPTHWISE],
    ),
    "fast, as the other is": (("pointwise", "depthwise"), (100, 350, 200, 150), [PAIRS, PLANES]),
    "fast together only": (("pointwise", "depthwise"), (100, 290, 100, 100), [PAIRS, PLANES]),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_least_code(name: str) -> None:
    layers, of_forms, functions = CHOSEN[name]
    graph = least_code(network(*layers), "dsp", sizes(*of_forms))
    assert [step.kernel.function for step in graph.steps] == functions


def test_forms_are_those_of_the_kernels() -> None:
    program = network("pointwise", "depthwise")
    for small, functions in (True, [LINEAR, DEPTHWISE]), (False, [PAIRS, PLANES]):
        graph = build_graph(program, "dsp", small=small)
        assert [step.kernel.function for step in graph.steps] == functions


def test_only_plans_for_size_ask() -> None:
    program, least = network("pointwise"), sizes(100, 500, 0, 0)
    for optimize, function in ("size", LINEAR), ("speed", PAIRS):
        plan = make_plan(program, sample_board(isa="dsp"), optimize, sizes=least)
        assert [step.kernel.function for step in plan.sharing.steps] == [function]


def test_sizes_of_object_files() -> None:
    """The kernels for the host."""
    found = load_code_sizes(Path(os.environ["CODE_SIZES"]))
    linear, conv = "pl_linear_s8", "pl_conv2d_s8"
    assert found.of([linear]) > 100
    assert found.of([linear, linear, "of_no_kernel"]) == found.of([linear])
    # Both call for the same products.
    both = found.of([linear, conv])
    assert max(found.of([linear]), found.of([conv])) < both < found.of([linear]) + found.of([conv])
