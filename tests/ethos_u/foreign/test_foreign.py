# SPDX-License-Identifier: Apache-2.0
"""Models lowered by ExecuTorch's own Arm backend: tools that run them, and refusals."""

import json
import random
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from aot.plan.executorch_arm import border_arguments, cache_bytes
from aot.plan.pte import read_program
from aot.pte.conventions import PteError

_FOLDER = Path("tests/ethos_u/foreign")
_PTE = _FOLDER / "two_delegates.pte"
_TOSA = [str(_FOLDER / name) for name in ("first.tosa", "second.tosa")]


def _run(tool: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [f"tools/npu/{tool}", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_program() -> None:
    calls = read_program(_PTE.read_bytes()).calls
    part = ["pl::quantize", "delegate::EthosUBackend", "pl::dequantize"]
    assert [call.op for call in calls] == [*part, "aten::mul.out", *part]
    before, product, behind = calls[2:5]
    assert before.outputs[0].shape == behind.args["input"].shape == (1, 8, 8, 8)
    assert product.args["self"].shape == product.outputs[0].shape == (1, 8, 64)
    assert product.args["self"].name == before.outputs[0].name
    assert behind.args["input"].name == product.outputs[0].name


_MODE = "--memory-mode=Shared_Sram"
_DEDICATED = "--memory-mode=Dedicated_Sram"


@pytest.mark.parametrize(
    ("flags", "cache"),
    [
        (_MODE, 0),
        (_DEDICATED + "_384KB", 384 << 10),
        (_DEDICATED + " --arena-cache-size=1000", 1000),
        (_DEDICATED + "_512KB --arena-cache-size=1000", 1000),
        (_MODE + " --arena-cache-size=1000", 0),
    ],
)
def test_the_cache_that_flags_name(flags: str, cache: int) -> None:
    assert cache_bytes(flags, "delegate 0") == cache


def test_a_cache_of_any_size_is_refused() -> None:
    with pytest.raises(PteError, match="delegate 0 does not state the size of its cache"):
        cache_bytes(_DEDICATED, "delegate 0")


def test_numbers_that_the_dialect_has_not() -> None:
    arguments = [0, 0.5, 0, -32767, 32767, 2]
    with pytest.raises(PteError, match="instruction 3 clamps to -32767 … 32767.*-32768"):
        border_arguments("quantized_decomposed::quantize_per_tensor", arguments, "instruction 3")
    arguments[3] = -32768
    assert border_arguments(
        "quantized_decomposed::quantize_per_tensor", arguments, "instruction 3"
    ) == ("pl::quantize", {"scale": 0.5, "zero_point": 0, "bits": 16})


def test_a_whole_model_in_the_npu_model(tmp_path: Path) -> None:
    vectors = np.load(_FOLDER / "two_delegates.npz")
    np.save(tmp_path / "x.npy", vectors["input_0"][1])
    told = _run("run_model", _PTE, f"--inputs={tmp_path}/x.npy", f"--outputs={tmp_path}")
    assert told.returncode == 0, told.stderr
    assert told.stdout.count("ethos-u55-128") == 2
    output = np.load(tmp_path / "output_0.npy")
    assert np.array_equal(output.ravel(), vectors["output_0"][1].ravel())
    cycles = [int(line.split()[2].replace(",", "")) for line in told.stdout.splitlines()[-2:]]
    facts = json.loads((_FOLDER / "image.facts.json").read_text())
    assert facts["NPU cycles, estimated"] == sum(cycles) > 0, "the row of .sim"
    assert facts["ops not on the NPU"].startswith("5, "), "borders and a product"
    told = _run("run_model", _PTE)
    assert told.returncode == 1 and "the model takes float32 [1, 3, 8, 8]" in told.stderr


def test_payloads_against_tosa() -> None:
    told = _run("verify", _PTE, *_TOSA)
    assert told.returncode == 0, told.stderr
    assert told.stdout.count("equal, bit for bit") == 2
    assert "WARNING" not in told.stdout + told.stderr, "what TOSA's model prints"
    told = _run("verify", _PTE, _TOSA[0])
    assert told.returncode == 2 and "needs one TOSA file for each" in told.stderr
    told = _run("verify", _PTE, *reversed(_TOSA))
    assert told.returncode == 2 and "they are of different graphs" in told.stderr


def test_a_graph_that_tosa_refuses(tmp_path: Path) -> None:
    data = bytearray(Path(_TOSA[0]).read_bytes())
    # A shape of rank 4, [1, 8, 8, 8]. The test changes its last channel.
    at = data.index(struct.pack("<5i", 4, 1, 8, 8, 8)) + 16
    data[at] = 9
    refused = tmp_path / "refused.tosa"
    refused.write_bytes(data)
    told = _run("verify", _PTE, refused, _TOSA[1])
    assert told.returncode == 2, told.stdout + told.stderr
    assert "TOSA's reference model refuses the graph: Invalid TOSA graph: " in told.stderr
    assert "ERROR_IF" in told.stderr, "what TOSA's model prints"


def test_a_payload_that_computes_something_else(tmp_path: Path) -> None:
    data = bytearray(_PTE.read_bytes())
    # The second record of scales in the first payload's weights: its bias is another then.
    at = data.index(b"weight_data") + 32 + 10
    data[at] ^= 0x40
    damaged = tmp_path / "damaged.pte"
    damaged.write_bytes(data)
    told = _run("verify", damaged, *_TOSA)
    assert told.returncode == 1, told.stdout + told.stderr
    assert "delegate 0: inputs random: output 0:" in told.stdout
    assert "delegate 1: equal" in told.stdout


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"vela_bin_stream", b"vela_bin_strean", "its payload is damaged: no vela_bin_stream"),
        (b"--accelerator-config", b"--accelerator-konfig", "lack --accelerator-config"),
        (b"vela_end_stream", b"vela_end_strean", "its payload is damaged"),
        (b"quantize_per_tensor", b"quantize_per_tensoq", "which does not exist here"),
        (b"EthosUBackend", b"EthosVBackend", "its checksum is wrong"),
    ],
)
def test_what_is_refused(old: bytes, new: bytes, message: str) -> None:
    data = _PTE.read_bytes()
    assert old in data
    with pytest.raises(PteError, match=message):
        read_program(data.replace(old, new))


def test_damage_ends_in_one_message() -> None:
    data = _PTE.read_bytes()
    draw = random.Random(7)
    refused = 0
    for _ in range(2000):
        damaged = bytearray(data)
        for _ in range(draw.randint(1, 3)):
            damaged[draw.randrange(len(data))] = draw.choice((0, 255, draw.randrange(256)))
        try:
            read_program(bytes(damaged))
        except PteError:
            refused += 1
    assert refused > 500
