# SPDX-License-Identifier: Apache-2.0
"""The page of an evidence folder. No date and no path of a machine is in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from tools.evidence.claims import CLAIMS, LIMITS

_KERNEL = re.compile(r"(?:^|/)kernels/([a-z0-9_]+)$")
_STYLE = (
    "body{font:15px/1.5 sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse}th,td{border:1px solid #999;padding:.2em .6em;"
    "text-align:left;vertical-align:top}code{font-size:90%;overflow-wrap:anywhere}"
)


def page(
    label: str,
    size: Mapping[str, Any],
    compiler: str,
    hashes: Sequence[tuple[str, str]],
    results: Mapping[str, str],
) -> str:
    """Return the page as HTML.

    Args:
      label: of the image.
      size: its size.json.
      compiler: its text in the ELF.
      hashes: names of files of the folder and of parts of the image, with their SHA-256.
      results: of tests by label; tests that did not run are missing.
    """
    facts = [["label", label], ["board", size["board"]], ["core", size["core"]]]
    facts.append(["compiler", compiler])
    origins = {origin for memory in size["memories"] for origin in memory["by_origin"]}
    kernels = sorted({m[1] for origin in origins if (m := _KERNEL.search(origin))} - {"common"})
    body = [
        f"<h1>Evidence for {escape(label)}</h1>",
        "<h2>Image</h2>",
        _table(["property", "value"], facts),
        "<h2>Files</h2>",
        _table(["file", "SHA-256"], hashes),
        "<h2>Claims</h2>",
        "<p>A proof covers all inputs that the row names. A bound comes from an analysis. "
        "A test covers its own inputs. A claim without a passed test is not shown to hold.</p>",
        _claims(results),
        "<h2>Memory</h2>",
        _table(["memory", "bytes", "used"], _memories(size)),
        "<h2>Stack</h2>",
        _table(["stack", "bytes", "bound", "deepest path"], _stacks(size)),
        "<h2>Kernels</h2>",
        f"<p>Linked into the image: {escape(', '.join(kernels) or 'none')}.</p>",
        "<h2>Known limits</h2>",
        "<ul>" + "".join(f"<li>{escape(limit)}</li>" for limit in LIMITS) + "</ul>",
    ]
    title = f"<title>Evidence for {escape(label)}</title>"
    head = f'<!doctype html><html lang="en"><meta charset="utf-8">{title}<style>{_STYLE}</style>'
    return "\n".join([head, *body]) + "\n</html>\n"


def _claims(results: Mapping[str, str]) -> str:
    rows = []
    for claim in CLAIMS:
        tests = [f"//{test}: {results.get('//' + test, 'not run')}" for test in claim.tests]
        rows.append([claim.text, claim.kind, claim.page, "\n".join(tests), claim.limits])
    return _table(["claim", "kind", "design", "tests and results", "limits"], rows)


def _memories(size: Mapping[str, Any]) -> list[list[str]]:
    return [[m["name"], f"{m['size']:,}", f"{m['used']:,}"] for m in size["memories"]]


def _stacks(size: Mapping[str, Any]) -> list[list[str]]:
    rows = []
    for name in ("stack", "handler_stack"):
        stack = size[name]
        bound = "none" if stack["bound"] is None else f"{stack['bound']:,}"
        rows.append([name, f"{stack['size']:,}", bound, " > ".join(stack["path"])])
    return rows


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["<table><tr>" + "".join(f"<th>{escape(head)}</th>" for head in heads) + "</tr>"]
    for row in rows:
        cells = (escape(cell).replace("\n", "<br>") for cell in row)
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return "\n".join([*lines, "</table>"])
