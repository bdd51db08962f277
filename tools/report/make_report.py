# SPDX-License-Identifier: Apache-2.0
"""Writes the report of an image.

    make_report --board=board.json --size=size.json --counted=counted.json [--plan=plan.json ...] \\
        [--lowering=<model>.report.json --pte=<model>.pte ...] [--library=d3.min.js ...] \\
        --html=report.html --markdown=report.md --json=report.json --trace=trace.json
"""

import json
from pathlib import Path
from typing import Any

from absl import app, flags

from tools.image.trace import trace
from tools.report.join import join, lowering
from tools.report.markdown import markdown
from tools.report.page import page

_BOARD = flags.DEFINE_string("board", None, "The board's board.json.", required=True)
_SIZE = flags.DEFINE_string("size", None, "The image's size.json.", required=True)
_COUNTED = flags.DEFINE_string("counted", None, "What profile.py wrote.", required=True)
_PLAN = flags.DEFINE_multi_string("plan", [], "The JSON of its plans.")
_LOWERING = flags.DEFINE_multi_string("lowering", [], "Lowering reports of its models.")
_PTE = flags.DEFINE_multi_string("pte", [], "Its models, in the order of their reports.")
_LIBRARY = flags.DEFINE_multi_string("library", [], "d3 and dagre, and their licences.")
_HTML = flags.DEFINE_string("html", None, "The page to write.", required=True)
_MARKDOWN = flags.DEFINE_string("markdown", None, "The same as Markdown.", required=True)
_JSON = flags.DEFINE_string("json", None, "The same as JSON.", required=True)
_TRACE = flags.DEFINE_string("trace", None, "The profile for Perfetto.", required=True)

_SUFFIX = ".report.json"


def _read(path: str) -> Any:
    return json.loads(Path(path).read_text())


def main(argv: list[str]) -> None:
    del argv
    counted = _read(_COUNTED.value)
    profile = counted["profile"]
    report = join(
        _read(_SIZE.value),
        _read(_BOARD.value),
        {
            Path(path).name.removesuffix(_SUFFIX): lowering(Path(path), Path(pte))
            for path, pte in zip(_LOWERING.value, _PTE.value, strict=True)
        },
        [_read(path) for path in _PLAN.value],
        profile,
        counted["problem"],
        counted["stats"],
    )
    Path(_HTML.value).write_text(page(report, [Path(path) for path in _LIBRARY.value]))
    Path(_MARKDOWN.value).write_text(markdown(report))
    Path(_JSON.value).write_text(json.dumps(report, indent=1) + "\n")
    Path(_TRACE.value).write_text(json.dumps(trace(profile), indent=1) + "\n")


if __name__ == "__main__":
    app.run(main)
