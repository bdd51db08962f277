# SPDX-License-Identifier: Apache-2.0
"""The op tables through lowering: the resulting dialect ops, their equal results, and an artefact
equal to that of ExecuTorch's own export.

A table is lowered as one model. The dialect's integers may differ by one step from torchao's
quantized graph, which computes in float. OFF_BY_ONE_RATE is the allowed rate.
"""

import functools
import math
import os
from collections import Counter

import pytest
from torch.fx import Node

from aot.dialect.graph import arguments, dialect_op, shape_of
from aot.lower import Lowered, lower
from aot.options import Measure, Quantize
from aot.pte.testing import export_graph
from aot.testing.lockstep import LARGEST, Lockstep, compare
from tests.ops.bundle import as_tuple
from tests.ops.case import build, draw
from tests.ops.tables import MOVE_NOTHING, TABLES, table

# Rates by dialect op. Averages round ties away from zero, float rounds to even. Averages of a few
# integers, weighted or in the scale of the input, often tie. mean rounds twice, same as every
# requantization, and small sums are sensitive to it.
#
# Tables interpolate linearly between their entries. A bias is a multiple of the weights' steps;
# with four bits these steps are large. A slope of 1/4 ties if input and result have the same scale.
#
# Some products are shifted down three bits by their factor, e.g. values in one scale near 1/13.
# They are rounded to eighths of a step first. A cell's state converted to int8 is, too. A cell's
# state has a spare bit. A logarithm has 16 fraction bits, and an int16 result shows all of them.
OFF_BY_ONE_RATE = {
    "adaptive_avg_pool2d": 0.25,
    "avg_pool2d": 0.1,
    "linear_w4": 0.05,
    "log_softmax int16": 0.1,
    "logsumexp int16": 0.25,
    "lstm": 0.02,
    "lut int16": 0.25,
    "mean": 0.25,
    "mean int16": 0.25,
    "mul": 0.1,
    "prelu int16": 0.125,
    "requantize": 0.1,
    "resize_bilinear": 0.1,
    "scatter_sum": 0.05,
}
OFF_BY_ONE_RATE_OF_OTHERS = 0.01

# Tables written by ExecuTorch's own export as well. This takes as long as lowering them, so it
# covers the smallest case of each op, and all at night. aot/pte/test_writer.py has other dtypes,
# too.
EXPORTED = os.environ.get("EXPORTED", "small").split()

# Lower bound of the signal to quantization noise ratio of network blocks, in dB.
SQNR = {
    "conv_group_norm_relu_conv": 30.0,
    "residual_group_norm": 30.0,
    "convnext_block": 30.0,
    "mixer_block": 25.0,
    "layer_norm_autoencoder": 30.0,
}


@functools.cache
def lowered(name: str) -> Lowered:
    samples = list(table(name).calibration())
    quantization = getattr(table(name), "QUANTIZATION", "int8")
    return lower(
        table(name).factory(),
        samples[0],
        calibration=samples,
        quantize=Quantize(quantization=quantization),
        measure=Measure(per_op=False),
    )


@functools.cache
def lockstep(name: str) -> Lockstep:
    return compare(lowered(name), list(table(name).test_inputs()))


def nodes_by_case(name: str) -> dict[str, list[Node]]:
    """Return every case's nodes, the sources of its outputs. Cases share none."""
    (output,) = (n for n in lowered(name).module.graph.nodes if n.op == "output")
    results = list(output.args[0])
    nodes: dict[str, list[Node]] = {}
    for case in table(name).cases():
        count = len(as_tuple(build(case)(*draw(case, "count"))))
        mine, results = results[:count], results[count:]
        nodes[case.name] = _ancestors(mine)
    assert not results
    return nodes


def _ancestors(nodes: list[Node]) -> list[Node]:
    seen: dict[Node, None] = {}
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen[node] = None
            waiting += node.all_input_nodes
    return list(seen)


def _moves(transpose: Node) -> bool:
    values = arguments(transpose)
    order = [dim for dim in values["perm"] if shape_of(values["input"])[dim] > 1]
    return order != sorted(order)


@pytest.mark.parametrize("name", TABLES)
def test_becomes_the_ops_that_it_should(name: str) -> None:
    found = {}
    for case, nodes in nodes_by_case(name).items():
        ops = Counter(op.name for node in nodes if (op := dialect_op(node)) is not None)
        transposes = sum(
            _moves(n) for n in nodes if (op := dialect_op(n)) is not None and op.name == "transpose"
        )
        for moving_nothing in (*MOVE_NOTHING, "transpose"):
            del ops[moving_nothing]
        found[case] = (dict(ops), transposes)
    expected = {case.name: (dict(case.ops), case.transposes) for case in table(name).cases()}
    wrong = {case: (found[case], expected[case]) for case in found if found[case] != expected[case]}
    assert not wrong, "(found, expected) by case"


@pytest.mark.parametrize("name", EXPORTED)
def test_is_written_as_the_export_is(name: str) -> None:
    assert lowered(name).pte == export_graph(lowered(name).module)


@pytest.mark.parametrize("name", TABLES)
def test_is_within_one_step_of_torchao(name: str) -> None:
    differences = lockstep(name).by_op
    assert differences
    for op, difference in differences.items():
        if op in LARGEST:
            assert difference.largest <= LARGEST[op], op
            continue
        assert difference.largest <= 1, op
        assert difference.rate <= OFF_BY_ONE_RATE.get(op, OFF_BY_ONE_RATE_OF_OTHERS), op


def test_blocks_with_norms_stay_near_float() -> None:
    graph, bundle = lowered("pattern"), table("pattern").factory()
    (sample, *_) = table("pattern").calibration()
    outputs, inputs = iter(graph.dequantize_outputs(graph.reference(sample))), iter(sample)
    found = {}
    for case, part in zip(bundle.cases, bundle.parts.values(), strict=True):
        for exact in as_tuple(part(*(next(inputs) for _ in case.inputs))):
            noise = next(outputs) - exact
            found[case.name] = 20 * math.log10(float(exact.norm() / noise.norm()))
    assert {name for name, least in SQNR.items() if found[name] < least} == set(), found
