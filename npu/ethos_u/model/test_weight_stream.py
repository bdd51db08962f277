# SPDX-License-Identifier: Apache-2.0
"""The weight decoder against Vela's own codec, `mlw_codec`."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from ethosu import mlw_codec
from hypothesis import given, settings
from hypothesis import strategies as st

from npu.ethos_u.model.weight_decoder import decode_weights

_DISTRIBUTIONS: dict[str, Callable[[np.random.Generator, int], npt.NDArray[np.int64]]] = {
    "uniform": lambda rng, n: rng.integers(-255, 256, n),
    "sparse": lambda rng, n: rng.integers(-127, 128, n) * (rng.random(n) < 0.1),
    "half_sparse": lambda rng, n: rng.integers(-30, 31, n) * (rng.random(n) < 0.5),
    "normal": lambda rng, n: np.clip(rng.normal(0, 12, n), -127, 127).astype(np.int64),
    "narrow": lambda rng, n: rng.normal(0, 1.5, n).astype(np.int64),
    "few_values": lambda rng, n: rng.choice([-3, 5, 7], n),
    "few_values_and_zeros": lambda rng, n: rng.choice([0, 0, 0, 1, -1, 100], n),
    "one_value": lambda rng, n: np.full(n, rng.integers(-255, 256)),
    "all_zero": lambda rng, n: np.zeros(n, np.int64),
    "blocks": lambda rng, n: np.repeat(rng.integers(-60, 61, n // 50 + 1), 50)[:n],
    "pruned_rows": lambda rng, n: (
        rng.integers(-127, 128, n) * np.repeat(rng.random(n // 9000 + 1) < 0.6, 9000)[:n]
    ),
    "nearly_empty": lambda rng, n: rng.integers(-127, 128, n) * (rng.random(n) < 1e-5),
}


@pytest.mark.parametrize("name", _DISTRIBUTIONS)
@pytest.mark.parametrize("count", [1, 8, 63, 1000, 40000])
def test_equals_mlw_codec(name: str, count: int) -> None:
    rng = np.random.default_rng(count)
    for step in (8, 64, 1 << 20):
        weights = _DISTRIBUTIONS[name](rng, count).astype(np.int16)
        stream = bytes(mlw_codec.encode(weights.tolist()))
        decoded, error = decode_weights(stream, count, step)
        assert error is None
        np.testing.assert_array_equal(decoded, mlw_codec.decode(bytearray(stream))[:count])
        np.testing.assert_array_equal(decoded, weights)


@pytest.mark.parametrize("name", _DISTRIBUTIONS)
def test_a_million_weights(name: str) -> None:
    weights = _DISTRIBUTIONS[name](np.random.default_rng(3), 1_000_000).astype(np.int16)
    stream = bytes(mlw_codec.encode(weights.tolist()))
    decoded, error = decode_weights(stream, weights.size, 64)
    assert error is None
    np.testing.assert_array_equal(decoded, mlw_codec.decode(bytearray(stream))[: weights.size])
    np.testing.assert_array_equal(decoded, weights)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(-255, 255), max_size=40),
            st.integers(0, 200) | st.sampled_from([65_534, 65_535, 65_536, 65_537, 1 << 18]),
        ),
        min_size=1,
        max_size=4,
    ),
)
def test_zero_runs_of_any_length(parts: list[tuple[list[int], int]]) -> None:
    """Weights, a run of zeros, weights, and so on: up to a million."""
    weights = [weight for values, zeros in parts for weight in [*values, *([0] * zeros)]] or [0]
    stream = bytes(mlw_codec.encode(weights))
    decoded, error = decode_weights(stream, len(weights), 64)
    assert error is None
    np.testing.assert_array_equal(decoded, mlw_codec.decode(bytearray(stream))[: len(weights)])
    np.testing.assert_array_equal(decoded, weights)


def test_a_zero_run_that_never_ends() -> None:
    # Up to the quotient, in a stream of zeros only; from there on it goes on.
    head = bytes(mlw_codec.encode([0] * 1000))[:6]
    ones = 1 << 25  # bytes: with three bits of remainder 2^31 zeros
    assert decode_weights(head + b"\xff" * (ones - 64), 100, 64)[1] == "ends too early"
    assert decode_weights(head + b"\xff" * (ones + 64), 100, 64)[1] == (
        "has a zero run beyond 31 bits"
    )


def test_a_weight_that_never_ends() -> None:
    # No zero runs, 32,768 weights without remainders, all values of 9 bits; then ones.
    fields = ((6, 3), (0x7FFF, 15), (0, 3), (0, 1), (1, 1), (0, 5), (0, 5), (7, 3))
    header = at = 0
    for value, bits in fields:
        header |= value << at
        at += bits
    stream = (header | -1 << at) % (1 << 8192)
    error = decode_weights(stream.to_bytes(1024, "little"), 100, 64)[1]
    assert error == "has a weight beyond 9 bits"


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(-255, 255) | st.just(0), min_size=1, max_size=400))
def test_decodes_what_was_encoded(weights: list[int]) -> None:
    decoded, error = decode_weights(bytes(mlw_codec.encode(weights)), len(weights), 64)
    assert error is None
    assert decoded.tolist() == weights


@pytest.mark.parametrize("name", ["uniform", "sparse", "normal"])
def test_truncated_streams_end_with_an_error(name: str) -> None:
    weights = _DISTRIBUTIONS[name](np.random.default_rng(7), 1000).astype(np.int16)
    stream = bytes(mlw_codec.encode(weights.tolist()))
    for size in range(0, len(stream) // 2, 3):
        assert decode_weights(stream[:size], len(weights), 64)[1] == "ends too early"


@settings(max_examples=500, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_end(stream: bytes) -> None:
    decode_weights(stream, 5000, 64)


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (b"", "ends too early"),
        (b"\x04" + bytes(20), "has a reserved zero-run divisor"),
        (bytes([6, 0, 6 << 2, 0]) + bytes(20), "has a reserved weight divisor"),
        (bytes(20), "starts without a palette"),
    ],
)
def test_errors(stream: bytes, message: str) -> None:
    assert decode_weights(stream, 100, 64)[1] == message
