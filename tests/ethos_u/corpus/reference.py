# SPDX-License-Identifier: Apache-2.0
"""The oracle: TOSA's reference model, and inputs for it."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import tosa_reference_model
from tosa import DType, TosaGraph

Array = npt.NDArray[Any]
_DTYPES: dict[Any, np.dtype[Any]] = {
    DType.DType.INT8: np.dtype(np.int8),
    DType.DType.INT16: np.dtype(np.int16),
    DType.DType.INT32: np.dtype(np.int32),
}


@dataclass(frozen=True)
class Signature:
    """An input of a TOSA graph."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def signatures(tosa: bytes) -> list[Signature]:
    """Return the inputs of a TOSA flatbuffer, in order."""
    block = TosaGraph.TosaGraph.GetRootAs(tosa, 0).Regions(0).Blocks(0)
    tensors = {block.Tensors(i).Name(): block.Tensors(i) for i in range(block.TensorsLength())}
    inputs = [tensors[block.Inputs(i)] for i in range(block.InputsLength())]
    return [
        Signature(tuple(t.Shape(i) for i in range(t.ShapeLength())), _DTYPES[t.Type()])
        for t in inputs
    ]


_Filler = Callable[[np.random.Generator, Signature, "np.iinfo[Any]"], Array]
FILLERS: dict[str, _Filler] = {
    "random": lambda rng, s, i: rng.integers(i.min, i.max, s.shape, s.dtype, endpoint=True),
    "extremes": lambda rng, s, i: rng.choice(np.array([i.min, i.max], s.dtype), s.shape),
    "minimum": lambda rng, s, i: np.full(s.shape, i.min, s.dtype),
    "maximum": lambda rng, s, i: np.full(s.shape, i.max, s.dtype),
    "small": lambda rng, s, i: rng.integers(-4, 4, s.shape, s.dtype, endpoint=True),
    "random_again": lambda rng, s, i: rng.integers(i.min, i.max, s.shape, s.dtype, endpoint=True),
}


def make_inputs(name: str, kind: str, tosa: bytes) -> list[Array]:
    """Return inputs for a graph, of a kind of FILLERS, always the same."""
    rng = np.random.default_rng(zlib.crc32(f"{name} {kind}".encode()))
    return [FILLERS[kind](rng, s, np.iinfo(s.dtype)) for s in signatures(tosa)]


def reference_outputs(tosa: bytes, inputs: list[Array]) -> list[Array]:
    """Return the outputs of TOSA's reference model. Raise RuntimeError if it fails."""
    outputs, status = tosa_reference_model.run(tosa, inputs)
    if status != tosa_reference_model.GraphStatus.TOSA_VALID:
        raise RuntimeError(f"TOSA reference model: {status}")
    return [np.asarray(output) for output in outputs]


def differing_elements(outputs: list[Array], expected: list[Array]) -> int:
    """Return the number of differing elements; shapes may differ in leading ones.

    Raises ValueError on sizes.
    """
    count = 0
    for output, reference in zip(outputs, expected, strict=True):
        if output.size != reference.size or output.itemsize != reference.itemsize:
            raise ValueError(
                f"{output.dtype} {output.shape}, not {reference.dtype} {reference.shape}"
            )
        count += int(np.count_nonzero(output.ravel() != reference.ravel().view(output.dtype)))
    return count
