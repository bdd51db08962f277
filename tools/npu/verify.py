# SPDX-License-Identifier: Apache-2.0
"""Check of a file's Ethos-U payloads against TOSA's reference model: Vela's result does not always
match its input.

    bazel run //tools/npu:verify -- FILE.pte FILE.tosa [FILE.tosa...]

FILE.pte is a .pte or a single payload. The TOSA flatbuffers are the sources of its delegates, in
their order. ExecuTorch's Arm backend writes them to the folder of its compile spec's
dump_intermediate_artifacts_to. Exit status: 0 if all are equal on all kinds of inputs, 1 if one is
not or has lost an input or output, 2 for files that cannot be run.
"""

from __future__ import annotations

from tools.text.signal_handling import run_main

import math
import sys
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import tosa_reference_model
from absl import app
from tosa.TosaGraph import TosaGraph

from npu.ethos_u.fillers import Array, all_inputs
from npu.ethos_u.npu_model import EthosUError, EthosUModel, configuration_of
from npu.ethos_u.payload import Payload, PayloadError, PayloadTensor, parse_payload
from tools.npu.paths import user_path
from tools.npu.payload_file import read_payloads
from tools.text.printed import captured

_DTYPES = {1: np.int8, 2: np.int16, 4: np.int32}


def differences(payload: bytes, tosa: bytes) -> Iterator[str]:
    """Yield the differences, one line for each kind of inputs with a difference.

    Raises:
      ValueError: one of the two cannot be run, or their graphs differ.
    """
    parsed = parse_payload(payload)
    model = EthosUModel(configuration_of(parsed), check_hazards=True)
    for kind, inputs in all_inputs([(t.shape, _dtype(t)) for t in parsed.inputs]):
        expected = _reference(tosa, parsed, inputs)
        try:
            outputs = model.run(payload, inputs)
        except EthosUError as error:
            yield f"inputs {kind}: the functional model refuses the program: {error}"
            continue
        if len(outputs) < len(expected):
            for index in _lost(outputs, expected):
                yield f"output {_output_names(tosa)[index]} is missing from the payload"
            return
        for index, (given, wanted) in enumerate(zip(outputs, expected, strict=True)):
            wrong = np.flatnonzero(given.ravel() != wanted.ravel())
            if wrong.size:
                at = int(wrong[0])
                yield (
                    f"inputs {kind}: output {index}: {wrong.size} of {given.size} values differ, "
                    f"the first at {at}: {given.ravel()[at]}, by TOSA {wanted.ravel()[at]}"
                )


def _dtype(tensor: PayloadTensor) -> Any:
    if tensor.element_size not in _DTYPES:
        raise ValueError(
            f"an input has elements of {tensor.element_size} bytes; 1, 2 or 4 are supported"
        )
    return _DTYPES[tensor.element_size]


def _reference(tosa: bytes, parsed: Payload, inputs: Sequence[Array]) -> list[Array]:
    """Run TOSA's reference model, on inputs in the shapes of its graph."""
    shapes = _input_shapes(tosa)
    if [math.prod(s) for s in shapes] != [x.size for x in inputs]:
        raise ValueError(
            f"TOSA has inputs of {shapes}, the payload of {[t.shape for t in parsed.inputs]}: they "
            "are of different graphs (the order is that in which delegates run, which tags in the "
            "names of ExecuTorch's files are not)"
        )
    given = [x.reshape(s) for x, s in zip(inputs, shapes, strict=True)]
    outputs, refused = [], ""
    with captured() as printed:
        try:
            outputs, status = tosa_reference_model.run(tosa, given)
            if status != tosa_reference_model.GraphStatus.TOSA_VALID:
                refused = str(status)
        except ValueError as error:
            refused = str(error)
        text = " ".join(printed().split())
    if refused:
        raise ValueError(f"TOSA's reference model refuses the graph: {refused}: {text}")
    arrays = [np.asarray(y) for y in outputs]
    kept = [t.bytes for t in parsed.outputs]
    if kept not in (list(c) for c in combinations([y.nbytes for y in arrays], len(kept))):
        raise ValueError("TOSA has other outputs than the payload: they are of different graphs")
    return arrays


def _lost(outputs: Sequence[Array], expected: Sequence[Array]) -> list[int]:
    """Return places of TOSA's outputs that the payload has not, by the values that are equal."""

    def equal(kept: tuple[int, ...]) -> int:
        pairs = zip(outputs, (expected[i] for i in kept), strict=True)
        return sum(np.array_equal(y.ravel(), e.ravel()) for y, e in pairs)

    kept = max(combinations(range(len(expected)), len(outputs)), key=equal)
    return [i for i in range(len(expected)) if i not in kept]


def _output_names(tosa: bytes) -> list[str]:
    block = TosaGraph.GetRootAs(tosa).Regions(0).Blocks(0)
    return [block.Outputs(i).decode() for i in range(block.OutputsLength())]


def _input_shapes(tosa: bytes) -> list[tuple[int, ...]]:
    if not TosaGraph.TosaGraphBufferHasIdentifier(tosa, 0):
        raise ValueError("the file is not a TOSA flatbuffer")
    block = TosaGraph.GetRootAs(tosa).Regions(0).Blocks(0)
    tensors = [block.Tensors(i) for i in range(block.TensorsLength())]
    by_name = {t.Name(): tuple(map(int, t.ShapeAsNumpy())) for t in tensors if t.ShapeLength()}
    return [by_name.get(block.Inputs(i), ()) for i in range(block.InputsLength())]


def _verify(path: Path, tosa: Sequence[Path]) -> bool:
    payloads = read_payloads(path)
    if len(payloads) != len(tosa):
        raise ValueError(
            f"{path} has {len(payloads)} Ethos-U delegates and needs one TOSA file for each, in "
            f"their order; got {len(tosa)}"
        )
    right = True
    for index, (payload, source) in enumerate(zip(payloads, tosa, strict=True)):
        try:
            lines = list(differences(payload, source.read_bytes()))
        except (EthosUError, PayloadError, ValueError) as error:
            raise ValueError(f"delegate {index}, {source}: {error}") from error
        for line in lines:
            print(f"delegate {index}: {line}")
        if not lines:
            print(f"delegate {index}: equal, bit for bit, on all kinds of inputs")
        right = right and not lines
    return right


def main(argv: list[str]) -> int:
    if len(argv) < 3:
        raise app.UsageError("give a .pte, or a payload, and a TOSA file for each of its delegates")
    try:
        return 0 if _verify(user_path(argv[1]), [user_path(p) for p in argv[2:]]) else 1
    except (OSError, PayloadError, ValueError) as error:
        print(f"verify: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    run_main(main)
