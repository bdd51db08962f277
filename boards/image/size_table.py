# SPDX-License-Identifier: Apache-2.0
"""Prints a size.json (boards/image/size_report.py) as tables.

size_table size.json
"""

import json
import sys
from pathlib import Path
from typing import Any

_LARGEST = 12


def size_table(report: dict[str, Any]) -> str:
    """Returns the tables as text: memories, who takes most of each, stacks."""
    lines = [
        f"{report['name']} on {report['board']} ({report['core']})",
        "",
        f"{'memory':10} {'kind':6} {'used':>10} {'of':>10} {'':>6}",
    ]
    for memory in report["memories"]:
        used, size = memory["used"], memory["size"]
        kind = memory["kind"]
        lines.append(f"{memory['name']:10} {kind:6} {used:10} {size:10} {used / size:6.1%}")
    for kind in ("flash", "ram"):
        memories = [memory for memory in report["memories"] if memory["kind"] == kind]
        used, size = (sum(memory[key] for memory in memories) for key in ("used", "size"))
        lines.append(f"{'all ' + kind:17} {used:10} {size:10} {used / size:6.1%}")
    for memory in report["memories"]:
        if memory["used"]:
            lines += ["", f"{memory['name']:>10}  brought by"]
            ranked = sorted(memory["by_origin"].items(), key=lambda item: -item[1])[:_LARGEST]
            lines += [f"{size:10}  {origin}" for origin, size in ranked]
            rest = memory["used"] - sum(size for _, size in ranked)
            lines += [f"{rest:10}  others, stacks, gaps"] if rest else []
    lines.append("")
    for name in ("stack", "handler_stack"):
        stack = report[name]
        bound = (
            f"at most {stack['bound']}"
            if stack["bound"] is not None
            else f"no bound: {stack['problem']}"
        )
        lines.append(f"{name.replace('_', ' ')}: {bound} of {stack['size']} bytes")
        lines.append(f"  {' > '.join(stack['path'])}")
    return "\n".join(lines)


def main() -> None:
    print(size_table(json.loads(Path(sys.argv[1]).read_text())))


if __name__ == "__main__":
    main()
