# SPDX-License-Identifier: Apache-2.0
"""Packages and slots on the host: refusals, and power cuts at every write."""

import hashlib
import os
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aot.slot.abi import io_hash
from aot.slot.package import HEADER, PackageError, read_package
from firmware.slot.testing.host import (
    SLOT_BYTES,
    Called,
    Host,
    Past,
    Read,
    Sums,
    Wide,
    WideSums,
    other_key,
    run,
    sample_vectors,
)
from kernels.testing.folders import folder

# Number of power cuts in each operation, each with a different leftover; more at night.
CUTS = int(os.environ.get("CUTS", "1"))

# Fields of the header, by the offset of their first byte.
_FIELDS = {
    "magic": 0,
    "format": 4,
    "plan_abi": 8,
    "bytes": 12,
    "version": 16,
    "arena": 20,
    "plan": 24,
    "io": 72,
}
_PARTS = {"kernels": 32, "relocations": 40, "tables": 48, "constants": 56, "vectors": 64}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    return Host(tmp_path_factory.mktemp("slot"))


@pytest.fixture(scope="module")
def program(host: Host) -> Path:
    return host.program(sorted(host.functions), "all")


def _load(host: Host, program: Path, package: bytes) -> str:
    path = host.write("package", package)
    return run(program, "load", host.public, path).partition(" ")[2]


def _changed(host: Host, package: bytes, changes: dict[int, int]) -> bytes:
    """Return a package with changed words at these offsets, signed again."""
    data = bytearray(package)
    for at, value in changes.items():
        struct.pack_into("<I", data, at, value)
    return host.signed(bytes(data))


def _slots(host: Host, program: Path, *steps: str, **packages: bytes) -> list[str]:
    """Lines of steps on empty slots; `=name` in a step is the package of this name."""
    paths = {name: host.write(name, package) for name, package in packages.items()}
    arguments = [
        f"{verb}={paths.get(value, value)}" if value else verb
        for verb, _, value in (step.partition("=") for step in steps)
    ]
    return run(program, "slots", host.public, *arguments).splitlines()


def test_a_package_runs_and_its_vectors_come_out(host: Host, program: Path) -> None:
    assert _load(host, program, host.package("1.0.0")) == "ok"


def test_the_same_input_gives_the_same_bytes(host: Host) -> None:
    assert host.package("1.0.0") == host.package("1.0.0")
    assert host.package("1.0.0") != host.package("1.0.1")


def test_the_host_reads_what_it_wrote(host: Host) -> None:
    package = host.package("1.2.3")
    found = read_package(package, bytes.fromhex(host.public))
    assert (found.name, found.version, found.core) == ("sample", "1.2.3", "host")
    assert set(found.kernels) == host.functions
    damaged = bytearray(package)
    damaged[-1] ^= 1
    with pytest.raises(PackageError, match="its contents were changed"):
        read_package(bytes(damaged), bytes.fromhex(host.public))
    with pytest.raises(PackageError, match="not signed by this key"):
        read_package(package, bytes(32))


def test_what_is_refused(host: Host, program: Path) -> None:
    package = host.package("1.0.0")
    assert _load(host, program, host.package("1.0.0", key=other_key())) == "wrong signature"
    assert _load(host, program, host.package("1.0.0", core="cortex-m0")) == "for another core"
    assert _load(host, program, package[:-1]) == "truncated"
    assert _load(host, program, package[:100]) == "truncated"
    for field in ("format", "plan_abi"):
        changed = _changed(host, package, {_FIELDS[field]: 77})
        assert _load(host, program, changed) == "another format"
    changed = _changed(host, package, {_FIELDS["magic"]: 1})
    assert _load(host, program, changed) == "not a package"
    changed = _changed(host, package, {_FIELDS["arena"]: 1 << 20})
    assert _load(host, program, changed) == "memory too small"
    wrong = host.package("1.0.0", vectors=_wrong_vectors())
    assert _load(host, program, wrong) == "self-test failed"


def test_every_byte_of_the_hash_counts(host: Host, program: Path) -> None:
    package = host.package("1.0.0")
    for at in range(HEADER - 128, HEADER - 64):
        changed = bytearray(package)
        changed[at] ^= 1
        changed[HEADER - 64 : HEADER] = host.key.sign(bytes(changed[: HEADER - 64]))
        assert _load(host, program, bytes(changed)) == "wrong contents", at


def test_another_model_is_refused(tmp_path: Path, host: Host, program: Path) -> None:
    old = host.package("1.0.0")
    header = _changed(host, old, {_FIELDS["version"]: 2 << 24, _FIELDS["io"]: 7})
    others = {
        "name": host.package("2.0.0", name="another"),
        "longer name": host.package("2.0.0", name="sample_b"),
        "inputs and outputs": Host(tmp_path, Past(), other=host).package("2.0.0"),
        "hash": header,
    }
    for what, other in others.items():
        found = _slots(
            host, program, "update=old", "open", "update=other", "open", old=old, other=other
        )
        kept = "0x1000000: ok, no model in a slot"
        assert found == ["ok", "ok", kept, "another model", "ok", kept], what


def test_io_hash_depends_on_all_of_the_interface() -> None:
    port = {"dtype": "int8", "shape": [1, 2, 3], "layout": "row_major"}
    other = {"dtype": "int16", "shape": [1, 2, 3], "layout": "row_major"}
    plans = [
        ([port], [port]),
        ([port, port], []),
        ([port], [port, port]),
        ([port, port], [port]),
        ([other], [port]),
        ([port], [other]),
        ([port | {"layout": "nlc"}], [port]),
        ([port | {"shape": [1, 3, 2]}], [port]),
        ([port | {"shape": [1, 2, 3, 1]}], [port]),
        ([port | {"shape": [1, 2, 4]}], [port]),
    ]
    hashes = {io_hash({"inputs": inputs, "outputs": outputs}) for inputs, outputs in plans}
    assert len(hashes) == len(plans)
    scaled = port | {"scale": 0.5, "zero_point": 3}
    assert io_hash({"inputs": [scaled], "outputs": [port]}) in hashes


def test_only_a_newer_version_is_taken(host: Host, program: Path) -> None:
    packages = {f"v{i}": host.package(f"1.0.{i}") for i in range(3)}
    runs_v1 = "0x1000001: ok, no model in a slot"
    start = ["update=v1", "open"]
    for version in ("v0", "v1"):
        steps = [f"begin={version}", f"update={version}", "open"]
        found = _slots(host, program, *start, *steps, **packages)
        assert found == ["ok", "ok", runs_v1, "not newer", "not newer", "ok", runs_v1]
        # A newer header, then the contents of an older package: the written header counts.
        steps = ["begin=v2", f"write={version}", "finish", "open", "update=v2", "open"]
        found = _slots(host, program, *start, *steps, **packages)
        assert found[3:] == [
            *("ok", "ok", "not newer", "ok", runs_v1),
            *("ok", "ok", "0x1000002: ok, ok"),
        ]


def test_an_error_of_the_flash_ends_an_update(host: Host, program: Path) -> None:
    steps = ["begin=new", "fail=3", "write=new", "fail=0", "write=new", "finish", "update=new"]
    assert _slots(host, program, *steps, "open", new=host.package("1.0.0")) == [
        *("ok", "ok", "flash write failed", "ok", "out of order", "out of order", "ok"),
        *("ok", "0x1000000: ok, no model in a slot"),
    ]


# Sectors of 1024 bytes, units of 16, and two slots of SLOT_BYTES that fill the flash.
_USABLE: list[dict[str, int]] = [
    {},
    {"write": 32},
    {"sector": 192},  # for the marks alone
    {"sector": SLOT_BYTES // 2},
    {"first": SLOT_BYTES, "second": 0},
    {"bytes": SLOT_BYTES - 1024, "second": SLOT_BYTES - 1024},
]
_UNUSABLE: list[dict[str, int]] = [
    {"sector": 0},
    {"write": 0},
    {"write": 64},
    {"write": 24},  # no divisor of a sector
    {"sector": 128},  # no place for the marks
    {"bytes": SLOT_BYTES - 16},
    {"bytes": 1024},
    {"bytes": 0},
    {"name": 0},
    {"memory": 8},
    {"memory": 1},
    {"flash": 8},
    {"flash": 1},
    {"first": 16, "second": SLOT_BYTES + 1024, "flash_bytes": 3 * SLOT_BYTES},
    {"second": SLOT_BYTES + 16, "flash_bytes": 3 * SLOT_BYTES},
    {"write": 4, "sector": 1028, "bytes": 2056, "second": 3 * 1028},
    {"flash_bytes": SLOT_BYTES - 1024},
    {"flash_bytes": 2 * SLOT_BYTES - 1},
    {"first": SLOT_BYTES + 1024, "second": 0},  # beyond the flash
    {"second": SLOT_BYTES - 1024},  # overlapping slots
    {"first": SLOT_BYTES - 1024, "second": 0},
    {"first": 1024, "second": SLOT_BYTES, "flash_bytes": 3 * SLOT_BYTES},
    {"first": SLOT_BYTES, "second": 1024},
]


def _opened(host: Host, program: Path, fields: dict[str, int]) -> str:
    steps = [f"set={name}={value}" for name, value in fields.items()]
    return run(program, "slots", host.public, *steps, "open").splitlines()[len(fields)]


@pytest.mark.parametrize("fields", _USABLE, ids=str)
def test_usable_slots(host: Host, program: Path, fields: dict[str, int]) -> None:
    assert _opened(host, program, fields) == "no model in a slot"


@pytest.mark.parametrize("fields", _UNUSABLE, ids=str)
def test_unusable_slots(host: Host, program: Path, fields: dict[str, int]) -> None:
    assert _opened(host, program, fields) == "bad slot configuration"


def _wrong_vectors() -> dict[str, Any]:
    vectors = dict(sample_vectors())
    return vectors | {"output_0": vectors["output_0"] ^ np.int8(1)}


def test_a_failed_trial_is_the_last(host: Host, program: Path) -> None:
    old, new = host.package("1.0.0"), host.package("1.0.1", vectors=_wrong_vectors())
    steps = ["update=old", "open", "update=new", "open", "open", "open"]
    runs = "0x1000000: ok,"
    assert _slots(host, program, *steps, old=old, new=new)[3:] == [
        *("ok", "ok", f"{runs} self-test failed"),
        *("ok", f"{runs} rejected before") * 2,
    ]
    found = _slots(host, program, "update=new", "open", "open", new=new)
    assert found[1::2] == ["no model in a slot"] * 2
    assert found[2::2] == [
        f"0: {s}, no model in a slot" for s in ("self-test failed", "rejected before")
    ]


def test_flash_that_cannot_be_read_any_more(host: Host, program: Path) -> None:
    old, new = host.package("1.0.0"), host.package("1.0.1")
    start = ["update=old", "open", "update=new", "open"]
    steps = [*start, f"hide={SLOT_BYTES + 1024}", "check", "open"]
    assert _slots(host, program, *steps, old=old, new=new)[6:] == [
        *("ok", "wrong contents"),
        *("ok", "0x1000000: ok, wrong contents"),
    ]


def test_the_running_package_is_checked_again(host: Host, program: Path) -> None:
    old, new = host.package("1.0.0"), host.package("1.0.1")
    assert _slots(host, program, "open", "check")[2:] == ["no model in a slot"]
    steps = ["update=old", "open", "check", f"damage={len(old) - 1}=1", "check"]
    assert _slots(host, program, *steps, old=old)[3:] == ["ok", "ok", "wrong contents"]
    # Another signed package replaces the running one.
    swaps = [f"damage={at}={old[at] ^ new[at]}" for at in range(len(old)) if old[at] != new[at]]
    found = _slots(host, program, "update=old", "open", *swaps, "check", old=old)
    assert found[3:] == ["ok"] * len(swaps) + ["wrong contents"]


def test_offsets_that_lead_outside_are_refused_though_signed(host: Host, program: Path) -> None:
    package = host.package("1.0.0")
    size = len(package)
    for name, at in _PARTS.items():
        for changes in ({at: size + 16}, {at + 4: size}, {at: 0}, {at: 0xFFFFFFF0}, {at + 4: ~0}):
            changes = {k: v & 0xFFFFFFFF for k, v in changes.items()}
            text = _load(host, program, _changed(host, package, changes))
            assert re.search("out of bounds|memory too small", text), (name, changes, text)
    for plan in (1, 0x10000, 0xFFFFFFF8):
        assert "out of bounds" in _load(
            host, program, _changed(host, package, {_FIELDS["plan"]: plan})
        )
    relocations = struct.unpack_from("<II", package, _PARTS["relocations"])
    tables = struct.unpack_from("<I", package, _PARTS["tables"])[0]
    for i in range(relocations[1]):
        place = struct.unpack_from("<I", package, relocations[0] + 4 * i)[0] & ~3
        for value in (size, 0x7FFFFFFF):  # after tables, package and arena
            changed = _changed(host, package, {tables + place: value})
            assert "out of bounds" in _load(host, program, changed), (place, value)


def test_a_kernel_that_is_not_there(host: Host) -> None:
    function = sorted(host.functions)[0]
    without = host.program(sorted(host.functions - {function}), "without")
    text = _load(host, without, host.package("1.0.0"))
    assert text == "kernel missing"


def test_a_kernel_of_another_version(host: Host, program: Path) -> None:
    package = host.package("1.0.0")
    kernels = struct.unpack_from("<I", package, _PARTS["kernels"])[0]
    text = _load(host, program, _changed(host, package, {kernels: 1}))
    assert text == "another kernel version"


def test_a_flipped_bit_anywhere_and_any_length(host: Host, program: Path) -> None:
    path = host.write("package", host.package("1.0.0"))
    assert run(program, "flips", host.public, path).endswith("accepted 0")


def test_hostile_packages_stay_inside(host: Host, program: Path) -> None:
    path = host.write("package", host.package("1.0.0"))
    counts = re.findall(r"\d+", run(program, "hostile", path, "20000"))
    assert all(int(count) > 100 for count in counts), counts


@pytest.mark.parametrize(
    ("network", "functions"),
    [
        (Wide(), {"pl_conv2d_blocks_s16", "pl_strided_copy_x8", "pl_linear_blocks_s16"}),
        (Past(), {"pl_cat_x8", "pl_strided_copy_x8"}),
        (Read(), {"pl_gru_s8", "pl_lstm_s8"}),
    ],
    ids=["int16", "state", "recurrent"],
)
def test_packages_of_other_models(
    tmp_path: Path, host: Host, network: Wide | Past | Read, functions: set[str]
) -> None:
    host = Host(tmp_path, network, other=host)
    assert functions <= host.functions
    program = host.program(sorted(host.functions), "program")
    package = host.package("1.0.0")
    assert _load(host, program, package) == "ok"
    path = host.write("package", package)
    counts = re.findall(r"\d+", run(program, "hostile", path, "20000"))
    assert all(int(count) > 100 for count in counts), counts


_CASES = {
    "amax": ("reduce", "pl::amax"),
    "attention": ("bmm", "pl::bmm"),
    "embedding": ("embedding", "pl::embedding"),
    "four bits": ("linear", "pl::linear_w4"),
    "gather": ("gather", "pl::gather"),
    "mask": ("masked_softmax", "pl::masked_softmax"),
    "norm": ("normalize", "pl::normalize"),
    "padding": ("pad", "pl::pad"),
    "resizing": ("resize_bilinear", "pl::resize_bilinear"),
    "sums of rows": ("scatter", "pl::scatter_sum"),
    "transposed": ("transpose_conv2d", "pl::transpose_conv2d"),
    "where": ("where", "pl::where"),
}


@pytest.mark.parametrize(("name", "op"), _CASES.values(), ids=_CASES)
def test_packages_of_calls(tmp_path: Path, host: Host, name: str, op: str) -> None:
    case = next(case for case in folder(name).cases() if case.op == op and case.board)
    host = Host(tmp_path, Called(case), other=host)
    program = host.program(sorted(host.functions), "program")
    package = host.package("1.0.0")
    assert _load(host, program, package) == "ok"
    path = host.write("package", package)
    counts = re.findall(r"\d+", run(program, "hostile", path, "5000"))
    assert all(int(count) > 25 for count in counts), counts


@pytest.mark.parametrize(("network", "dtype"), [(Sums(), "s8"), (WideSums(), "s16")])
def test_no_param_leads_to_undefined_behaviour(
    tmp_path: Path, host: Host, network: Sums | WideSums, dtype: str
) -> None:
    host = Host(tmp_path, network, other=host)
    names = ("add", "add_down", "mul", "mul_down", "mean")
    assert {f"pl_{name}_{dtype}" for name in names} <= host.functions
    program = host.program(sorted(host.functions), "program")
    path = host.write("package", host.package("1.0.0"))
    counts = re.findall(r"\d+", run(program, "hostile", path, "40000", is_defined=True))
    assert all(int(count) > 100 for count in counts), counts


def test_the_state_of_a_package_is_part_of_its_self_test(tmp_path: Path, host: Host) -> None:
    """The second vector comes out after the first one alone."""
    host = Host(tmp_path, Past(), other=host)
    program = host.program(sorted(host.functions), "program")
    turned = {name: array[::-1].copy() for name, array in sample_vectors(host.network).items()}
    assert _load(host, program, host.package("1.0.0", vectors=turned)) == "self-test failed"


@pytest.mark.parametrize("command", ["cuts", "unreadable"])
def test_power_cuts(host: Host, program: Path, command: str) -> None:
    old, new = host.write("old", host.package("1.0.0")), host.write("new", host.package("1.0.1"))
    found = re.findall(r"\d+", run(program, command, host.public, old, new, str(CUTS)))
    operations, ran_old, ran_new, resumed = map(int, found)
    assert operations > 200
    assert ran_old + ran_new == CUTS * operations
    assert ran_old > 0
    assert ran_new > 0
    assert resumed > 0


def test_sha512_is_pythons(host: Host, program: Path) -> None:
    data = bytes(i * 7 % 251 for i in range(1000))
    path = host.write("data", data)
    for count in (0, 1, 111, 112, 113, 127, 128, 129, 239, 240, 241, 256, 1000):
        expected = hashlib.sha512(data[:count]).hexdigest()
        assert run(program, "sha", path, str(count)) == expected, count


def test_texts_are_in_the_order_of_what_they_say() -> None:
    names = re.findall(
        r"^  (PL_SLOT_\w+)", Path("firmware/slot/status.h").read_text(), re.MULTILINE
    )
    texts = Path("firmware/slot/status.c").read_text()
    assert names[0] == "PL_SLOT_OK"
    assert re.findall(r'\\0" *// (PL_SLOT_\w+)$', texts, re.MULTILINE) == names[1:]
