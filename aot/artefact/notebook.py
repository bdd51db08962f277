# SPDX-License-Identifier: Apache-2.0
"""A lowered model as HTML, for notebooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any


def report_html(report: Mapping[str, Any]) -> str:
    """Return a report's tables: outputs, warnings, ops by engine, sizes.

    Args:
      report: `Lowered.report`; all texts in it are escaped.
    """
    parts = [_table("Inputs and outputs", _PORTS, _ports(report))]
    if report["warnings"]:
        rows = [(one["kind"], one["text"], one["source"]) for one in report["warnings"]]
        parts.append(_table("Warnings", ("kind", "warning", "line of the model"), rows))
    engines = Counter((op["runs_on"], op["precision"]) for op in report["ops"])
    macs = Counter[tuple[str, str]]()
    for op in report["ops"]:
        macs[op["runs_on"], op["precision"]] += op["macs"]
    ops = [(*key, count, f"{macs[key]:,}") for key, count in sorted(engines.items())]
    parts.append(_table("Ops by engine", ("engine", "precision", "ops", "MACs"), ops))
    sizes = [("program (.pte)", f"{report['pte_bytes']:,}")]
    sizes.append(("constants", f"{report['constant_bytes']:,}"))
    parts.append(_table("Memory", ("part", "bytes"), sizes))
    return f"<b>Lowered for {escape(report['target'])}</b>" + "".join(parts)


_PORTS = ("", "name", "shape", "dtype", "scale", "zero point", "layout", "SQNR, dB", "agreement")


def _ports(report: Mapping[str, Any]) -> list[Sequence[object]]:
    quality = report.get("quality") or {"outputs": []}
    measured = dict(zip(report.get("results", []), quality["outputs"], strict=False))
    rows: list[Sequence[object]] = []
    for kind in ("inputs", "outputs"):
        for index, port in enumerate(report[kind]):
            found = measured.get(index, {}) if kind == "outputs" else {}
            facts = [port[key] for key in ("name", "shape", "dtype")]
            scales = [port["scale"] and f"{port['scale']:.6g}", port["zero_point"], port["layout"]]
            own = [found.get("sqnr_db"), found.get("agreement")]
            rows.append([kind.removesuffix("s"), *facts, *scales, *own])
    return rows


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    def line(tag: str, cells: Sequence[object]) -> str:
        texts = ("" if cell is None else escape(str(cell)) for cell in cells)
        return "<tr>" + "".join(f"<{tag}>{text}</{tag}>" for text in texts) + "</tr>"

    body = "".join(line("td", row) for row in rows)
    return f"<table><caption>{title}</caption>{line('th', head)}{body}</table>"
