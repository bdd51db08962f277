# SPDX-License-Identifier: Apache-2.0
"""Prints a size.json (tools/image/size_report.py) as tables.

bazel run //boards:corstone300_app.size
size_table size.json
"""

from tools.text.signal_handling import run_main

import json
from pathlib import Path
from typing import Any

from absl import app

from tools.text.table import table

_LARGEST = 12


def _memories(report: dict[str, Any]) -> str:
    """Return a row a memory, and one for all of a kind."""
    rows: list[tuple[str, ...]] = [("memory", "kind", "used", "of")]

    def add(name: str, kind: str, used: int, size: int) -> None:
        rows.append((name, kind, f"{used:,}", f"{size:,}", f"{used / size:.1%}"))

    for memory in report["memories"]:
        add(memory["name"], memory["kind"], memory["used"], memory["size"])
    for kind in ("flash", "ram"):
        memories = [memory for memory in report["memories"] if memory["kind"] == kind]
        used, size = (sum(memory[key] for memory in memories) for key in ("used", "size"))
        add(f"all {kind}", "", used, size)
    return table(rows, "llrrr")


def _origins(memory: dict[str, Any]) -> str:
    """Return the largest users of a memory."""
    ranked = sorted(memory["by_origin"].items(), key=lambda item: -item[1])[:_LARGEST]
    rest = memory["used"] - sum(size for _, size in ranked)
    rows = [(f"{size:,}", origin) for origin, size in ranked]
    if rest:
        rows.append((f"{rest:,}", "others, stacks, gaps"))
    return table([(memory["name"], "brought by"), *rows], "rl")


def _stack(name: str, stack: dict[str, Any]) -> str:
    bound = f"no bound: {stack['problem']}"
    if stack["bound"] is not None:
        bound = f"at most {stack['bound']:,}"
    title = f"{name.replace('_', ' ')}: {bound} of {stack['size']:,} bytes"
    if stack["once"]:
        title += (
            f", where a pointer leads to each of these once at a time: {', '.join(stack['once'])}"
        )
    return f"{title}\n  {' > '.join(stack['path'])}"


def size_table(report: dict[str, Any]) -> str:
    """Return the tables as text: memories, who takes most of each, stacks."""
    title = f"{report['name']} on {report['board']} ({report['core']})"
    origins = [_origins(memory) for memory in report["memories"] if memory["used"]]
    stacks = [_stack(name, report[name]) for name in ("stack", "handler_stack")]
    return "\n\n".join([title, _memories(report), *origins, "\n".join(stacks)])


def main(argv: list[str]) -> None:
    if len(argv) != 2:
        raise app.UsageError("give one size.json")
    print(size_table(json.loads(Path(argv[1]).read_text())))


if __name__ == "__main__":
    run_main(main)
