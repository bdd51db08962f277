# SPDX-License-Identifier: Apache-2.0
"""Written files: importing them gives the same graph, and TFLite Micro computes the same bits."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from aot.artefact.artefact import rewrite
from aot.backends.tflite.exporting import refusal, to_tflite
from aot.backends.tflite.target import TFLITE
from aot.dialect.graph import calls
from aot.dialect.reference import Reference
from aot.errors import LoweringError
from aot.importers.tflite.file import read
from aot.importers.tflite.importing import import_tflite
from aot.importers.tflite.testing import cases
from aot.importers.tflite.testing.graphs import described
from aot.importers.tflite.testing.networks import network, streaming
from aot.importers.tflite.testing.oracle import random_runs, tflm
from aot.lower import lower
from aot.options import Io, Measure
from aot.testing.fixtures import model, samples

SEEDS = range(3)

# These ops come from TFLite, but their lowered form has no bit-exact form there.
_REFUSED = {
    "UNIDIRECTIONAL_SEQUENCE_LSTM": "pl.lstm. -> .* TFLite's LSTM keeps 8 bits of its hidden state",
    "LOG_SOFTMAX": "TFLite has no op for it",  # its result has another scale than TFLite's
    "SVDF": "no scale of the weights gives its multiplier",  # it rounds its factors to float32
    "SOFTMAX": "its result must have the scale 1/256",  # with a beta other than 1
}


@pytest.mark.parametrize("name", [*cases.INT8, *(f"{name} int16" for name in cases.INT16)])
def test_round_trip(name: str) -> None:
    make = cases.INT16[name[: -len(" int16")]] if name.endswith(" int16") else cases.INT8[name]
    refused = 0
    for seed in SEEDS:
        data = make(np.random.default_rng(seed)).bytes()
        module = import_tflite(data)
        try:
            written = to_tflite(module)
        except LoweringError as error:
            assert name in _REFUSED and re.search(_REFUSED[name], str(error)), str(error)
            refused += 1
            continue
        runs = random_runs(data, 8 if name.startswith("SVDF") else 1, seed)
        for own, theirs in zip(tflm(written, runs), tflm(data, runs), strict=True):
            for a, b in zip(own, theirs, strict=True):
                np.testing.assert_array_equal(a, b)
        rows, expected = _rewritten(written), _rewritten(data)
        if name == "SVDF":  # one filter: its factor comes from a product in float32
            rewrite(module, TFLITE)
            expected = described(module)
        if not _is_clamped(rows) and not name.startswith("BROADCAST_TO"):  # joined, or looked up
            assert rows == expected, seed
    assert refused == len(SEEDS) or name != "UNIDIRECTIONAL_SEQUENCE_LSTM"


def _rewritten(data: bytes) -> list[Any]:
    """The graph of a file without moves of nothing, and with gathers side by side as one."""
    module = import_tflite(data)
    rewrite(module, TFLITE)
    return described(module)


def _is_clamped(rows: list[tuple[object, ...]]) -> bool:
    """Return True if a clamp's table became a maximum and a minimum with the same result."""
    names = [row[0] for row in rows]
    return "pl.maximum.default" in names and "pl.minimum.default" in names


@pytest.mark.parametrize("make", [network, streaming])
def test_networks(make: object) -> None:
    data = make().bytes()  # type: ignore[operator]
    module = import_tflite(data)
    written = to_tflite(module)
    assert described(import_tflite(written)) == described(module)
    assert to_tflite(import_tflite(written)) == to_tflite(import_tflite(data))
    runs = random_runs(data, 4)
    for (own,), (theirs,) in zip(tflm(written, runs), tflm(data, runs), strict=True):
        np.testing.assert_array_equal(own, theirs)


def _net() -> nn.Module:
    def forward(conv: nn.Module, depthwise: nn.Module, head: nn.Module, x: torch.Tensor) -> object:
        y = torch.relu(conv(x))
        y = y + torch.sigmoid(depthwise(y)) * y
        y = torch.nn.functional.max_pool2d(torch.nn.functional.hardswish(y), 2)
        return torch.softmax(head(y.mean((2, 3))), -1)

    parts = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1, groups=8)
    return model(forward, *parts, nn.Linear(8, 4))


def test_a_lowered_module() -> None:
    """The module's functions get TFLite's own tables, and so does the reference."""
    data = samples((1, 3, 8, 8))
    lowered = lower(
        _net(),
        data[0],
        target="tflite",
        calibration=data,
        io=Io(io_layout="nhwc"),
        measure=Measure(per_op=False, min_sqnr=-math.inf, min_agreement=0.0),
    )
    assert lowered.exported is not None
    runs = random_runs(lowered.exported, 4)
    expected = tflm(lowered.exported, runs)
    for (x,), (theirs,) in zip(runs, expected, strict=True):
        (own,) = lowered.reference([torch.from_numpy(x)])
        np.testing.assert_array_equal(own.numpy(), theirs)
    assert lowered.pte[4:8] == b"ET12"


FORMS: dict[str, tuple[Any, tuple[int, ...], str]] = {
    "a pool with padding that is not SAME": (
        lambda x: torch.nn.functional.max_pool2d(x, 3, 2, padding=1),
        (1, 3, 8, 8),
        "MAX_POOL_2D",
    ),
    "nearest pixels": (
        lambda x: torch.nn.functional.interpolate(x, scale_factor=(2, 3)),
        (1, 3, 4, 5),
        "RESIZE_NEAREST_NEIGHBOR",
    ),
    "a slice": (lambda x: x[:, 1:3], (1, 4, 5), "SLICE"),
    "a product of computed matrices": (lambda x: x @ x.transpose(1, 2), (1, 4, 5), "BATCH_MATMUL"),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_of_lowered_modules(name: str) -> None:
    """No imported graph has these forms."""
    function, shape, builtin = FORMS[name]
    data = samples(shape)
    lowered = lower(
        model(function),
        data[0],
        target="tflite",
        calibration=data,
        io=Io(io_layout="nhwc"),
        measure=Measure(per_op=False),
    )
    assert lowered.exported is not None
    assert builtin in [op.name for op in read(lowered.exported)[0].operators]
    runs = random_runs(lowered.exported, 4)
    for (x,), (theirs,) in zip(runs, tflm(lowered.exported, runs), strict=True):
        (own,) = lowered.reference([torch.from_numpy(x)])
        np.testing.assert_array_equal(own.numpy(), theirs)


def test_a_refusal_changes_nothing() -> None:
    """A table one step off TFLite's is kept until the graph is written."""
    data = samples((1, 6))
    lowered = lower(model(torch.tanh), data[0], calibration=data, measure=Measure(per_op=False))
    (node,) = [n for n in lowered.module.graph.nodes if calls(n, "lut")]
    before = [b.clone() for b in lowered.module.buffers()]
    assert refusal(node) == ""
    assert all(map(torch.equal, before, lowered.module.buffers()))


def test_after_the_rewrites() -> None:
    """Rewritten graphs are written as well: here a table of two functions is none of TFLite's."""
    file = cases.INT8["LOGISTIC"](np.random.default_rng(0))
    y = file.at.outputs.pop()
    z = file.tensor((16, 64), np.int8, (1 / 128, 0))
    file.op("TANH", [y], [z])
    file.output(z)
    module = import_tflite(file.bytes())
    runs = random_runs(file.bytes(), 1)
    (expected,) = tflm(to_tflite(module), runs)
    (own,) = Reference(module).reference([torch.from_numpy(runs[0][0])])
    np.testing.assert_array_equal(own.numpy(), expected[0])
    rewrite(module, TFLITE)
    with pytest.raises(
        LoweringError, match=r"pl\.lut\) -> .*: its table does not match any of QUANT"
    ):
        to_tflite(module)


def test_all_problems_are_said_with_their_places() -> None:
    data = samples((1, 6))
    net = model(lambda x: (torch.nn.functional.gelu(x), torch.erf(x)))
    with pytest.raises(LoweringError) as error:
        lower(net, data[0], target="tflite", calibration=data, measure=Measure(per_op=False))
    text = str(error.value)
    assert text.startswith("2 ops have no equivalent in a .tflite file with the same bits:")
    assert "  aten.gelu (pl.lut) -> int8[1, 6]: its table does not match any of QUANTIZE, " in text
    assert "  aten.erf (pl.lut) -> int8[1, 6]" in text
    assert text.count("in forward: return self.fun") == 2
    assert text.count("instead: a function that TFLite has, such as hardswish") == 2


def test_where_a_result_is_taken_of_what_is_refused() -> None:
    """There is one problem, at the file's own place."""
    lstm = cases.INT8["UNIDIRECTIONAL_SEQUENCE_LSTM"](np.random.default_rng(0))
    with pytest.raises(LoweringError) as error:
        to_tflite(import_tflite(lstm.bytes()))
    text = str(error.value)
    assert text.startswith("1 op has no equivalent in a .tflite file with the same bits:")
    assert "at op 0 UNIDIRECTIONAL_SEQUENCE_LSTM" in text


def test_a_scale_that_is_no_float32() -> None:
    module = import_tflite(cases.INT8["RESHAPE"](np.random.default_rng(0)).bytes())
    for node in module.graph.nodes:
        if "edge" in node.meta:
            edge = node.meta["edge"]
            quantization = replace(edge.quantization, scale=0.1)
            node.meta["edge"] = replace(edge, quantization=quantization)
    with pytest.raises(LoweringError, match=r"the scale 0\.1 is not a float32 number"):
        to_tflite(module)


def test_layers_stay_as_the_model_has_them() -> None:
    """Splits of layers for our faster kernels are not written."""
    gated = model(lambda a, b, x: b(F.glu(a(x), 1)), nn.Conv2d(3, 16, 1), nn.Conv2d(8, 4, 1))
    data = samples((1, 3, 8, 6))
    counts = dict.fromkeys(("cortex-m", "tflite"), 0)
    for target in counts:
        module = lower(
            gated, data[0], calibration=data, target=target, measure=Measure(per_op=False)
        ).module
        counts[target] = sum(calls(node, "conv2d") for node in module.graph.nodes)
    assert counts == {"cortex-m": 3, "tflite": 2}
