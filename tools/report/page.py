# SPDX-License-Identifier: Apache-2.0
"""The page of an image: one HTML file with its data, styles and libraries in it."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tools.report.shorter import shorter

_PARTS = Path(__file__).parent / "page"
_SCRIPTS = ("base.js", "groups.js", "graph.js", "memory.js", "tables.js")

# Maximum size of the page: it is sent by mail, and opened on phones.
LIMIT = 3_000_000


class PageError(Exception):
    """Page that cannot be made; the text gives the reason."""


def packed(report: dict[str, Any]) -> dict[str, Any]:
    """Return the report with its long lists as tables; keys then occur once. base.js
    unpacks them.
    """
    models = [
        model | {key: _table(model[key]) for key in ("ops", "steps", "blocks")}
        for model in report["models"]
    ]
    return report | {"symbols": _table(report["symbols"]), "models": models}


def _table(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the keys common to all rows, with their values; further keys of a row follow."""
    common = [key for key in (rows[0] if rows else ()) if all(key in row for row in rows)]
    values = [[row[key] for key in common] for row in rows]
    for line, row in zip(values, rows, strict=True):
        rest = {key: row[key] for key in row if key not in common}
        line += [rest] if rest else []
    return {"keys": common, "rows": values}


def _safe(data: Any) -> str:
    """Return JSON for a script element: no text of the user's ends the element."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def page(report: dict[str, Any], libraries: Sequence[Path]) -> str:
    """Return the page as HTML.

    Args:
      report: as returned by join().
      libraries: d3 and dagre, minified, and licences as text files, which become
        comments.

    Raises:
      PageError: it exceeds LIMIT even after all omissions.
    """
    for part in shorter(report):
        text = _page(part, libraries)
        if len(text.encode()) <= LIMIT:
            return text
    raise PageError(
        f"the page of {report['name']} has {len(text):,} bytes; {LIMIT:,} at most are allowed"
    )


def _page(report: dict[str, Any], libraries: Sequence[Path]) -> str:
    values = {
        "title": html.escape(f"{report['name']} on {report['board']['name']}"),
        "style": (_PARTS / "style.css").read_text(),
        "data": _safe(packed(report)),
        "libraries": "\n".join(_library(path) for path in libraries),
        "script": "\n".join((_PARTS / name).read_text() for name in _SCRIPTS),
    }
    template = (_PARTS / "index.html").read_text()
    return re.sub(r"{{(\w+)}}", lambda match: values[match[1]], template)


def _library(path: Path) -> str:
    text = path.read_text()
    if path.suffix == ".js":
        return text.replace("</script", "<\\/script")
    return f"/*\n{text}*/"
