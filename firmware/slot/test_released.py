# SPDX-License-Identifier: Apache-2.0
"""Packages of released versions load, or both versions are named."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from aot.slot.abi import kernel_abi, plan_abi
from aot.slot.package import FORMAT, PackageError, read_package
from firmware.slot.testing.host import Host, run
from tests.released.released import Release, releases

_FORMAT, _PLAN_ABI, _KERNELS = 4, 8, 32
"""Fields of the header, by the offset of their first byte."""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    return Host(tmp_path_factory.mktemp("slot"))


@pytest.fixture(scope="module")
def program(host: Host) -> Path:
    return host.program(sorted(host.functions), "all")


def _status_of_kernels(package: bytes, functions: set[str]) -> str:
    """Return the status of the first kernel that firmware with these functions does not have."""
    at, count = struct.unpack_from("<2I", package, _KERNELS)
    for i in range(count):
        abi, text = struct.unpack_from("<I60s", package, at + 64 * i)
        name = text.rstrip(b"\0").decode()
        if name not in functions:
            return "kernel missing"
        if kernel_abi(name) != abi:
            return "another kernel version"
    return "ok"


@pytest.mark.parametrize("release", releases(), ids=lambda release: release.version)
def test_package_of_a_release(host: Host, program: Path, release: Release) -> None:
    """Firmware has a status for another format, and one for a kernel of another version."""
    path = release.folder / "sample.plpk"
    package, key = path.read_bytes(), bytes.fromhex(host.public)
    (abi,) = struct.unpack_from("<I", package, _PLAN_ABI)
    expected = "another format"
    if release.package_format == FORMAT and abi == plan_abi():
        assert read_package(package, key).version == "1.0.0"
        expected = _status_of_kernels(package, set(host.functions))
    else:
        with pytest.raises(PackageError, match=r"this version reads (format \d+|0x\w{8})"):
            read_package(package, key)
    assert run(program, "load", host.public, path).partition(" ")[2] == expected


@pytest.mark.parametrize(
    "field, message",
    [
        (_FORMAT, f"has package format 77; this version reads format {FORMAT}"),
        (_PLAN_ABI, "plan of layout 0x0000004d; this version reads 0x"),
    ],
)
def test_other_versions_are_named(host: Host, field: int, message: str) -> None:
    package = bytearray(host.package("1.0.0"))
    struct.pack_into("<I", package, field, 77)
    with pytest.raises(PackageError, match=message):
        read_package(host.signed(bytes(package)), bytes.fromhex(host.public))
