# SPDX-License-Identifier: Apache-2.0
"""Write the report of a plan: a model's page for a board, before a program exists.

    plan_report --board=board.json --plan=plan.json --lowering=net.report.json --pte=net.pte \\
        [--library=d3.min.js ...] --html=report.html --markdown=report.md --json=report.json

Memories contain the plan's constants and arena. Code and instructions need an image
(make_report.py).
"""

import json
from pathlib import Path
from typing import Any

from absl import app, flags

from tools.report.join import Fields, join, lowering
from tools.report.markdown import markdown
from tools.report.page import page

_BOARD = flags.DEFINE_string("board", None, "The board's board.json.", required=True)
_PLAN = flags.DEFINE_string("plan", None, "The plan's JSON.", required=True)
_LOWERING = flags.DEFINE_string("lowering", None, "The model's lowering report.", required=True)
_PTE = flags.DEFINE_string("pte", None, "The lowered model.", required=True)
_LIBRARY = flags.DEFINE_multi_string("library", [], "d3 and dagre, and their licences.")
_HTML = flags.DEFINE_string("html", None, "The page to write.", required=True)
_MARKDOWN = flags.DEFINE_string("markdown", None, "The same as Markdown.", required=True)
_JSON = flags.DEFINE_string("json", None, "The same as JSON.", required=True)

NOT_LINKED = "there is no program yet, only its plan"

_ORIGIN = "the model"


def size_of(plan: Fields, board: Fields) -> Fields:
    """Return the fields of an image's size.json, as far as the plan decides them."""
    weights = plan["weights"]
    arena = {pool["name"]: pool["used"] for pool in plan["arena"]["pools"]}
    constants = {weights["memory"]: weights["bytes"]}
    memories = []
    for memory in board["memories"]:
        held = {
            _ORIGIN: constants.get(memory["name"], 0),
            "the arena": arena.get(memory["name"], 0),
        }
        used = {origin: size for origin, size in held.items() if size}
        fields = {key: memory[key] for key in ("name", "kind", "size")}
        memories.append(fields | {"used": sum(used.values()), "by_origin": used})
    symbols = [
        {"name": c["name"], "size": c["bytes"], "stored_in": weights["memory"]}
        | {"origin": _ORIGIN, "source": plan["name"]}
        for c in weights["constants"]
    ]
    stack = {"size": board["stack"], "bound": None, "path": [], "problem": NOT_LINKED}
    return {"name": plan["name"], "memories": memories, "symbols": symbols, "stack": stack}


def report_of(plan: Fields, board: Fields, lowered: Fields) -> Fields:
    """Return the page's contents."""
    reports = {plan["name"]: lowered}
    return join(size_of(plan, board), board, reports, [plan], None, NOT_LINKED)


def _read(path: str) -> Any:
    return json.loads(Path(path).read_text())


def main(argv: list[str]) -> None:
    del argv
    lowered = lowering(Path(_LOWERING.value), Path(_PTE.value))
    report = report_of(_read(_PLAN.value), _read(_BOARD.value), lowered)
    Path(_HTML.value).write_text(page(report, [Path(path) for path in _LIBRARY.value]))
    Path(_MARKDOWN.value).write_text(markdown(report))
    Path(_JSON.value).write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    app.run(main)
