# SPDX-License-Identifier: Apache-2.0
"""Every builtin against TFLite Micro, bit for bit, with random shapes, scales and options."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from ethosu.vela.tflite.SoftmaxOptions import SoftmaxOptions
from ethosu.vela.tflite.UnidirectionalSequenceLSTMOptions import UnidirectionalSequenceLSTMOptions

from aot.dialect.graph import dialect_op
from aot.importers.tflite.differing import differing
from aot.importers.tflite.file import TfliteGraph, read
from aot.importers.tflite.importing import import_tflite
from aot.importers.tflite.ops import BUILTINS
from aot.importers.tflite.testing import cases
from aot.importers.tflite.testing.build import File
from aot.importers.tflite.testing.layers import lstm, narrow_bias
from aot.importers.tflite.testing.oracle import Array, differences, ours, random_runs, tflm

SEEDS = range(4)
_MAY_DIFFER = {"LOG_SOFTMAX", "SOFTMAX", "UNIDIRECTIONAL_SEQUENCE_LSTM"}
_FUNCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "LOGISTIC": torch.sigmoid,
    "SOFTMAX": lambda x: torch.softmax(x, -1),
    "TANH": torch.tanh,
}


def _beta(graph: TfliteGraph) -> float:
    options = graph.operators[0].options(SoftmaxOptions)
    return 1.0 if options is None else float(options.Beta())


def test_there_are_cases_of_every_builtin() -> None:
    assert set(cases.INT8) == set(BUILTINS)
    assert {name.split()[0] for name in cases.INT16} < set(BUILTINS)
    assert not (set(cases.NEARLY) | set(cases.SELECTING)) & set(cases.INT16)


@pytest.mark.parametrize("name", [name for name in cases.INT8 if name not in _MAY_DIFFER])
def test_int8(name: str) -> None:
    for seed in SEEDS:
        data = cases.INT8[name](np.random.default_rng(seed)).bytes()
        assert differences(data, count=8 if name == "SVDF" else 2) == [], seed


@pytest.mark.parametrize("name", cases.INT16)
def test_int16(name: str) -> None:
    for seed in SEEDS:
        data = cases.INT16[name](np.random.default_rng(seed)).bytes()
        assert differences(data, count=8 if name == "SVDF" else 2) == [], seed


@pytest.mark.parametrize("name", cases.NEARLY)
def test_int16_functions_of_other_bits(name: str) -> None:
    """They are a few steps off TFLite's, and on average closer to the function."""
    case, limit = cases.NEARLY[name]
    errors = []
    for seed in SEEDS:
        data = case(np.random.default_rng(seed)).bytes()
        runs, graph = random_runs(data), read(data)[0]
        scale = graph.tensors[graph.inputs[0]].scales[0] * _beta(graph)
        for (x,), (own,), (theirs,) in zip(runs, ours(data, runs), tflm(data, runs), strict=True):
            assert np.abs(own.astype(np.int64) - theirs).max() <= limit
            real = _FUNCTIONS[name](torch.from_numpy(x.astype(np.float64) * scale)).numpy()
            exact = np.minimum(real * 2**15, 2**15 - 1)
            errors.append((np.abs(own - exact).mean(), np.abs(theirs - exact).mean()))
    mean = np.array(errors).mean(0)
    assert mean[0] < mean[1]


@pytest.mark.parametrize("name", cases.SELECTING)
def test_int16_that_tflite_micro_does_not_have(name: str) -> None:
    for seed in SEEDS:
        narrow, wide = (
            cases.SELECTING[name](dtype)(np.random.default_rng(seed)).bytes()
            for dtype in (np.int8, np.int16)
        )
        runs = random_runs(narrow)
        expected = tflm(narrow, runs)
        given = ours(wide, [[x.astype(np.int16) for x in run] for run in runs])
        for (own,), (theirs,) in zip(given, expected, strict=True):
            assert own.shape == theirs.shape
            assert (own == theirs).all(), seed


def test_pads_of_blocks_are_the_zero_point() -> None:
    """Like TFLite: TFLite Micro gives the same with a PAD before the op."""
    file, q = File(), (0.1, 7)
    x, blocks = file.input((1, 3, 2), q), file.ints([2])
    y = file.tensor((2, 3, 2), np.int8, q)
    file.op("SPACE_TO_BATCH_ND", [x, blocks, file.ints([[1, 2]])], [y], "SpaceToBatchNDOptions")
    file.output(y)
    split = File()
    x, blocks = split.input((1, 3, 2), q), split.ints([2])
    padded, y = (split.tensor(shape, np.int8, q) for shape in ((1, 6, 2), (2, 3, 2)))
    split.op("PAD", [x, split.ints([[0, 0], [1, 2], [0, 0]])], [padded], "PadOptions", 2)
    none = split.ints([[0, 0]])
    split.op("SPACE_TO_BATCH_ND", [padded, blocks, none], [y], "SpaceToBatchNDOptions")
    split.output(y)
    runs = random_runs(file.bytes())
    for own, theirs in zip(ours(file.bytes(), runs), tflm(split.bytes(), runs), strict=True):
        np.testing.assert_array_equal(own[0], theirs[0])
    (finding,) = differing(import_tflite(file.bytes()))
    assert "pads of SPACE_TO_BATCH_ND" in finding.text


@pytest.mark.parametrize("name", ["CONV_2D", "FULLY_CONNECTED"])
def test_int16_with_biases_of_32_bits(name: str) -> None:
    """TFLite Micro has 32-bit sums for them: values differ by one step at most.

    The values equal TFLite Micro's with 64 bits for the same biases.
    """
    shares = []
    for seed in range(12):
        file = cases.INT16[name](np.random.default_rng(seed))
        wide = file.bytes()
        if len(file.at.operators[0].inputs) < 3:
            continue
        narrow_bias(file)
        data, runs = file.bytes(), random_runs(wide)
        for (own,), (exact,), (theirs,) in zip(
            ours(data, runs), tflm(wide, runs), tflm(data, runs), strict=True
        ):
            np.testing.assert_array_equal(own, exact)
            off = np.abs(own.astype(int) - theirs)
            assert off.max() <= 1
            shares.append((off > 0).mean())
        (finding,) = differing(import_tflite(data))
        assert "bias of int32" in finding.text
    assert len(shares) > 8 and np.mean(shares) < 0.25


@pytest.mark.parametrize("name", ["DEPTHWISE_CONV_2D", "TRANSPOSE_CONV"])
def test_biases_that_tflite_micro_reads_as_others(name: str) -> None:
    """They are those of the same file with 64 bits."""
    file = cases.INT16[name](np.random.default_rng(0))
    wide = file.bytes()
    narrow_bias(file)
    runs = random_runs(wide)
    for (own,), (theirs,) in zip(ours(file.bytes(), runs), tflm(wide, runs), strict=True):
        np.testing.assert_array_equal(own, theirs)


@pytest.mark.parametrize("name", ["LOG_SOFTMAX", "SOFTMAX"])
def test_softmax_is_seldom_off_by_more_than_nothing(name: str) -> None:
    """It rounds once; TFLite's fixed point is off by one step for few values."""
    found = []
    for seed in range(20):
        data = cases.INT8[name](np.random.default_rng(seed)).bytes()
        found += differences(data)
    assert len(found) < 4 and set(found) <= {-1, 1}


def _float_lstm(graph: TfliteGraph) -> Callable[[Array], Array]:
    """Return torch's LSTM in float64 with a file's weights, in output steps. It keeps its state."""

    def real(*places: int) -> torch.Tensor:
        found = [graph.tensors[graph.operators[0].inputs[place]] for place in places]
        return torch.cat([torch.from_numpy(np.array(t.data) * float(t.scales[0])) for t in found])

    options = graph.operators[0].options(UnidirectionalSequenceLSTMOptions)
    x, y = graph.tensors[graph.inputs[0]], graph.tensors[graph.outputs[0]]
    layer = torch.nn.LSTM(
        x.shape[2], y.shape[2], batch_first=not options.TimeMajor(), dtype=torch.float64
    )
    bias = real(12, 13, 14, 15)
    given = real(1, 2, 3, 4), real(5, 6, 7, 8), bias, torch.zeros_like(bias)
    with torch.no_grad():
        for parameter, value in zip(layer.parameters(), given, strict=True):
            parameter.copy_(value)
    state: list[tuple[torch.Tensor, torch.Tensor] | None] = [None]

    def run(values: Array) -> Array:
        of_input = torch.from_numpy((values.astype(np.float64) - x.zero_points[0]) * x.scales[0])
        with torch.no_grad():
            result, state[0] = layer(of_input, state[0])
        steps: torch.Tensor = result / y.scales[0] + y.zero_points[0]
        return steps.numpy()

    return run


def test_lstm_is_seldom_off_by_a_step_and_nearer_to_float() -> None:
    """pl::lstm keeps 16 bits of the hidden state between two steps, TFLite the output's 8."""
    errors, shares = [], []
    for seed in range(12):
        case = cases.INT8["UNIDIRECTIONAL_SEQUENCE_LSTM"](np.random.default_rng(seed))
        data = case.bytes()
        runs, exact = random_runs(data, 4), _float_lstm(read(data)[0])
        for (x,), (own,), (theirs,) in zip(runs, ours(data, runs), tflm(data, runs), strict=True):
            assert np.abs(own.astype(int) - theirs).max() <= 1
            real = exact(x)
            errors.append([np.abs(y - real).mean() for y in (own, theirs)])
            shares.append((own != theirs).mean())
    assert np.mean(shares) < 0.1
    mean = np.mean(errors, axis=0)
    assert mean[0] < mean[1] < 0.5


@pytest.mark.parametrize("clip", [10.0, 0.4])
def test_lstm_clips_its_cell(clip: float) -> None:
    """Keras clips at 10, with a cell of the range 16."""
    changed = 0
    for seed in range(6):
        clipped, free = (lstm(np.random.default_rng(seed), c).bytes() for c in (clip, 0.0))
        runs = random_runs(clipped, 4)
        results = ours(clipped, runs), tflm(clipped, runs), tflm(free, runs)
        for (own,), (theirs,), (other,) in zip(*results, strict=True):
            assert np.abs(own.astype(int) - theirs).max() <= 1
            changed += int((theirs != other).sum())
    assert (changed > 0) == (clip == 0.4)


def test_float32_is_quantized_as_the_dialect_does() -> None:
    """It equals TFLite's rounding except for values halfway between two steps."""
    file = File()
    x = file.input((4, 64), None, np.float32)
    y = file.tensor((4, 64), np.int8, (0.043, 5))
    file.op("QUANTIZE", [x], [y], "QuantizeOptions")
    file.output(y)
    data = file.bytes()
    runs = random_runs(data)
    for own, theirs in zip(ours(data, runs), tflm(data, runs), strict=True):
        assert np.abs(own[0].astype(int) - theirs[0].astype(int)).max() <= 1
        assert (own[0] != theirs[0]).mean() < 0.01


def test_functions_of_one_value_are_one_table() -> None:
    for name in ("LOGISTIC", "TANH", "HARD_SWISH", "LEAKY_RELU", "RELU", "RELU6"):
        module = import_tflite(cases.INT8[name](np.random.default_rng(1)).bytes())
        ops = [op.name for node in module.graph.nodes if (op := dialect_op(node)) is not None]
        assert ops == ["lut"], name
