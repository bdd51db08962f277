# SPDX-License-Identifier: Apache-2.0
"""Files as other tools write them, against TFLite Micro, bit for bit."""

from __future__ import annotations

import flatbuffers
import numpy as np
import pytest

from aot.dialect.graph import initial_state
from aot.errors import LoweringError
from aot.importers.tflite.importing import import_tflite
from aot.importers.tflite.testing.build import RESOURCE, File
from aot.importers.tflite.testing.networks import network
from aot.importers.tflite.testing.oracle import differences, ours, random_runs
from aot.importers.tflite.testing.strange import FILES, REFUSED, Q


@pytest.mark.parametrize("name", FILES)
def test_has_tflite_micros_bits(name: str) -> None:
    assert differences(FILES[name]().bytes(), count=4) == []


def test_values_behind_the_flatbuffer() -> None:
    """Files of more than 2 GB store values there; they equal values inside."""
    file = network()
    inside, behind = file.bytes(), []
    for buffer in file.model.buffers[1:]:
        behind.append(np.asarray(buffer.data, np.uint8).tobytes())
        # Placeholder numbers with the size of the final ones.
        buffer.data, buffer.offset, buffer.size = None, 2**40, len(behind[-1])

    def packed() -> bytes:
        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(file.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())

    end = len(packed())
    for buffer, raw in zip(file.model.buffers[1:], behind, strict=True):
        buffer.offset, end = end, end + len(raw)
    data = packed() + b"".join(behind)
    runs = random_runs(inside)
    for own, expected in zip(ours(data, runs), ours(inside, runs), strict=True):
        np.testing.assert_array_equal(own[0], expected[0])
    with pytest.raises(LoweringError, match=r"`t1`: its bytes \d+ to \d+ are not in the file"):
        import_tflite(packed())


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused(name: str) -> None:
    make, reason = REFUSED[name]
    with pytest.raises(LoweringError) as error:
        import_tflite(make().bytes())
    assert reason in str(error.value)


def test_a_variable_that_nothing_reads() -> None:
    """Is no state."""
    file = File()
    x, handle = file.input((1, 8, 3), Q), file.tensor((), RESOURCE)
    y = file.tensor((1, 8, 3), np.int8, Q)
    file.op("VAR_HANDLE", [], [handle], "VarHandleOptions", container=b"", sharedName=b"a")
    file.op("ASSIGN_VARIABLE", [handle, x], [], "AssignVariableOptions")
    file.op("RELU", [x], [y])
    file.output(y)
    assert initial_state(import_tflite(file.bytes())) == ()
    assert differences(file.bytes()) == []
