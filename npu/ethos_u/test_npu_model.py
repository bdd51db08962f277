# SPDX-License-Identifier: Apache-2.0
"""Tests of the model's Python binding."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from npu.ethos_u.npu_model import CONFIGS, EthosUError, EthosUModel, NpuMemory
from npu.ethos_u.testing.payloads import COPY, changed, payload

_X = np.arange(24, dtype=np.int8).reshape(2, 3, 4)


def test_run_copies() -> None:
    model = EthosUModel("ethos-u55-128", check_hazards=True)
    (y,) = model.run(payload(), [_X])
    assert y.dtype == np.int8
    assert y.shape == (1, 1, 1, 2, 3, 4)
    np.testing.assert_array_equal(y.reshape(_X.shape), _X)
    assert [operation.name for operation in model.operations] == ["OP_POOL"]
    assert model.operations[0].ofm_shape == (2, 3, 4)


def test_unsigned_inputs_are_taken_as_bytes() -> None:
    (y,) = EthosUModel("ethos-u55-128").run(payload(), [_X.view(np.uint8)])
    np.testing.assert_array_equal(y.ravel(), _X.ravel())


def test_inspect() -> None:
    summary = EthosUModel("ethos-u55-128").inspect(payload())
    assert summary.commands == len(COPY)
    assert summary.operations == 1
    assert summary.region_bytes == (0, 88, 0, 0, 0, 0, 0, 0)
    assert summary.counts.read[1] == summary.counts.written[1] == 24
    assert summary.counts.cycles > 0


def test_slower_memory_takes_more_cycles() -> None:
    fast = EthosUModel("ethos-u55-128", memories=[NpuMemory(16, 1, 64)] * 8)
    slow = EthosUModel("ethos-u55-128", memories=[NpuMemory(0.125, 500, 64)] * 8)
    assert fast.inspect(payload()).counts.cycles < slow.inspect(payload()).counts.cycles


@pytest.mark.parametrize(
    ("commands", "status", "message"),
    [
        (
            changed("SET_OFM_PRECISION", 0x4101),
            "ETHOS_U_ERROR_UNSUPPORTED",
            "command 46 (word 61) OP_POOL, SET_OFM_PRECISION, round_mode: 1 (0x1)",
        ),
        (
            changed("SET_ACTIVATION", 3),
            "ETHOS_U_ERROR_UNSUPPORTED",
            "SET_ACTIVATION, activation_function: 3",
        ),
        (changed("SET_OFM_REGION", 0), "ETHOS_U_ERROR_READ_ONLY", "SET_OFM_REGION, region: 0"),
        (COPY[:-1], "ETHOS_U_ERROR_STREAM_END", "words: 62"),
        (COPY[1:], "ETHOS_U_ERROR_NOT_SET", "OP_POOL, SET_IFM_REGION"),
        (
            changed("SET_IFM_STRIDE_Y", 0, 4),
            "ETHOS_U_ERROR_UNSUPPORTED",
            "strides, by which elements overlap",
        ),
    ],
)
def test_refusals(commands: list[tuple[str, int, int]], status: str, message: str) -> None:
    with pytest.raises(EthosUError) as caught:
        EthosUModel("ethos-u55-128").run(payload(commands), [_X])
    assert caught.value.status == status
    assert message in str(caught.value)


@pytest.mark.parametrize(("shift", "refused"), [(63, False), (64, True)])
def test_scale_records_fit_their_fields(shift: int, refused: bool) -> None:
    record = struct.pack("<5xIB", 1, shift)
    commands = [
        ("SET_SCALE_REGION", 0, 0),
        ("SET_SCALE_BASE", 0, 0),
        ("SET_SCALE_LENGTH", 0, 40),
        *changed("SET_OFM_PRECISION", 0x8001),
    ]
    data = payload(commands, blocks={"weight_data": record * 4})
    model = EthosUModel("ethos-u55-128")
    if refused:
        with pytest.raises(EthosUError, match="shift, beyond the width of its field"):
            model.run(data, [_X])
    else:
        (y,) = model.run(data, [_X])
        assert not y.any()


def test_other_configuration() -> None:
    with pytest.raises(
        EthosUError, match="for ethos-u55-128, but the functional model is set to ethos-u65-512"
    ) as caught:
        EthosUModel("ethos-u65-512").run(payload(), [_X])
    assert caught.value.status == "ETHOS_U_ERROR_CONFIG"
    with pytest.raises(ValueError, match="known are ethos-u55-32"):
        EthosUModel("ethos-u77")


@pytest.mark.parametrize("name", CONFIGS)
def test_all_configurations_run(name: str) -> None:
    commands = list(COPY)
    if name == "ethos-u65-512":
        commands.insert(0, ("SET_PARALLEL_MODE", 1, 0))
    (y,) = EthosUModel(name).run(payload(commands, CONFIGS[name]), [_X])
    np.testing.assert_array_equal(y.ravel(), _X.ravel())


def test_wrong_inputs() -> None:
    model = EthosUModel("ethos-u55-128")
    with pytest.raises(ValueError, match="2 inputs given; the payload needs 1"):
        model.run(payload(), [_X, _X])
    with pytest.raises(ValueError, match="input 0 is int8 \\(5,\\)"):
        model.run(payload(), [np.zeros(5, np.int8)])
    with pytest.raises(ValueError, match="input 0 is int16"):
        model.run(payload(), [np.zeros(12, np.int16)])


_WORDS = struct.pack("<10i", 1, 1, 1, 1, 1, 2, 3, 4, 16, 1)  # 6 numbers of 32 bits


@pytest.mark.parametrize(
    ("inputs", "error", "message"),
    [
        ([[0] * 24], TypeError, "input 0 must be a numpy array; it is a list"),
        (
            [torch.zeros(24, dtype=torch.int8)],
            TypeError,
            "it is a torch.Tensor",
        ),
        ([None], TypeError, "it is a NoneType"),
        (_X, TypeError, "inputs must be a list .* got ndarray"),
        (torch.zeros(1, 24), TypeError, "inputs must be a list .* got Tensor"),
        ([np.zeros(6, np.float32)], ValueError, "input 0 is float32 .* needs 4-byte integers"),
        ([np.zeros(6, "V4")], ValueError, "input 0 is .V4"),
        ([np.zeros(5, np.int32)], ValueError, "input 0 is int32 .5,."),
    ],
)
def test_inputs_that_are_no_integer_arrays(
    inputs: Any, error: type[Exception], message: str
) -> None:
    data = payload(blocks={"inputs": _WORDS})
    with pytest.raises(error, match=message):
        EthosUModel("ethos-u55-128").run(data, inputs)


def test_byte_order_of_inputs() -> None:
    x = np.arange(6, dtype=np.int32) * 0x01020304
    data = payload(blocks={"inputs": _WORDS})
    model = EthosUModel("ethos-u55-128")
    little, big = (model.run(data, [x.astype(order)])[0] for order in ("<i4", ">i4"))
    np.testing.assert_array_equal(little.ravel().view(np.int32), x)
    np.testing.assert_array_equal(big, little)


@pytest.mark.parametrize("data", ["payload", Path("payload.bin"), 5, None, _X])
def test_a_payload_that_is_no_bytes(data: Any) -> None:
    with pytest.raises(TypeError, match="a payload must be bytes; got .*read_payloads"):
        EthosUModel("ethos-u55-128").run(data, [_X])


def test_more_memory_than_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def zeros(size: int, _dtype: type) -> npt.NDArray[np.uint8]:
        raise MemoryError

    model = EthosUModel("ethos-u55-128")
    monkeypatch.setattr(np, "zeros", zeros)
    with pytest.raises(EthosUError, match="this machine cannot provide .* bytes of memory"):
        model.run(payload(), [_X])
