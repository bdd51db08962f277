# SPDX-License-Identifier: Apache-2.0
"""What a survey builds, and what it makes of the outcome."""

from __future__ import annotations

from typing import Any

from tools.survey.matrix import (
    Cell,
    Outcome,
    as_json,
    as_page,
    as_text,
    build_file,
    cells,
    lowering,
    outcome,
    refusal,
)

COMMAND = (
    "$(location :net.lower) '--model=net:factory' '--quantization=int8' "
    "'--target=cortex-m' '--output=$(location net.pte)' '--report=$(location net.report.json)'"
)


def test_a_lowering_is_the_models_own_with_another_quantization() -> None:
    assert lowering(COMMAND, "//nets/net", "int16", "net__int16") == (
        "$(location //nets/net:net.lower) '--model=net:factory' '--quantization=int16' "
        "'--target=cortex-m' '--output=$(location net__int16.pte)' "
        "'--report=$(location net__int16.report.json)'"
    )


def test_the_build_file_has_every_image_and_lowers_each_model_once() -> None:
    matrix = cells(["//nets/net"], ["//boards/a", "//boards/b"], ["", "int16"])
    text = build_file(matrix, {"//nets/net": COMMAND})
    assert len({cell.name for cell in matrix}) == 4 == text.count("check_image(name")
    assert text.count("genrule(") == 1 == text.count("lowered(name")
    assert text.count('model = "//nets/net"') == 2 == text.count('model = ":net__int16"')
    compile(text, "BUILD", "exec")


REPORT: dict[str, Any] = {
    "memories": [
        {"kind": "ram", "used": 3},
        {"kind": "flash", "used": 5},
        {"kind": "flash", "used": 7},
    ],
    "instructions": 11,
    "models": [
        {
            "quality": {
                "accuracy": {"int8": 0.5},
                "outputs": [{"sqnr_db": 20.0}, {"sqnr_db": None}, {"sqnr_db": 10.0}],
            }
        }
    ],
}
CELL = Cell("//nets/net", "//boards/a", "int8")


def test_the_outcome_is_what_the_report_says() -> None:
    found = outcome(CELL, REPORT)
    assert found == Outcome("//nets/net", "//boards/a", "int8", 3, 12, 11, 10.0, 0.5)


def test_a_refusal_is_what_the_build_said_first() -> None:
    output = "\n".join(
        [
            "INFO: Invocation ID: 1",
            "ERROR: /x/BUILD.bazel:3:12: Planning //x:y for a failed: (Exit 3)",
            "",
            "net does not fit on a: activations are too large for ram.",
            "need      10 bytes",
            "Target //x:y failed to build",
        ]
    )
    why = "net does not fit on a: activations are too large for ram."
    assert refusal(CELL, output).refused == why
    raised = output.replace("net does", "Traceback:\naot.errors.LoweringError: net does")
    assert refusal(CELL, raised).refused == why
    assert refusal(CELL, "ERROR: no such target").refused == "ERROR: no such target"


def test_it_is_shown_in_three_ways() -> None:
    found = [outcome(CELL, REPORT), Outcome("//nets/net", "//boards/b", "", refused="<too large>")]
    text = as_text(found)
    assert "50.00%" in text and "10.0 dB" in text and "refused: <too large>" in text
    assert "&lt;too large&gt;" in as_page(found)
    rows = as_json(found)["images"]
    assert [row["flash"] for row in rows] == [12, None]
    assert [row["refused"] for row in rows] == ["", "<too large>"]
