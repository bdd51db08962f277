# SPDX-License-Identifier: Apache-2.0
"""Outcomes of programs as people write them, and of ExecuTorch's own tests. Exits with 1 if they
differ from results.json. `--update` writes that file, and the tables of README.md. `--only=REGEX`
lowers programs with a matching name, and takes the others from results.json.

    bazel run //measure/survey -- --only=lstm
    bazel run //measure/survey -- --update
"""

from __future__ import annotations

from tools.imports import imports_that_stay
from tools.text.signal_handling import run_main

import functools
import json
import multiprocessing
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

with imports_that_stay():
    import torch
    from absl import app, flags

    from measure.survey.executorch_cases import cortex_m, every_backend
    from measure.survey.programs import SurveyProgram, written
    from measure.survey.survey import OUTCOMES, SurveyRow, survey

_UPDATE = flags.DEFINE_bool("update", False, "write the results of this run")
_ONLY = flags.DEFINE_string("only", "", "a regular expression: lower what has such a name")
_FOLDER = Path("measure/survey")

TABLES: Mapping[str, Callable[[], Iterator[SurveyProgram]]] = {
    "what people write": written,
    "tests of ExecuTorch's Cortex-M backend": cortex_m,
    "tests of operators that ExecuTorch's backends share": every_backend,
}

Results = Mapping[str, Mapping[str, SurveyRow]]


def results_of(text: str) -> Results:
    """Return the contents of results.json."""
    return {
        title: {name: SurveyRow(*row) for name, row in rows.items()}
        for title, rows in json.loads(text).items()
    }


def results_json(results: Results) -> str:
    """Return the same as text, a row a line."""
    tables = [
        f"{json.dumps(title)}: {{\n"
        + ",\n".join(
            f" {json.dumps(name)}: {json.dumps([row.outcome, row.reason])}"
            for name, row in rows.items()
        )
        + "\n}"
        for title, rows in results.items()
    ]
    return "{\n" + ",\n".join(tables) + "\n}\n"


def page(results: Results) -> str:
    """Return the counts, the outcomes other than int8 and their reasons, in Markdown."""
    lines = [
        "# Programs that become int8",
        "",
        "Look up programs that do not become int8, and the reason. `tools/bazel run"
        " //measure/survey` compares this page with the tree in five minutes. `-- --update` writes"
        " it. `--only=REGEX` selects programs. [results.json](results.json) has all rows.",
        "",
        "| outcome | meaning |",
        "|---|---|",
        "| int8 | no op runs in float |",
        "| partly, float | refused without `--allow_float_fallback` |",
        "| refused | an error with a replacement |",
        "| wrong | an op is more than one step off the float op; a pass changes values; an output"
        " has less than 10 dB against the float model on the values of int8 inputs; or lowering"
        " raises a foreign exception. If a program takes the largest of nearly equal values, its"
        " own choice counts |",
        "| invalid | torch itself refuses it |",
        "",
        f"| | {' | '.join(OUTCOMES)} |",
        f"|---|{'---|' * len(OUTCOMES)}",
    ]
    for title, rows in results.items():
        counts = Counter(row.outcome for row in rows.values())
        lines.append(f"| {title} | {' | '.join(str(counts[o]) for o in OUTCOMES)} |")
    for title, rows in results.items():
        lines += ["", f"## Not int8: {title}", "", "| programs | | why |", "|---|---|---|"]
        named: dict[SurveyRow, list[str]] = {}
        for name, row in rows.items():
            if row.outcome != "int8":
                named.setdefault(SurveyRow(row.outcome, _without_shapes(row.reason)), []).append(
                    name
                )
        for row, names in named.items():
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            cells = (f"`{names[0]}`{more}", row.outcome, row.reason)
            lines.append(f"| {' | '.join(c.replace('|', '&#124;') for c in cells)} |")
    return "\n".join(lines) + "\n"


def _without_shapes(reason: str) -> str:
    return re.sub(r"\[[\d, ]*\]|\d+x\d+", "[...]", reason)


@functools.cache
def _programs(title: str) -> list[SurveyProgram]:
    return [*TABLES[title]()]


def _row(place: tuple[str, int]) -> SurveyRow:
    """Lower a program in a process of its own, by its index: its functions cannot be sent there."""
    torch.set_num_threads(1)
    title, index = place
    return survey(_programs(title)[index])


def _results(stored: Results) -> Results:
    """Return results of all programs; programs outside of the request keep their stored result."""
    names = {(title, i): p.name for title in TABLES for i, p in enumerate(_programs(title))}
    asked = [place for place, name in names.items() if re.search(_ONLY.value, name)]
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        rows = dict(zip(asked, pool.map(_row, asked), strict=True))
    results: dict[str, dict[str, SurveyRow]] = {title: {} for title in TABLES}
    for (title, index), name in names.items():
        row = rows.get((title, index)) or stored.get(title, {}).get(name)
        if row is not None:
            results[title][name] = row
    return results


def main(argv: Sequence[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected argument {argv[1]!r}")
    folder = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", ".")) / _FOLDER
    stored = results_of((folder / "results.json").read_text())
    results = _results(stored)
    print(page(results), end="")
    for title, rows in results.items():
        for name, row in rows.items():
            was = stored.get(title, {}).get(name)
            if row != was:
                print(f"{name}: {row}; it was {was}", file=sys.stderr)
    if _UPDATE.value:
        (folder / "results.json").write_text(results_json(results))
        (folder / "README.md").write_text(page(results))
    elif results != stored:
        print("run it with -- --update to have it so", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    run_main(main)
