# SPDX-License-Identifier: Apache-2.0
"""onnxruntime as the oracle of float modules."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import onnxruntime
import torch

from aot.importers.onnx.module import onnx_module
from aot.importers.onnx.testing.graphs import Array

_ROUNDING = 2e-7
"""Error of a result near 0, relative to an input of about 1."""


def session(data: bytes, optimizes: bool = False) -> onnxruntime.InferenceSession:
    """Return onnxruntime's session of a file."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    levels = onnxruntime.GraphOptimizationLevel
    level = levels.ORT_ENABLE_ALL if optimizes else levels.ORT_DISABLE_ALL
    options.graph_optimization_level = level
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def expected(data: bytes, feeds: Mapping[str, Array]) -> list[Array]:
    """Return onnxruntime's results of a file."""
    return [np.asarray(y) for y in session(data).run(None, dict(feeds))]


def computed(data: bytes, feeds: Mapping[str, Array]) -> list[Array]:
    """Return the results of the imported module."""
    module = onnx_module(data)
    with torch.no_grad():
        given = module(*(torch.from_numpy(feeds[name]) for name in module.input_names))
    return [y.numpy() for y in ((given,) if isinstance(given, torch.Tensor) else given)]


def sqnr(wanted: Array, given: Array) -> float:
    """Return the signal to noise ratio in dB, inf for results equal up to rounding."""
    assert wanted.shape == given.shape and (wanted.dtype.kind == given.dtype.kind)
    if wanted.dtype.kind != "f":
        return math.inf if np.array_equal(wanted, given) else -math.inf
    finite = np.isfinite(wanted)
    if not np.array_equal(wanted[~finite], given[~finite], equal_nan=True):
        return -math.inf
    signal, noise = wanted[finite].astype(np.float64), given[finite].astype(np.float64)
    noise = noise - signal
    if np.abs(noise).max(initial=0.0) <= _ROUNDING:
        return math.inf
    return float(10 * np.log10((signal**2).sum() / (noise**2).sum()))


def least_sqnr(data: bytes, feeds: Mapping[str, Array]) -> float:
    """Return the lowest ratio of a file's outputs."""
    pairs = zip(expected(data, feeds), computed(data, feeds), strict=True)
    return min(sqnr(wanted, given) for wanted, given in pairs)
