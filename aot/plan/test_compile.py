# SPDX-License-Identifier: Apache-2.0
"""The command line: exit status, messages, written files, and their repeatability."""

import dataclasses
import functools
import hashlib
import json
import pickle
import re
from pathlib import Path
from typing import Any, cast

import pytest
from absl import flags
from absl.testing import flagsaver

from aot.plan import compile as plan_compiler
from aot.plan.program import save_program
from aot.plan.pte import keep_program, read_program
from aot.plan.testing import BAD_PTES, Network, export_pte, sample_board
from boards.board import Board


@functools.cache
def sample() -> bytes:
    network = Network()
    return export_pte(network, [network.example()], layouts=(["nchw"], ["row_major"]))


def run(folder: Path, data: bytes, on: Board, **options: object) -> int:
    """Runs the plan compiler in `folder`; returns its exit status."""
    (folder / "model.pte").write_bytes(data)
    (folder / "board.json").write_text(json.dumps(dataclasses.asdict(on)))
    if not flags.FLAGS.is_parsed():
        flags.FLAGS.mark_as_parsed()
    arguments = {
        "pte": str(folder / "model.pte"),
        "board": str(folder / "board.json"),
        "name": "digits_plan",
        "source": str(folder / "digits_plan.c"),
        "header": str(folder / "digits_plan.h"),
        "json": str(folder / "digits_plan.json"),
        **options,
    }
    with flagsaver.flagsaver(**arguments):
        return plan_compiler.main(["compile"])


def test_writes_source_header_and_description(tmp_path: Path) -> None:
    assert run(tmp_path, sample(), sample_board()) == 0
    source = (tmp_path / "digits_plan.c").read_text()
    assert "const pl_plan digits_plan = {" in source
    assert '#include "digits_plan.h"' in source
    assert "extern const pl_plan digits_plan;" in (tmp_path / "digits_plan.h").read_text()
    plan = json.loads((tmp_path / "digits_plan.json").read_text())
    assert [step["op"] for step in plan["steps"]] == [
        "pl::conv2d",
        "pl::depthwise_conv2d",
        "pl::add",
        "pl::max_pool2d",
        "pl::linear",
    ]
    arena = plan["arena"]
    assert arena["bytes"] == arena["lower_bound"] == arena["pools"][0]["used"]
    assert plan["inputs"][0]["shape"] == [1, 1, 8, 8]
    assert plan["outputs"][0]["bytes"] == 10
    assert plan["pte_sha256"] == hashlib.sha256(sample()).hexdigest()


def test_same_input_gives_same_bytes(tmp_path: Path) -> None:
    texts = []
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert run(folder, sample(), sample_board()) == 0
        texts.append([path.read_bytes() for path in sorted(folder.glob("digits_plan.*"))])
    assert texts[0] == texts[1]


def test_decoded_program_gives_the_same_plan(tmp_path: Path) -> None:
    folders = [tmp_path / "direct", tmp_path / "decoded"]
    for folder in folders:
        folder.mkdir()
    assert run(folders[0], sample(), sample_board()) == 0
    program = folders[1] / "model.program"
    save_program(program, read_program(sample()))
    assert run(folders[1], sample(), sample_board(), program=str(program)) == 0
    direct, decoded = (
        [path.read_bytes() for path in sorted(folder.glob("digits_plan.*"))] for folder in folders
    )
    assert direct == decoded


@pytest.mark.parametrize("kind", BAD_PTES)
def test_program_of_a_bad_pte_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    change, message = BAD_PTES[kind]
    program = tmp_path / "model.program"
    data = change(sample())
    keep_program(program, data)
    assert run(tmp_path, data, sample_board(), program=str(program)) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"plan compiler: {tmp_path / 'model.pte'} ") and message in error


def test_paths_are_of_the_folder_that_bazel_was_called_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(tmp_path))
    paths = {"pte": "model.pte", "board": "board.json", "source": "a.c", "header": "a.h"}
    assert run(tmp_path, sample(), sample_board(), **paths, json="a.json") == 0
    assert {path.name for path in tmp_path.glob("a.*")} == {"a.c", "a.h", "a.json"}


@pytest.mark.parametrize("data", [b"", b"ET12" * 20, pickle.dumps([])])
def test_file_that_is_no_decoded_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes
) -> None:
    program = tmp_path / "other"
    program.write_bytes(data)
    assert run(tmp_path, sample(), sample_board(), program=str(program)) == 2
    assert capsys.readouterr().err == f"plan compiler: {program} is not a decoded program\n"


def test_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, sample(), sample_board(), report=True) == 0
    text = capsys.readouterr().out
    assert "pl::depthwise_conv2d" in text
    assert "lower bound" in text
    assert re.search(r"next step down: about [\d,]+ bytes of arena, for about [\d,]+ instr", text)
    assert "step up" not in text, "there is nothing faster"
    assert run(tmp_path, sample(), sample_board(), report=True, optimize="memory") == 0
    text = capsys.readouterr().out
    assert "next step down: none" in text
    (size, work), now = (
        [int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", line)]
        for line in re.findall(r"step up: .*|this plan: .*", text)[::-1]
    )
    assert work < now[0]
    assert run(tmp_path, sample(), sample_board(), report=True, arena=size) == 0
    arena = json.loads((tmp_path / "digits_plan.json").read_text())["arena"]
    assert arena["bytes"] <= size


def test_arena_too_small(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, sample(), sample_board(arena=[512])) == 3
    message = capsys.readouterr().err
    for part in (
        "digits_plan does not fit on sample: activations and scratch memory are too large for ram0",
        "need ",
        "have       512 bytes",
        "peak at    step ",
        "calls by rows",
        "largest 1",
        "largest 2",
        "largest 3",
    ):
        assert part in message
    assert not (tmp_path / "digits_plan.c").exists()


def test_an_arena_that_is_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, sample(), sample_board(), arena=512) == 3
    message = capsys.readouterr().err
    assert "are too large for an arena of 512 bytes in ram0." in message
    assert "have       512 bytes" in message
    assert run(tmp_path, sample(), sample_board()) == 0
    free = json.loads((tmp_path / "digits_plan.json").read_text())["arena"]
    most = free["bytes"] - 16
    assert run(tmp_path, sample(), sample_board(), arena=most) == 0
    arena = json.loads((tmp_path / "digits_plan.json").read_text())["arena"]
    assert arena["bytes"] <= most and arena["pools"][0]["bytes"] == free["pools"][0]["bytes"]


def test_weights_too_large(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, sample(), sample_board(weights=1000)) == 3
    message = capsys.readouterr().err
    assert "constants are too large for flash" in message
    assert "have             1,000 bytes" in message
    assert "pl::linear" in message


def test_spills_into_a_second_pool(tmp_path: Path) -> None:
    assert run(tmp_path, sample(), sample_board(arena=[700, 4096])) == 0
    plan = json.loads((tmp_path / "digits_plan.json").read_text())
    assert all(0 < pool["used"] <= pool["bytes"] for pool in plan["arena"]["pools"])
    source = (tmp_path / "digits_plan.c").read_text()
    assert 'section(".bss.pl_arena.ram0")' in source
    assert 'section(".bss.pl_arena.ram1")' in source


@pytest.mark.parametrize("kind", BAD_PTES)
def test_bad_pte(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    change, message = BAD_PTES[kind]
    assert run(tmp_path, change(sample()), sample_board()) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "digits_plan.c").exists()


def test_missing_files_and_bad_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, sample(), sample_board(), pte=str(tmp_path / "no.pte")) == 2
    assert run(tmp_path, sample(), sample_board(), board=str(tmp_path / "model.pte")) == 2
    assert run(tmp_path, sample(), sample_board(), name="digits-plan") == 2
    messages = capsys.readouterr().err.splitlines()
    assert len(messages) == 3
    assert "no.pte" in messages[0]
    assert "does not describe a board" in messages[1]
    assert "is not a C identifier" in messages[2]


_FIRST = {
    "name": "first_plan",
    "arena": {"shared": True, "pools": [{"name": "ram0"}]},
    "outputs": [
        {
            "dtype": "int8",
            "shape": [1, 1, 8, 8],
            "layout": "nchw",
            "scale": 0.5,
            "zero_point": 3,
            "pool": "ram0",
            "offset": 4096,
        }
    ],
}


def _after(folder: Path, first: dict[str, Any], **options: object) -> int:
    (folder / "first.json").write_text(json.dumps(first))
    given = {"share": True, "input_from": str(folder / "first.json"), **options}
    return run(folder, sample(), sample_board(arena=(1 << 13, 1 << 13)), **given)


def test_an_input_where_another_model_has_its_output(tmp_path: Path) -> None:
    assert _after(tmp_path, _FIRST) == 0
    plan = json.loads((tmp_path / "digits_plan.json").read_text())
    assert (plan["inputs"][0]["pool"], plan["inputs"][0]["offset"]) == ("ram0", 4096)
    assert plan["arena"]["shared"] is True


@pytest.mark.parametrize(
    ("output", "arena", "options", "says"),
    [
        (
            {},
            {"shared": False},
            {},
            r"no buffer in the shared arena \(ram0\), or has state.*hands_over = True",
        ),
        (
            {},
            {},
            {"share": False},
            r"it has an arena of its own \(share is off\), not that of first_plan",
        ),
        (
            {"pool": "ram1"},
            {},
            {},
            r"outside of the shared arena \(ram0\).*plan_l",
        ),
        ({"offset": 4097}, {}, {}, "input 0 cannot be at output 0 of first_plan, 4097"),
        (
            {"scale": 0.25, "shape": [1, 64]},
            {},
            {},
            r"shape \[1, 64\] and \[1, 1, 8, 8\], scale 0.25 and 0.5; "
            "lower the model with the one before as input_from",
        ),
        (
            {"scale": 0.25, "shape": [1, 4], "layout": "row_major"},
            {},
            {},
            r"shape \[1, 4\] and .*scale 0.25 and 0.5; input_from is the plan of the model[^;]*$",
        ),
        ({"shape": [1, 64]}, {}, {}, r"shape \[1, 64\] and \[1, 1, 8, 8\]$"),
        (
            {"shape": [1, 8, 8, 1], "layout": "nhwc"},
            {},
            {},
            r'layout nhwc and nchw; io_layout = "nhwc" of both models has the channels[^;]*$',
        ),
        ({}, {}, {"input_rows": True}, "the input comes row by row"),
    ],
)
def test_an_input_that_cannot_be_there(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    output: dict[str, Any],
    arena: dict[str, Any],
    options: dict[str, Any],
    says: str,
) -> None:
    first = _FIRST | {
        "arena": {**cast(dict[str, Any], _FIRST["arena"]), **arena},
        "outputs": [{**cast(list[Any], _FIRST["outputs"])[0], **output}],
    }
    assert _after(tmp_path, first, **options) == 2
    assert re.search(says, capsys.readouterr().err.strip())
