# SPDX-License-Identifier: Apache-2.0
"""Targets of a survey, and its use of the outcome."""

from __future__ import annotations

import re
from typing import Any

import pytest

from measure.matrix.matrix import (
    Cell,
    MatrixModel,
    SurveyError,
    as_written,
    attributes,
    build_file,
    cells,
    full,
    lowering_labels,
)
from measure.matrix.outcome import Outcome, as_json, as_page, as_text, outcome, refusal

LOWERING = {
    "arguments": ["--model=net:factory", "--quantization=int8", "--target=cortex-m"],
    "input_from": "",
    "lower": "//nets:net.lower",
    "what": "net:factory",
}
NET = MatrixModel({"": LOWERING, "npu": LOWERING | {"input_from": "//nets:a.input_from"}}, "size")


@pytest.mark.parametrize(
    ("label", "is_full"),
    [("//a/b", "//a/b:b"), ("//a/b:c", "//a/b:c"), ("@x//a", "@x//a:a"), ("@//a:b", "@//a:b")],
)
def test_labels_are_full(label: str, is_full: str) -> None:
    assert full(label) == is_full


@pytest.mark.parametrize("text", ["//shared:net", "//nets:größe", "//nets:σ", "//nets:网"])
def test_labels_have_the_letters_of_build_files(text: str) -> None:
    assert as_written(text.encode().decode("latin-1")) == text == as_written(text)


@pytest.mark.parametrize("label", [":net", "a/b", "net.pte", ""])
def test_labels_start_at_the_root(label: str) -> None:
    with pytest.raises(SurveyError, match="write a label from the workspace's root"):
        full(label)


def test_names_of_files_are_ascii() -> None:
    (cell,) = cells(["//nets:größe.v2"], ["//b/a"], ["int8"])
    assert cell.name.isascii() and cell.name.isidentifier()


def test_every_combination_once() -> None:
    matrix = cells(["//n/net", "//n/net:net"], ["//b/a", "//b/c"], ["", "int16"])
    assert len(matrix) == 4 == len({cell.name for cell in matrix})
    same = cells(["//x/net", "//y/net", "//x_net", "//x:net"], ["//b/a"], ["int8"])
    assert len({cell.name for cell in same}) == 4 == len({cell.lowered for cell in same})


@pytest.mark.parametrize("model", ["//:net", "//3d/net:2", "@zoo//:net", "//pl/constant:step_1"])
@pytest.mark.parametrize("quantization", ["", "int16"])
def test_names_of_targets_are_names_of_plans_in_c(model: str, quantization: str) -> None:
    (cell,) = cells([model], ["//b/a"], [quantization])
    for name in (cell.name, cell.lowered):
        assert re.fullmatch(r"of_\w+", name, re.ASCII) and not name.endswith("_t")


def test_a_lowering_is_the_models_own_with_another_quantization() -> None:
    matrix = cells(["//nets:net"], ["//boards/a"], ["int16"])
    text = build_file(matrix, {"//nets:net": NET}, ["//kernels/flip"], "@pilotlight")
    own = matrix[0].lowered
    lowering, on_npu = (line for line in text.splitlines() if line.startswith("lowering("))
    assert lowering == (
        "lowering(arguments = ['--model=net:factory', '--quantization=int16', "
        "'--target=cortex-m'], lower = '//nets:net.lower', "
        f"name = '{own}.lowering', output = '{own}.pte', program = '{own}.program', "
        f"report = '{own}.report.json', vectors = '{own}.vectors.npz', what = 'net:factory', "
        "testonly = True)"
    )
    assert f"output = '{own}.npu.pte'" in on_npu and "int8" not in text
    assert "input_from = '//nets:a.input_from'" in on_npu
    assert f"by_engine = {{':{own}.npu.lowering': 'npu'}}, default = \":{own}.lowering\"" in text
    assert 'optimize = "size"' in text and "kernels = ['//kernels/flip']" in text
    assert 'load("@pilotlight//aot/bazel:lowered.bzl"' in text and '"@pilotlight//firmware' in text


def test_the_build_file_has_every_image_and_lowers_each_model_once() -> None:
    matrix = cells(["//nets/net"], ["//boards/a", "//boards/b"], ["", "int16"])
    text = build_file(matrix, {"//nets/net:net": NET})
    assert len({cell.name for cell in matrix}) == 4 == text.count("check_image(name")
    assert text.count("\nlowering(") == 2 and text.count("lowered(name") == 1
    assert text.count('model = "//nets/net:net"') == 2
    assert text.count(f'model = ":{matrix[2].lowered}"') == 2
    # A model of somebody's tests can be looked at, too.
    assert text.count("testonly = True") == text.count(")\n") - text.count("load(")
    compile(text, "BUILD", "exec")


def test_a_tflite_file_has_no_other_quantization() -> None:
    assert not NET.is_quantized
    assert MatrixModel({"": LOWERING | {"arguments": ["--target=cortex-m"]}}).is_quantized


def test_rules_are_read_as_the_query_gives_them() -> None:
    given = [
        {"name": "default", "stringValue": "//n:net.lowering"},
        {
            "name": "by_engine",
            "labelKeyedStringDictValue": [{"key": "//n:net.npu.lowering", "value": "npu"}],
        },
        {"name": "arguments", "stringListValue": ["--target=cortex-m"]},
    ]
    found = attributes({"name": "//n:net", "ruleClass": "lowered", "attribute": given})
    assert found["rule class"] == "lowered" and found["arguments"] == ["--target=cortex-m"]
    assert lowering_labels(found) == {"": "//n:net.lowering", "npu": "//n:net.npu.lowering"}


REPORT: dict[str, Any] = {
    "memories": [
        {"kind": "ram", "used": 3},
        {"kind": "flash", "used": 5},
        {"kind": "flash", "used": 7},
    ],
    "instructions": 11,
    "not_counted": "",
    "engine_is_simulated": True,
    "models": [
        {
            "delegates": [],
            "quality": {
                "accuracy": {"int8": 0.5},
                "outputs": [{"sqnr_db": 20.0}, {"sqnr_db": None}, {"sqnr_db": 10.0}],
            },
        }
    ],
}
CELL = Cell("//nets/net:net", "//boards/a:a", "int8")


def test_the_outcome_is_what_the_report_says() -> None:
    found = outcome(CELL, REPORT)
    assert found == Outcome(CELL.model, CELL.board, "int8", 3, 12, 11, 10.0, 0.5)
    why = outcome(CELL, REPORT | {"instructions": None, "not_counted": "no simulator"})
    assert why.instructions is None and why.not_counted == "no simulator"
    on_npu = REPORT | {"models": [REPORT["models"][0] | {"delegates": [{}]}]}
    assert not found.with_npu_model and outcome(CELL, on_npu).with_npu_model
    assert not outcome(CELL, on_npu | {"engine_is_simulated": False}).with_npu_model
    assert "model of the NPU" in as_text([outcome(CELL, on_npu)])


FITS_NOT = "net does not fit on a: activations are too large for ram."
LAST = "\nINFO: Elapsed time: 1.0s\nERROR: Build did NOT complete successfully\n"
FAILED = "ERROR: /x/BUILD.bazel:3:12: Planning //x:y for a failed: (Exit 3): compile failed"


@pytest.mark.parametrize(
    ("output", "why"),
    [
        (f"INFO: Invocation ID: 1\n{FAILED}\n\n{FITS_NOT}\nneed  10 bytes\nTarget //x:y", FITS_NOT),
        (
            f"{FAILED}\nTraceback (most recent call last):\n  File x, line 1\n"
            f"aot.errors.LoweringError: {FITS_NOT}",
            FITS_NOT,
        ),
        (f"{FAILED}\nI1122 exporting\nE1122 10:00:00.1 12 lower_main.py:12] {FITS_NOT}", FITS_NOT),
        (
            "ERROR: /x/BUILD.bazel:7:8: in genrule rule //x:y: target '//a' is not there\n"
            "ERROR: /x/BUILD.bazel:7:8: Analysis of target '//x:y' failed",
            "target '//a' is not there",
        ),
        (
            "ERROR: /x/BUILD.bazel:7:8: in _firmware_image rule //x:y: \n"
            "Traceback (most recent call last):\n"
            '\tFile "/x/boards/firmware_image.bzl", line 1, column 2, in _impl\n'
            "Error in fail: //x:y: there is no image for the host",
            "there is no image for the host",
        ),
        (
            "ERROR: it cannot be lowered as asked:\n  gru: no four bits\n    at net.py:3\n  b: nor",
            "it cannot be lowered as asked: gru: no four bits",
        ),
        ("ERROR: no such target", "no such target"),
        ("", "Bazel could not build it, and did not say why"),
    ],
)
def test_a_refusal_is_what_the_build_said_first(output: str, why: str) -> None:
    assert refusal(CELL, output).refused == why
    assert refusal(CELL, output + LAST).refused == why


def test_it_is_shown_in_three_ways() -> None:
    refused = [
        Outcome("//nets/net:net", board, "", refused="<too large>")
        for board in ("//boards/b:b", "//boards/c:c")
    ]
    not_counted = Outcome(
        "//other/net:net", "//boards/a:a", "", 1, 2, not_counted="nothing simulates it"
    )
    found = [outcome(CELL, REPORT), *refused, not_counted]
    lines = as_text(found).splitlines()
    assert lines[0].split()[:3] == ["model", "quantization", "board"] and len(lines[0]) > 60
    text = as_text(found, 40)
    assert "50.00%" in text and "10.0 dB" in text
    assert text.count("refused: <too large>") == 1 and "not counted: nothing simulates it" in text
    assert "//nets/net:net" in text and "//other/net:net" in text and "//boards" not in text
    assert max(map(len, text.splitlines())) <= 40
    assert "&lt;too large&gt;" in as_page(found)
    assert "Notes" not in as_page(found[:1])
    rows = as_json(found)["images"]
    assert [row["flash"] for row in rows] == [12, None, None, 2]
    assert [row["refused"] for row in rows] == ["", "<too large>", "<too large>", ""]
