# SPDX-License-Identifier: Apache-2.0
"""Results of a search: a table, JSON and a page."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from aot.options import Quantize
from measure.fit.search import FitLimits, Trial
from tools.text.table import table

COLUMNS = ("", "metric", "SQNR", "ms", "flash", "RAM", "settings")

_PAGE = """<!doctype html>
<meta charset="utf-8"><title>{title}</title>
<style>body{{font:15px sans-serif;margin:2em}}td,th{{padding:.3em .8em;text-align:left}}
tr.chosen{{background:#dfd}}</style>
<h1>{title}</h1><p>{limits}</p><table>{rows}</table><p>{about}</p>
"""

ABOUT = (
    "Flash is the model's constants and RAM its arena, exact from the plan. Time is estimated from "
    "layers of the bench, and may be off by half: the image's .sim counts it."
)


def settings(quantize: Quantize) -> dict[str, Any]:
    """Return the settings that differ from the defaults, as arguments of pte_model."""
    default = Quantize()
    found = {f.name: getattr(quantize, f.name) for f in fields(Quantize)}
    return {
        name: dict(value) if isinstance(value, dict) else value
        for name, value in found.items()
        if value != getattr(default, name)
    }


def to_paste(quantize: Quantize) -> str:
    """Return the settings as text for pte_model and for `Quantize`."""
    found = settings(quantize) or {"quantization": "int8"}
    return ", ".join(
        f"{name} = {value if isinstance(value, bool) else json.dumps(value, ensure_ascii=False)}"
        for name, value in found.items()
    )


def rows_of(front: Sequence[Trial], chosen: Trial | None) -> list[tuple[str, ...]]:
    """Return the rows of the table, without a head."""
    rows: list[tuple[str, ...]] = []
    for trial in front:
        cost = trial.cost
        assert cost is not None
        rows.append(
            (
                "*" if trial is chosen else "",
                f"{trial.metric:.4g}",
                f"{trial.sqnr_db:.1f} dB",
                "?" if cost.ms is None else f"{cost.ms:.2f}",
                f"{cost.flash:,}",
                f"{cost.ram:,}",
                to_paste(trial.quantize),
            )
        )
    return rows


def as_text(front: Sequence[Trial], chosen: Trial | None) -> str:
    return table([COLUMNS, *rows_of(front, chosen)], "lrrrrrl")


def as_json(
    trials: Sequence[Trial], front: Sequence[Trial], chosen: Trial | None, limits: FitLimits
) -> dict[str, Any]:
    """Return all trials, with those that no other dominates marked."""
    return {
        "limits": asdict(limits),
        "trials": [
            {
                "settings": settings(trial.quantize),
                "metric": trial.metric,
                "sqnr_db": trial.sqnr_db,
                "cost": None if trial.cost is None else asdict(trial.cost),
                "fits": limits.hold(trial),
                "is_front": trial in front,
                "is_chosen": trial is chosen,
            }
            for trial in trials
        ],
    }


def as_page(title: str, front: Sequence[Trial], chosen: Trial | None, limits: FitLimits) -> str:
    cells = [COLUMNS, *rows_of(front, chosen)]
    rows = ""
    for index, row in enumerate(cells):
        kind = "td" if index else "th"
        mark = ' class="chosen"' if row[0] else ""
        columns = "".join(f"<{kind}>{html.escape(cell)}</{kind}>" for cell in row)
        rows += f"<tr{mark}>{columns}</tr>"
    given = [f"{name} {value:g}" for name, value in asdict(limits).items() if value is not None]
    return _PAGE.format(
        title=html.escape(title),
        limits=html.escape(", ".join(given) or "no limits"),
        rows=rows,
        about=ABOUT,
    )
