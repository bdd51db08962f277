# SPDX-License-Identifier: Apache-2.0
"""Writes the generated pages of docs/reference.

bazel run //tests/docs:reference_main               prints pages that differ
bazel run //tests/docs:reference_main -- --update   writes them
"""

from tools.text.signal_handling import run_main

from absl import flags

from tests.docs.reference import PAGES
from tools.lint.workspace import workspace_root

_UPDATE = flags.DEFINE_bool("update", False, "Write the pages.")


def main(argv: list[str]) -> None:
    del argv
    root = workspace_root()
    for name, page in PAGES.items():
        path, text = root / name, page(root)
        if _UPDATE.value:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(text)


if __name__ == "__main__":
    run_main(main)
