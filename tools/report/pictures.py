# SPDX-License-Identifier: Apache-2.0
"""Takes the pictures of docs/reports.md anew, of the pages as they are.

bazel run //tools/report:pictures
"""

from tools.text.signal_handling import run_main

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tools.report.browser import browse

# Layout and scrollbars settle within this many milliseconds of the page's time.
_REST = "--virtual-time-budget=4000"


@dataclass(frozen=True)
class Picture:
    """Picture of a page: its image, the reader's previous actions, and the window's size."""

    name: str
    image: str
    script: str
    size: tuple[int, int] = (1280, 1500)


_SECTION_ALONE = """
for (const one of document.querySelectorAll("header, .tiles, aside, section:not(#quality)"))
  one.remove();
document.querySelector("main").style.display = "block";
"""

PICTURES = (
    Picture("report_digits", "boards/corstone300_app", "select(['3'], null);"),
    Picture(
        "report_quality",
        "boards/corstone300_app",
        f"select(['3'], null);{_SECTION_ALONE}",
        (960, 1000),
    ),
    Picture(
        "report_vww",
        "tests/models/mobilenet_v1_corstone300",
        "document.documentElement.dataset.theme = 'dark'; select(['5'], null);",
    ),
)


def take(picture: Picture, output: Path, folder: Path) -> None:
    """Take one picture."""
    text = Path(f"{picture.image}.report.html").read_text()
    options = [f"--screenshot={output}", "--hide-scrollbars", _REST]
    browse(text, picture.script, picture.size, folder, *options)


def main(argv: list[str]) -> None:
    del argv
    images = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"], "docs/images")
    for picture in PICTURES:
        with tempfile.TemporaryDirectory() as folder:
            take(picture, images / f"{picture.name}.webp", Path(folder))


if __name__ == "__main__":
    run_main(main)
