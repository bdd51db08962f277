# SPDX-License-Identifier: Apache-2.0
"""Payloads against the composer of ExecuTorch's own backend, and damaged payloads."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import flatbuffers
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema

from aot.backends.neutron.converted import Leftover, program_of
from aot.backends.neutron.testing.stand_in import converted, microcode
from aot.errors import LoweringError
from aot.importers.tflite.testing.build import File
from npu.neutron.payload import NeutronPayloadError, NeutronProgram, compose, parse


@pytest.fixture(scope="module")
def upstream() -> ModuleType:
    """Return ExecuTorch's own backend; it imports nothing without the SDK."""
    sys.path.insert(0, str(Path(__file__).parent / "testing" / "sdk"))
    try:
        return importlib.import_module("executorch.backends.nxp.nxp_backend")
    finally:
        sys.path.pop(0)
        for name in [n for n in sys.modules if n.startswith("eiq_neutron_sdk")]:
            del sys.modules[name]  # other tests have none


def region(inputs: int, outputs: int, softmax: bool = False) -> bytes:
    """A file of a region: one op for each output."""
    file = File()
    for index in range(inputs):
        file.input((1, 2, 3, 4 + index), (0.5, 0))
    for index in range(outputs):
        shape = (1, 2, 3, 4 + index % inputs)
        y = file.tensor(shape, quantized=(1 / 256, -128) if softmax else (0.5, 0))
        name = "SOFTMAX" if softmax else "RELU"
        file.op(name, [index % inputs], [y], "SoftmaxOptions" if softmax else "")
        file.output(y)
    return file.bytes()


def names(data: bytes, side: str) -> list[str]:
    graph = schema.ModelT.InitFromPackedBuf(data, 0).subgraphs[0]
    return [graph.tensors[i].name.decode() for i in getattr(graph, side)]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 6),
    st.integers(1, 6),
    st.sampled_from([0, 1]),
    st.booleans(),
    st.data(),
)
def test_composed_as_executorch_does(
    upstream: ModuleType, inputs: int, outputs: int, version: int, fetches: bool, data: Any
) -> None:
    sent = region(inputs, outputs)
    made = converted(sent, fetches, version)
    last = data.draw(st.lists(st.booleans(), min_size=inputs + outputs, max_size=inputs + outputs))
    formats = importlib.import_module("executorch.backends.nxp.backend.data_format").DataFormat
    kinds = [formats.CHANNELS_LAST if flag else formats.FORMATLESS for flag in last]
    io = {
        "inputs": dict(zip(names(made, "inputs"), kinds, strict=False)),
        "outputs": dict(zip(names(made, "outputs"), kinds[inputs:], strict=True)),
    }
    expected = upstream.PayloadComposer().get_binary_payload(io, made)
    program = program_of(sent, made, [], {})
    assert program.inputs == tuple(range(inputs))[::-1] and program.version == version
    # Formats are those of the NPU's tensors, in its order.
    flags = [*last[:inputs][::-1], *last[inputs:][::-1]]
    payload = compose(program, inputs, flags)
    assert payload == expected
    parsed = parse(payload)
    assert parsed.channels_last == tuple(flags)
    assert (parsed.program.weights, parsed.arguments) == (sent, inputs)
    fetched = -(-len(sent) // 16) * 16 if fetches else 0
    rest = (1008, 0, 0) if version == 0 else (1008, 48, 32)
    sizes = parsed.sizes
    assert (sizes.scratch, sizes.profile, sizes.debug, sizes.fetched) == (*rest, fetched)


def test_what_the_converter_leaves() -> None:
    sent = region(1, 2, softmax=True)
    made = converted(sent, leaves=["SOFTMAX"])
    outputs = names(sent, "outputs")
    with pytest.raises(Leftover, match="leaves its SOFTMAX to the core") as left:
        program_of(sent, made, ["first", "second"], {outputs[0]: "second", outputs[1]: "first"})
    assert left.value.node == "first"


def _changed(change: Any) -> bytes:
    """The stand-in's file with something else in it; `change` gets its graph."""
    model = schema.ModelT.InitFromPackedBuf(converted(region(2, 1)), 0)
    change(model.subgraphs[0], model)
    builder = flatbuffers.Builder(1 << 16)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def _rename(graph: Any, _: Any) -> None:
    graph.tensors[graph.inputs[0]].name = b"other"


def _cut(graph: Any, side: str, kept: slice) -> None:
    (operator,) = graph.operators
    setattr(operator, side, list(getattr(operator, side))[kept])


STRANGE: dict[str, tuple[Any, str]] = {
    "no op": (lambda g, m: setattr(g, "operators", []), "has 0 operators where one is expected"),
    "two": (
        lambda g, m: g.operators.append(g.operators[0]),
        "has 2 operators where one is expected",
    ),
    "no memory": (lambda g, m: _cut(g, "outputs", slice(-1)), "has 5 inputs and 1 outputs"),
    "no inputs": (lambda g, m: _cut(g, "inputs", slice(2, None)), "has 3 inputs and 2 outputs"),
    "names": (_rename, "its program takes `other`, of t0, t1"),
    "graphs": (lambda g, m: m.subgraphs.append(g), "2 graphs"),
}


@pytest.mark.parametrize("name", STRANGE)
def test_a_file_that_is_not_understood(name: str) -> None:
    change, text = STRANGE[name]
    with pytest.raises(LoweringError, match=text):
        program_of(region(2, 1), _changed(change), [], {})


def test_bytes_that_are_no_file() -> None:
    with pytest.raises(LoweringError, match="the file of NXP's converter: this is not a .tflite"):
        program_of(region(1, 1), b"no file at all", [], {})


def _payload(version: int = 0) -> bytes:
    code = microcode(2, 1, 20, version, 32)
    return compose(NeutronProgram((1, 0), (0,), code, b"w" * 20, b"k" * 40, version), 2)


_HEADER = 16  # of two inputs and one output
_WORD = {name: _HEADER + 4 * word for name, word in (("magic", 0), ("code", 6), ("weights", 7))}

# offset, written bytes, and message
DAMAGES: dict[str, tuple[int, bytes, str]] = {
    "no inputs": (0, b"\0", "the header of 0 inputs and 1 outputs is damaged"),
    "other count": (1, b"\2", "is damaged|different numbers|maps the outputs|does not exist"),
    "too many": (0, b"\xff", "the header of 255 inputs"),
    "format": (3, b"\2", "names a format or an input that does not exist"),
    "input map": (6, b"\2", "names a format or an input that does not exist"),
    "output map": (8, b"\1", r"maps the outputs to \[1\], but there are 1"),
    "version": (9, b"\2", "version 2 is unknown; known are 0, 1"),
    "padding": (12, b"\1", "is damaged"),
    "magic": (_WORD["magic"], b"\0", "the microcode starts with 0x64434d00"),
    "microcode's size": (
        _WORD["code"],
        b"\0\1",
        "256 bytes of microcode and 20 of weights do not fit",
    ),
    "huge microcode": (_WORD["code"], b"\xff\xff\xff\xff", "4294967295 bytes of microcode"),
    "small microcode": (_WORD["code"], b"\x38", "56 bytes of microcode"),
    "weights' size": (_WORD["weights"], b"\xff\xff\xff\xff", "4294967295 of weights"),
    "inputs": (_HEADER + 44, b"\3", "different numbers of inputs and outputs"),
    "outputs": (_HEADER + 48, b"\3", "different numbers of inputs and outputs"),
    "scratch": (_HEADER + 36, b"\xff\xff\xff\xff", "bytes of scratch memory"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_payload_is_refused(name: str) -> None:
    at, data, text = DAMAGES[name]
    payload = bytearray(_payload())
    payload[at : at + len(data)] = data
    with pytest.raises(NeutronPayloadError, match=text):
        parse(bytes(payload))


def test_a_truncated_payload_is_refused() -> None:
    for version in (0, 1):
        payload = _payload(version)
        assert parse(payload).program.kernels[:40] == b"k" * 40
        for size in range(len(payload)):
            kernels = len(payload) - 48
            if size >= kernels and size % 16 == 0:
                continue  # kernels have no size of their own
            with pytest.raises(NeutronPayloadError):
                parse(payload[:size])


def test_more_tensors_than_a_header_has() -> None:
    program = NeutronProgram(tuple(range(256)), (0,), microcode(256, 1, 0), b"", b"", 0)
    with pytest.raises(NeutronPayloadError, match="256 inputs and 1 outputs; 255 at most"):
        compose(program, 256)


def test_random_bytes() -> None:
    generator = np.random.default_rng(0)
    for _ in range(300):
        payload = bytearray(_payload())
        for at in generator.integers(0, len(payload), 3):
            payload[at] = generator.integers(0, 256)
        try:
            parse(bytes(payload))
        except NeutronPayloadError as error:
            assert "\n" not in str(error)
