# SPDX-License-Identifier: Apache-2.0
"""Differences between two image reports (tools/report/image_report.schema.json)."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, TypeVar

from tools.report.markdown import decibels, md_table
from tools.text.table import table

Fields = dict[str, Any]

_SHOWN = 15

_T = TypeVar("_T", int, str)

_NUMBER = re.compile(r"(?<![A-Za-z0-9])\d+(?![A-Za-z0-9])")
"""A part of a name: `constant_12`, but neither `conv2d` nor `lut_s16`."""

Rows = list[tuple[str, ...]]
"""Item, before, after, and the difference."""


def _signed(value: float, digits: int = 0) -> str:
    return f"{value:+,.{digits}f}"


def _changed(before: dict[str, _T], after: dict[str, _T]) -> tuple[dict[str, _T], dict[str, _T]]:
    """Return the differences.

    Names that differ only in their numbers are equal if their values are equal: one more constant
    renumbers those after it.
    """
    olds = {name: value for name, value in before.items() if after.get(name) != value}
    news = {name: value for name, value in after.items() if before.get(name) != value}
    renumbered = Counter(map(_without_numbers, olds.items()))
    renumbered &= Counter(map(_without_numbers, news.items()))
    left: list[dict[str, _T]] = []
    for changed in (olds, news):
        same = renumbered.copy()
        left.append({})
        for item in changed.items():
            same[_without_numbers(item)] -= 1
            if same[_without_numbers(item)] < 0:
                left[-1].update([item])
    return left[0], left[1]


def _without_numbers(item: tuple[str, _T]) -> tuple[str, _T]:
    return _NUMBER.sub("", item[0]), item[1]


def _numbers(before: dict[str, int], after: dict[str, int], shown: int = _SHOWN) -> Rows:
    """Return rows of the differences, the largest first."""
    before, after = _changed(before, after)
    names = sorted(before | after, key=lambda n: (-abs(after.get(n, 0) - before.get(n, 0)), n))
    rows: Rows = []
    for name in names[:shown]:
        old, new = before.get(name), after.get(name)
        texts = ("-" if value is None else f"{value:,}" for value in (old, new))
        rows.append((name, *texts, _signed((new or 0) - (old or 0))))
    rest = names[shown:]
    if rest:
        old, new = (sum(part.get(name, 0) for name in rest) for part in (before, after))
        rows.append((f"{len(rest)} more", f"{old:,}", f"{new:,}", _signed(new - old)))
    return rows


def _memories(report: Fields) -> dict[str, int]:
    found = {f"{m['name']} ({m['kind']})": m["used"] for m in report["memories"]}
    if report["stack"]["bound"] is not None:
        found["stack, at most"] = report["stack"]["bound"]
    for model in report["models"]:
        if model["arena"]:
            found[f"arena of {model['name']}"] = model["arena"]["bytes"]
    return found


def _sums(report: Fields, key: str) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for symbol in report["symbols"]:
        sums[symbol[key]] += symbol["bytes"]
    return dict(sums)


def _symbols(report: Fields) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for symbol in report["symbols"]:
        # A workspace's root has no name.
        origin = f" ({symbol['origin']})" if symbol["origin"] else ""
        sums[symbol["name"] + origin] += symbol["bytes"]
    return dict(sums)


def _kernels(report: Fields) -> dict[str, int]:
    rows = [s for s in report["symbols"] if s["kind"] == "kernels"]
    return _sums({"symbols": rows}, "origin")


def _instructions(report: Fields) -> dict[str, int]:
    found: dict[str, int] = {}
    if report["instructions"] is not None:
        found["one inference"] = report["instructions"]
    for model in report["models"]:
        for step in model["steps"]:
            if step["instructions"] is not None:
                found[f"{step['id']} {step['op']} {step['module']}"] = step["instructions"]
    return found


def _quality(before: Fields, after: Fields) -> Rows:
    rows: Rows = []
    for name, old, new in _same(before, after):
        accuracy = [report["quality"]["accuracy"] for report in (old, new)]
        if all(accuracy) and accuracy[0] != accuracy[1]:
            low, high = (100 * one["int8"] for one in accuracy)
            rows.append(
                (
                    f"{name}: right when quantized, %",
                    f"{low:.2f}",
                    f"{high:.2f}",
                    _signed(high - low, 2),
                )
            )
        for a, b in zip(old["quality"]["outputs"], new["quality"]["outputs"], strict=False):
            pair = a["sqnr_db"], b["sqnr_db"]
            if None not in pair and pair[0] != pair[1]:
                texts = map(decibels, pair)
                change = f"{_signed(pair[1] - pair[0], 1)} dB"
                rows.append((f"{name}: SQNR of {b['name']}", *texts, change))
    return rows


def _same(before: Fields, after: Fields) -> Iterator[tuple[str, Fields, Fields]]:
    """Yield the models in both reports."""
    old = {model["name"]: model for model in before["models"]}
    for model in after["models"]:
        if model["name"] in old:
            yield model["name"], old[model["name"]], model


def _places(model: Fields) -> dict[str, str]:
    """Return the engine of each op, by its name in the lowered graph."""
    return {
        op["name"]: " ".join(filter(None, (op["op"], "on", op["runs_on"], op["function"])))
        for op in model["ops"]
    }


def _moved(before: Fields, after: Fields) -> Rows:
    rows: Rows = []
    for name, old, new in _same(before, after):
        a, b = _changed(_places(old), _places(new))
        rows += [(f"{name}: {op}", a.get(op, "-"), b.get(op, "-"), "") for op in a | b]
    return rows


def differences(before: Fields, after: Fields) -> dict[str, Rows]:
    """Return the differences by title. Titles without a difference are left out."""
    found = {
        "Memory, bytes": _numbers(_memories(before), _memories(after)),
        "Flash by what it is, bytes": _numbers(_sums(before, "kind"), _sums(after, "kind")),
        "Flash by kernel, bytes": _numbers(_kernels(before), _kernels(after)),
        "Flash by symbol, bytes": _numbers(_symbols(before), _symbols(after)),
        "Instructions": _numbers(_instructions(before), _instructions(after)),
        "Quality": _quality(before, after),
        "Ops that became something else": _moved(before, after),
    }
    return {title: rows for title, rows in found.items() if rows}


_HEAD = ("", "before", "after", "change")


def _title(before: Fields, after: Fields) -> str:
    names = list(dict.fromkeys(f"{r['name']} on {r['board']['name']}" for r in (before, after)))
    return " against ".join(names)


def as_text(before: Fields, after: Fields) -> str:
    """Return the differences for a terminal."""
    parts = [_title(before, after)]
    for title, rows in differences(before, after).items():
        parts.append(f"{title}\n" + table([_HEAD, *rows], "lrrr", indent="  "))
    return "\n\n".join(parts if len(parts) > 1 else [*parts, "no difference"]) + "\n"


def as_markdown(before: Fields, after: Fields) -> str:
    """Return the differences for a pull request."""
    parts = [f"# {_title(before, after)}"]
    for title, rows in differences(before, after).items():
        parts += [f"## {title}", md_table(_HEAD, rows, "lrrr")]
    return "\n\n".join(parts if len(parts) > 1 else [*parts, "No difference."]) + "\n"


_STYLE = """
:root { color-scheme: light dark; }
body { font: 14px/1.45 system-ui, "DejaVu Sans", sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.25rem; } h2 { font-size: 1rem; margin-top: 1.6rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .22rem .5rem; border-bottom: 1px solid #8884; text-align: right; }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; }
th { font-weight: 500; opacity: .7; }
"""


def as_page(before: Fields, after: Fields) -> str:
    """Return the differences as one HTML file."""

    def line(cells: tuple[str, ...], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells) + "</tr>"

    title = html.escape(_title(before, after))
    body = "".join(
        f"<h2>{html.escape(name)}</h2><table>{line(_HEAD, 'th')}"
        + "".join(line(row, "td") for row in rows)
        + "</table>"
        for name, rows in differences(before, after).items()
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style><h1>{title}</h1>"
        f"{body or '<p>No difference.</p>'}</html>\n"
    )
