# SPDX-License-Identifier: Apache-2.0
"""Names the page of an image, for a browser.

    bazel run //boards:corstone300_app.report

The page is built before; its path is the one line that is printed.
"""

from pathlib import Path

from absl import app


def main(argv: list[str]) -> None:
    if len(argv) != 2:
        raise app.UsageError("the page is all that this program takes")
    print(Path(argv[1]).resolve())


if __name__ == "__main__":
    app.run(main)
