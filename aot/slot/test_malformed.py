# SPDX-License-Identifier: Apache-2.0
"""Damaged packages, object files, plans and versions: each ends in one line of `pack`."""

import json
import random
import re
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from absl.testing import flagsaver

from aot.plan.report import plan_json
from aot.plan.testing import sample_board
from aot.slot import pack
from aot.slot.object_file import ObjectError, read_object
from aot.slot.package import PackageError, read_package, version_number
from aot.slot.planning import NAME
from firmware.slot.testing.host import TEST_KEY, Host, sample_vectors

COUNT = 300


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    return Host(tmp_path_factory.mktemp("slot"))


def _damaged(good: bytes, seed: int) -> Iterator[bytes]:
    """Bytes and words changed, half of them near the start or the end, where the headers are."""
    rng = random.Random(seed)
    values = (0, 1, 2, 0x7F, 0x80, 0xFF)
    for _ in range(COUNT):
        data = bytearray(good)
        for _ in range(rng.randrange(1, 4)):
            near = rng.randrange(min(400, len(good)))
            at = rng.choice((near, len(good) - 1 - near, rng.randrange(len(good))))
            if rng.random() < 0.5:
                data[at] = rng.choice(values)
            else:
                word = rng.choice((0, 7, 2**31, 2**32 - 1, rng.randrange(2**32)))
                data[at : at + 4] = struct.pack("<I", word)[: len(data) - at]
        yield bytes(data[: rng.randrange(len(data))] if rng.random() < 0.1 else data)


def _refusals(
    read: Callable[[bytes], object], good: bytes, error: type[ValueError], complete: bool = False
) -> int:
    """Return the number of refused damaged files. Any other exception fails the test.

    Args:
      read: the reader.
      good: a file it accepts.
      error: its refusal.
      complete: every changed file has to be refused.
    """
    read(good)
    refused = 0
    for data in _damaged(good, 1):
        try:
            read(data)
        except error as found:
            assert "\n" not in str(found)
            refused += 1
        else:
            assert not complete or data == good
    return refused


def test_damaged_packages(host: Host) -> None:
    key = bytes.fromhex(host.public)
    package = host.package("1.0.0")
    assert _refusals(lambda data: read_package(data, key), package, PackageError, complete=True)

    def signed(data: bytes) -> object:
        return read_package(host.signed(data) if len(data) > 300 else data, key)

    assert _refusals(signed, package, PackageError) > COUNT / 10


def test_damaged_object_files(host: Host) -> None:
    assert _refusals(read_object, host.compiled, ObjectError) > COUNT / 10


def _one_line(capsys: pytest.CaptureFixture[str]) -> int:
    """Run `pack` and return its exit status. If the status is not 0, `pack` prints one line."""
    status = pack.main(["pack"])
    printed = capsys.readouterr().err
    assert printed.count("\n") == (1 if status else 0), printed
    assert status in (0, pack.STATUS_BAD_INPUT)
    return status


def test_pack_ends_in_one_line(
    host: Host, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pack, "load_board", lambda _: sample_board())
    plan = json.dumps(plan_json(host.plan, NAME)).encode()
    vectors = tmp_path / "good.npz"
    np.savez(vectors, **sample_vectors())
    good = {"object": host.compiled, "plan": plan, "vectors": vectors.read_bytes()}
    paths = {name: tmp_path / name for name in good}
    for name, data in good.items():
        paths[name].write_bytes(data)
    files = {name: str(path) for name, path in paths.items()}
    output = tmp_path / "package"
    with (
        flagsaver.as_parsed(
            **files,
            key=str(TEST_KEY),
            board="board",
            name="sample",
            version="1.0.0",
            output=str(output),
        ),
        flagsaver.as_parsed(limit="2", show="false", public_key="false"),
    ):
        assert _one_line(capsys) == 0
        for name, data in good.items():
            ends = []
            for _, damaged in zip(range(40), _damaged(data, 2), strict=False):
                paths[name].write_bytes(damaged)
                ends.append(_one_line(capsys))
            assert ends.count(pack.STATUS_BAD_INPUT) > 3, name
            paths[name].write_bytes(data)


def test_versions() -> None:
    assert version_number("0.0.1") < version_number("0.1.0") < version_number("1.0.0")
    for text in ("1", "1.2", "256.0.0", "1.2.65536", "-1.0.0", "1.2.3+4", ""):
        with pytest.raises(PackageError, match=re.escape(repr(text))):
            version_number(text)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "x" * 32}, "more than 31 bytes"),
        ({"vectors": {}}, "lack input_0"),
        ({"vectors": {n: a[:0] for n, a in sample_vectors().items()}}, "at least one vector"),
        (
            {"vectors": {n: a.astype(np.int16) for n, a in sample_vectors().items()}},
            "the model needs int8",
        ),
    ],
)
def test_what_cannot_be_packed(host: Host, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(PackageError, match=message):
        host.package("1.0.0", **changes)
