# SPDX-License-Identifier: Apache-2.0
"""The matrix of a survey: the targets that it builds, what came of each, and how it is shown."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from boards.report.markdown import decibels
from tools.text.table import table

FORMAT = 1

PACKAGE = "pilotlight_survey"
"""The package that the targets are in, below a folder of their own."""

_NOISE = re.compile(
    r"^(INFO|WARNING|ERROR|DEBUG|Target|Use --|Loading|Analyzing|Computing|\[|\s*$|I\d{4} )"
)
_ERROR = re.compile(r"^(?:\S*Error|\S*Exception): |^E\d{4} \S+ \S+ \S+\] ")


@dataclass(frozen=True)
class Cell:
    """One image of the matrix: labels of a model and a board, and a quantization."""

    model: str
    board: str
    quantization: str

    @property
    def name(self) -> str:
        """Of its target."""
        parts = (_short(self.model), self.quantization, _short(self.board))
        return re.sub(r"\W", "_", "__".join(parts))


@dataclass(frozen=True)
class Outcome:
    """What came of a cell; `refused` says why there is no image, and the numbers are None then."""

    model: str
    board: str
    quantization: str
    ram: int | None = None
    flash: int | None = None
    instructions: int | None = None
    sqnr_db: float | None = None
    accuracy: float | None = None
    refused: str = ""


def _short(label: str) -> str:
    return label.rsplit("/", 1)[-1].rsplit(":", 1)[-1]


def cells(models: Sequence[str], boards: Sequence[str], kinds: Sequence[str]) -> list[Cell]:
    """Every combination."""
    return [Cell(m, b, q) for m in models for q in kinds for b in boards]


def lowering(command: str, model: str, quantization: str, name: str) -> str:
    """The command of a model's lowering, for another quantization and outputs.

    Args:
      command: of the target `<model>.lowering`, as Bazel's query gives it.
      model: its label.
      quantization: what to lower it to.
      name: what the outputs are called.
    """
    package, _, target = _full(model).rpartition(":")
    text = command.replace(f"$(location :{target}.lower)", f"$(location {package}:{target}.lower)")
    text = re.sub(r"'--quantization=[^']*'", f"'--quantization={quantization}'", text)
    return text.replace(f"$(location {target}.", f"$(location {name}.")


def _full(label: str) -> str:
    return label if ":" in label else f"{label}:{_short(label)}"


def build_file(matrix: Sequence[Cell], commands: dict[str, str]) -> str:
    """The BUILD file of the survey's package.

    Args:
      matrix: what is built.
      commands: of the lowering of each model that is lowered anew, by its label.
    """
    lines = [
        'load("//aot:lowered.bzl", "lowered")',
        'load("//firmware/apps:check_image.bzl", "check_image")',
    ]
    models: dict[tuple[str, str], str] = {}
    for cell in matrix:
        key = cell.model, cell.quantization
        if cell.quantization == "" or key in models:
            models.setdefault(key, cell.model)
            continue
        name = re.sub(r"\W", "_", f"{_short(cell.model)}__{cell.quantization}")
        models[key] = f":{name}"
        command = lowering(commands[cell.model], cell.model, cell.quantization, name)
        outs = [f"{name}.{ending}" for ending in ("pte", "report.json", "vectors.npz")]
        tool = f"{_full(cell.model)}.lower"
        lines += [
            f'genrule(name = "{name}.lowering", outs = {outs!r}, cmd = {command!r}, '
            f'tools = ["{tool}"])',
            f'lowered(name = "{name}", by_engine = {{}}, default = ":{name}.lowering")',
        ]
    for cell in matrix:
        model = models[cell.model, cell.quantization]
        lines.append(
            f'check_image(name = "{cell.name}", model = "{model}", board = "{cell.board}")'
        )
    return "\n".join(lines) + "\n"


def outcome(cell: Cell, report: dict[str, Any]) -> Outcome:
    """What a report of an image says (boards/report/image_report.schema.json)."""
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
    )


def refusal(cell: Cell, output: str) -> Outcome:
    """Why Bazel could not build an image, from what it printed: the first line that a program of
    the build said, without where it stood.
    """
    lines = output.splitlines()
    said = [line.strip() for line in lines if not _NOISE.match(line)]
    errors = [line for line in said if _ERROR.match(line)]
    why = (errors or said or [line for line in lines if line.startswith("ERROR")] or ["?"])[0]
    return Outcome(cell.model, cell.board, cell.quantization, refused=_ERROR.sub("", why))


_HEAD = ("model", "quantization", "board", "RAM", "flash", "instructions", "SQNR", "right", "")


def _row(one: Outcome) -> tuple[str, ...]:
    def number(value: int | None) -> str:
        return "-" if value is None else f"{value:,}"

    right = "-" if one.accuracy is None else f"{one.accuracy:.2%}"
    return (
        _short(one.model),
        one.quantization or "as it is",
        _short(one.board),
        number(one.ram),
        number(one.flash),
        number(one.instructions),
        decibels(one.sqnr_db),
        right,
        f"refused: {one.refused}" if one.refused else "fits",
    )


def as_text(found: Sequence[Outcome]) -> str:
    """The matrix for a terminal."""
    return table([_HEAD, *map(_row, found)], "lllrrrrrl")


def as_json(found: Sequence[Outcome]) -> dict[str, Any]:
    """The matrix for machines: bytes, instructions of one inference, dB, share of right classes."""
    return {"format": FORMAT, "images": [asdict(one) for one in found]}


_STYLE = """
:root { color-scheme: light dark; }
body { font: 14px/1.45 system-ui, "DejaVu Sans", sans-serif; margin: 2rem; }
h1 { font-size: 1.25rem; }
div { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .22rem .7rem; border-bottom: 1px solid #8884; text-align: left; }
th { font-weight: 500; opacity: .7; }
td:nth-child(n+4):nth-child(-n+8), th:nth-child(n+4):nth-child(-n+8) { text-align: right; }
"""


def as_page(found: Sequence[Outcome]) -> str:
    """The matrix as one HTML file."""

    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells) + "</tr>"

    rows = "".join(line(_row(one), "td") for one in found)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Survey</title><style>{_STYLE}</style><h1>Models on boards</h1>"
        f"<div><table>{line(_HEAD, 'th')}{rows}</table></div></html>\n"
    )
