# SPDX-License-Identifier: Apache-2.0
"""The page in a browser: it draws what the JSON says, and a click or a key selects everywhere.

A script at the end of a copy of the page does what a reader would, and writes down what it finds.
"""

from __future__ import annotations

import html
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tools.python.runfile import runfile

# On a core, on an NPU, and of a program that marks no inference.
IMAGES = (
    "boards/corstone300_app",
    "boards/corstone300_ethos_u55_app",
    "examples/keywords/keywords_app",
)
WIDTHS = (1280, 500)

_NOISE = re.compile(r"dbus|bluez|Floss|GPU|gpu|vulkan|fontconfig|font config|oom_score|inotify")

_READER = Path("boards/report/reader.js")


def look(image: str, width: int, folder: Path) -> dict[str, Any]:
    """Opens the page and returns what the reader found."""
    text = Path(f"{image}.report.html").read_text()
    page = folder / "page.html"
    page.write_text(text.replace("</body>", f"<script>{_READER.read_text()}</script></body>"))
    browser = runfile("chromium/chromium")
    assert browser is not None
    options = ["--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]
    size = [f"--window-size={width},900", f"--user-data-dir={folder / 'profile'}"]
    done = subprocess.run(
        [browser, *options, *size, page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not [line for line in console if not _NOISE.search(line)], done.stderr
    match = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    assert match, done.stderr
    return dict(json.loads(html.unescape(match[1])))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("image", IMAGES)
def test_page(image: str, width: int, tmp_path: Path) -> None:
    report = json.loads(Path(f"{image}.report.json").read_text())
    found = look(image, width, tmp_path)
    (model,) = report["models"]
    assert found["errors"] == []
    assert found["nodes"] == len(model["ops"])
    for number in (report["instructions"], model["arena"]["bytes"], model["macs"]):
        assert f"{number:,}" in found["text"]
    for memory in report["memories"]:
        assert f"{memory['used']:,}" in found["text"]
    steps = found["steps"]
    assert steps["nothing"]["selected"] == [] and steps["nothing"]["places"] == []
    (first,) = steps["click"]["selected"]
    assert steps["click"]["marks"]
    assert {"graph", "memory", "speed", "quality"} <= set(steps["click"]["places"])
    op = next(op for op in model["ops"] if op["id"] == first)
    assert op["source"] in steps["click"]["inspector"]
    (after,) = steps["down"]["selected"]
    ids = [op["id"] for op in model["ops"]]
    assert ids.index(after) == ids.index(first) + 1
    assert steps["escape"]["selected"] == [] == steps["escape"]["places"]
    assert len(steps["enter"]["selected"]) == 1
    assert found["inSight"]
    assert found["themes"][0] != found["themes"][1]
    assert found["focusable"] and found["named"]
    assert found["overflow"] <= 0
    assert found["sizes"] and all(size > 0 for size in found["sizes"])
