# SPDX-License-Identifier: Apache-2.0
"""The command-line tools on ExecuTorch's outputs: a .pte for U55, one for U85, a payload."""

import contextlib
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aot.pte.conventions import PteError
from aot.pte.reader import delegate_payloads
from aot.upstream.executorch import deserialize_pte_binary
from npu.ethos_u.npu_model import EthosUModel
from npu.ethos_u.payload import parse_payload
from npu.ethos_u.testing import payloads
from tools.npu.payload_file import read_payloads

_U55 = Path("tests/ethos_u/corpus/sample_u55.pte")
_U85 = Path("tests/ethos_u/corpus/sample_u85.pte")


def _tool(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [f"tools/npu/{name}", *(str(argument) for argument in arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def _lines(*arguments: str | Path) -> list[str]:
    done = _tool("disassemble", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def payload(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the delegate of the .pte as a file of its own."""
    (data,) = read_payloads(_U55)
    path = tmp_path_factory.mktemp("payload") / "payload.bin"
    path.write_bytes(data)
    return path


def test_run_takes_a_pte_and_a_payload(tmp_path: Path, payload: Path) -> None:
    data = payload.read_bytes()
    (tensor,) = parse_payload(data).inputs
    x = np.random.default_rng(1).integers(-128, 128, tensor.shape, np.int8)
    np.save(tmp_path / "x.npy", x)
    (expected,) = EthosUModel("ethos-u55-128").run(data, [x])
    assert np.unique(expected).size > 20
    for path in (_U55, payload):
        outputs = tmp_path / path.stem / "outputs"
        inputs = tmp_path / "x.npy"
        done = _tool("run", path, "--inputs", inputs, "--outputs", outputs, "--profile")
        assert done.returncode == 0, done.stderr
        np.testing.assert_array_equal(np.load(outputs / "output_0.npy"), expected)
        output, *table = done.stdout.splitlines()
        assert output == "output 0: int8 " + "x".join(map(str, expected.shape))
        header = table[0].split()
        assert header[:6] == ["command", "operation", "IFM", "OFM", "cycles", "MACs"]
        assert header[6:] == ["read", "0", "read", "1", "written", "1"]
        operations, total = table[1:-3], table[-3].split()
        assert {"CONV", "DMA_START", "POOL"} == {line.split()[1] for line in operations}
        for column in range(-5, 0):
            parts = [int(line.split()[column]) for line in operations]
            assert int(total[column]) == sum(parts) > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give one file: a .pte, or a payload"),
        (["no_such_file"], "run: .*no_such_file"),
        (["{payload}"], "run: 0 inputs given; the payload needs 1"),
        (["{payload}", "--delegate=1"], "has 1 Ethos-U delegates"),
        (["{payload}", "--inputs=no_such_input.npy"], "no_such_input.npy"),
        (
            ["{payload}", "--inputs={payload}"],
            "run: .*payload.bin is not a valid .npy file: .*pickle",
        ),
        (["{payload}", "--inputs={broken}"], "run: .*broken.npy is not a valid .npy file: "),
        (["{payload}", "--inputs={empty}"], "run: .*empty.npy is not a valid .npy file: "),
        (["{payload}", "--inputs={several}"], "several.npz holds several arrays"),
        (["{payload}", "--inputs={floats}"], "input 0 is float32 .3,.; the payload needs 1-byte"),
        (["{payload}", "--inputs={short}"], "input 0 is int8 .3,.; the payload needs 1-byte"),
        (["{unknown}"], "CONFIG 0x30000008 is unknown; known are ethos-u55-32"),
        (["{short}"], r"must be a payload \(vela_bin_stream\) or a .pte file"),
    ],
)
def test_run_says_what_is_wrong(
    tmp_path: Path, payload: Path, arguments: list[str], message: str
) -> None:
    names = ("short.npy", "broken.npy", "empty.npy", "several.npz", "floats.npy", "unknown.bin")
    files = {"payload": payload} | {Path(name).stem: tmp_path / name for name in names}
    np.save(files["short"], np.zeros(3, np.int8))
    np.save(files["floats"], np.zeros(3, np.float32))
    np.savez(files["several"], np.zeros(3, np.int8), np.zeros(3, np.int8))
    files["broken"].write_bytes(files["short"].read_bytes().replace(b"}", b" "))
    files["empty"].write_bytes(b"")
    files["unknown"].write_bytes(payloads.payload(config=0x30000008))
    done = _tool("run", *(argument.format(**files) for argument in arguments))
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert re.search(message, done.stdout + done.stderr)


def test_run_reports_what_the_model_refuses(tmp_path: Path) -> None:
    path = tmp_path / "tanh.bin"
    path.write_bytes(payloads.payload(payloads.changed("SET_ACTIVATION", 3)))
    np.save(tmp_path / "x.npy", np.zeros((2, 3, 4), np.int8))
    done = _tool("run", path, "--inputs", tmp_path / "x.npy")
    assert done.returncode != 0
    expected = "run: ETHOS_U_ERROR_UNSUPPORTED: command 46 (word 61) OP_POOL, SET_ACTIVATION"
    assert expected in done.stderr


def test_disassemble_takes_a_pte_and_a_payload(payload: Path) -> None:
    lines = _lines(_U55)
    assert lines == _lines(payload)
    assert lines[0].startswith("Ethos-U55, 128 MACs")
    assert any("OP_CONV" in line and "weights" in line for line in lines)
    assert "OP_STOP" in lines[-1]


def test_disassemble_knows_all_of_a_u85_stream() -> None:
    lines = _lines(_U85)
    assert lines[0].startswith("Ethos-U85, 256 MACs")
    (data,) = read_payloads(_U85)
    words = parse_payload(data).words
    commands = [line for line in lines if line[:5].strip().isdigit()]
    # A line a command: the last one, OP_STOP, is the stream's last word.
    assert int(commands[-1].split()[1]) == len(words) - 1
    assert "OP_STOP" in commands[-1]
    assert not [line for line in commands if "unknown" in line or "reserved" in line]
    assert any("weights from IFM2" in line for line in commands)


@pytest.mark.parametrize("path", [_U55, _U85])
def test_delegates_are_those_that_executorch_reads(path: Path) -> None:
    program = deserialize_pte_binary(path.read_bytes()).program
    assert read_payloads(path) == [data.data for data in program.backend_delegate_data]


@given(st.lists(st.tuples(st.integers(0, 4095), st.integers(0, 255)), min_size=1, max_size=5))
def test_a_damaged_pte_is_an_error(changes: list[tuple[int, int]]) -> None:
    data = bytearray(_U55.read_bytes())
    for at, value in changes:  # positions in the tables
        data[at] = value
    with contextlib.suppress(PteError):
        delegate_payloads(bytes(data), "EthosUBackend")


def test_disassemble_says_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"neither")
    done = _tool("disassemble", path)
    assert done.returncode != 0
    assert "must be a payload (vela_bin_stream) or a .pte file" in done.stderr
