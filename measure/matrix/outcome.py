# SPDX-License-Identifier: Apache-2.0
"""Outcome of each image of a survey, and its display."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from measure.matrix.matrix import Cell
from tools.report.markdown import decibels
from tools.text.table import table, window

FORMAT = 2


@dataclass(frozen=True)
class Outcome:
    """Outcome of a cell.

    A missing image has its reason in `refused`; the numbers are then None. `not_counted` is the
    reason for missing instruction counts. If `with_npu_model` is set, the NPU is a software model
    in the image, and its bytes and instructions are included.
    """

    model: str
    board: str
    quantization: str
    ram: int | None = None
    flash: int | None = None
    instructions: int | None = None
    sqnr_db: float | None = None
    accuracy: float | None = None
    refused: str = ""
    not_counted: str = ""
    with_npu_model: bool = False


def outcome(cell: Cell, report: dict[str, Any]) -> Outcome:
    """Return the outcome from an image report (tools/report/image_report.schema.json)."""
    used = dict.fromkeys(("ram", "flash"), 0)
    for memory in report["memories"]:
        used[memory["kind"]] += memory["used"]
    quality = report["models"][0]["quality"]
    noises = [o["sqnr_db"] for o in quality["outputs"] if o["sqnr_db"] is not None]
    return Outcome(
        cell.model,
        cell.board,
        cell.quantization,
        used["ram"],
        used["flash"],
        report["instructions"],
        min(noises, default=None),
        quality["accuracy"]["int8"] if quality["accuracy"] else None,
        not_counted=report["not_counted"],
        with_npu_model=report["engine_is_simulated"] and bool(report["models"][0]["delegates"]),
    )


# Bazel's own messages without use for the user, and log lines.
_NOISE = re.compile(
    r"^(INFO|WARNING|DEBUG|Target|Use --|Loading|Analyzing|Computing|Traceback|\[|\s*$|I\d{4} )"
)
# A failed action; the output of its program follows.
_ACTION = re.compile(r"^ERROR: \S+:\d+:\d+: .* failed: \(")
# Prefix of a message: its source and its kind.
_WHERE = re.compile(
    r"^(ERROR: (\S+:\d+:\d+: )?(in \S+ rule \S+: )?|Error in fail: |[\w.]*(Error|Exception): "
    r"|E\d{4} \S+ \S+ \S+\] )"
)
_NO_MESSAGE = re.compile(
    r"^(Traceback|Analysis of target .* failed|.*did (not|NOT) complete successfully"
    r"|Couldn't build file)"
)
_TARGET = re.compile(r"^(@@?)?//[\w/]*:\S+: ")


def refusal(cell: Cell, output: str) -> Outcome:
    """Return an outcome with the reason for a failed build, from Bazel's output."""
    messages: list[str] = []
    others: list[str] = []
    for line in output.splitlines():
        if _ACTION.match(line) or _NOISE.match(line):
            continue
        found = _WHERE.match(line)
        text = _TARGET.sub("", line[found.end() :] if found else line.strip())
        if not text.strip() or _NO_MESSAGE.match(text):
            continue
        if messages and messages[-1].endswith(":") and not found:
            # A list follows; its first item is the most useful.
            messages[-1] += f" {text}"
        else:
            (messages if found else others).append(text)
    why = (messages or others or ["Bazel could not build it, and did not say why"])[0]
    return Outcome(cell.model, cell.board, cell.quantization, refused=why)


_HEAD = ("model", "quantization", "board", "RAM", "flash", "instructions", "SQNR", "right", "")


def _short(label: str) -> str:
    return label.rsplit("/", 1)[-1].rsplit(":", 1)[-1]


def _names(found: Sequence[Outcome]) -> dict[str, str]:
    """Return short names of models and boards: the label's end, or the label if the end is
    ambiguous.
    """
    labels = {label for one in found for label in (one.model, one.board)}
    ends = [_short(label) for label in labels]
    return {label: _short(label) if ends.count(_short(label)) == 1 else label for label in labels}


def _quantization(one: Outcome) -> str:
    return one.quantization or "as it is"


def _row(one: Outcome, names: dict[str, str]) -> tuple[str, ...]:
    def number(value: int | None) -> str:
        return "-" if value is None else f"{value:,}"

    return (
        names[one.model],
        _quantization(one),
        names[one.board],
        number(one.ram),
        number(one.flash),
        number(one.instructions),
        decibels(one.sqnr_db),
        "-" if one.accuracy is None else f"{one.accuracy:.2%}",
        "refused" if one.refused else "fits",
    )


_NPU_MODEL = (
    "with the model of the NPU, which the core runs where there is none: flash, RAM and "
    "instructions are those of the image in the simulator"
)


def _reasons(found: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """Return outcomes by reason: refused images, and images with a remark."""
    reasons: dict[str, list[Outcome]] = {}
    for one in found:
        for why in (
            one.refused and f"refused: {one.refused}",
            one.not_counted and f"not counted: {one.not_counted}",
            one.with_npu_model and _NPU_MODEL,
        ):
            if why:
                reasons.setdefault(why, []).append(one)
    return reasons


def _who(images: Sequence[Outcome], names: dict[str, str]) -> str:
    boards: dict[str, list[str]] = {}
    for one in images:
        boards.setdefault(f"{names[one.model]} {_quantization(one)}", []).append(names[one.board])
    return "; ".join(f"{model} on {', '.join(some)}" for model, some in boards.items())


def as_text(found: Sequence[Outcome], width: int | None = None) -> str:
    """Return the matrix for a terminal, with the reasons below it; `width` as of table()."""
    names = _names(found)
    parts = [table([_HEAD, *(_row(one, names) for one in found)], "lllrrrrrl", width=width)]
    wide = width or window() or 100
    for why, images in _reasons(found).items():
        lines = textwrap.wrap(_who(images, names), wide)
        lines += textwrap.wrap(why, wide, initial_indent="  ", subsequent_indent="  ")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def as_json(found: Sequence[Outcome]) -> dict[str, Any]:
    """Return the matrix as JSON: bytes, instructions per inference, dB, accuracy."""
    return {"format": FORMAT, "images": [asdict(one) for one in found]}


_STYLE = """
:root { color-scheme: light dark; }
body { font: 14px/1.45 system-ui, "DejaVu Sans", sans-serif; }
body { max-width: 66rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.25rem; } h2 { font-size: 1rem; margin-top: 1.6rem; }
div { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .22rem .7rem; border-bottom: 1px solid #8884; text-align: left; }
th:first-child, td:first-child { padding-left: 0; }
th { font-weight: 500; opacity: .7; }
td { white-space: nowrap; }
td:nth-child(n+4):nth-child(-n+8), th:nth-child(n+4):nth-child(-n+8) { text-align: right; }
dt { margin-top: .8rem; } dd { margin: 0; opacity: .8; overflow-wrap: anywhere; }
"""


def as_page(found: Sequence[Outcome]) -> str:
    """Return the matrix as one HTML file."""
    names = _names(found)

    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells) + "</tr>"

    rows = "".join(line(_row(one, names), "td") for one in found)
    reasons = "".join(
        f"<dt>{html.escape(_who(images, names))}</dt><dd>{html.escape(why)}</dd>"
        for why, images in _reasons(found).items()
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Survey</title><style>{_STYLE}</style><h1>Models on boards</h1>"
        f'<div tabindex="0"><table>{line(_HEAD, "th")}{rows}</table></div>'
        f"{f'<h2>Notes</h2><dl>{reasons}</dl>' if reasons else ''}</html>\n"
    )
