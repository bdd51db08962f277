# SPDX-License-Identifier: Apache-2.0
"""The page in a browser: it draws the JSON's contents, and a click or a key selects everywhere.

A script at the end of a copy of the page acts like a reader and records the results.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tools.report.browser import browse
from tools.report.cycles import with_cycles
from tools.report.libraries import libraries
from tools.report.page import LIMIT, page
from tools.report.pictures import PICTURES, Picture, take
from tools.report.testing import cycles_of, many

# Images of a core, of an NPU, and of a program without inference marks.
IMAGES = (
    "boards/corstone300_app",
    "boards/corstone300_ethos_u55_app",
    "examples/keywords/keywords_app",
)
WIDTHS = (1280, 390)

_NOISE = re.compile(r"dbus|bluez|Floss|GPU|gpu|vulkan|fontconfig|font config|oom_score|inotify")

_READERS = Path("tools/report")


def look(text: str, reader: str, width: int, folder: Path) -> dict[str, Any]:
    """Open a page and return the results of the reader script."""
    script = (_READERS / reader).read_text()
    done = browse(text, script, (width, 844), folder, "--dump-dom")
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not [line for line in console if not _NOISE.search(line)], done.stderr
    match = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    assert match, done.stderr
    found = dict(json.loads(html.unescape(match[1])))
    assert found["width"] == width
    return found


_LONG = "ConvolutionWithTheNameOfEverythingThatItDoesAndThatNoColumnIsWideEnoughFor"


def with_long_names(report: dict[str, Any]) -> dict[str, Any]:
    """Return the report with a class name too long for any column."""
    text = json.dumps(report).replace("Conv2d", _LONG)
    return dict(json.loads(text))


# All there is in the page, then ever less; of the last most ops are but nodes of the graph.
@pytest.mark.parametrize(
    ("times", "width"), [(20, 1280), (20, 390), (300, 1280), (600, 390), (1000, 1280)]
)
def test_many_ops_are_seen_by_module(times: int, width: int, tmp_path: Path) -> None:
    report = json.loads(Path(f"{IMAGES[0]}.report.json").read_text())
    report = with_long_names(many(report, times))
    text = page(report, libraries())
    assert len(text) <= LIMIT
    assert (len(report["models"][0]["ops"]) > 1000) == (times != 20)
    if times == 20:
        text = text.replace("let byOp = true;", "let byOp = false;")
    found = look(text, "reader_of_many.js", width, tmp_path)
    assert found["errors"] == []
    every = [op["id"] for op in report["models"][0]["ops"]]
    for nodes in (found["first"], found["opened"], found["reached"]):
        nodes.sort(key=lambda ids: int(ids[0]))
        assert [op for node in nodes for op in node] == every
    assert 2 <= len(found["first"]) <= 60
    assert found["closed"] == len(found["first"]) < len(found["opened"]) < len(found["reached"])
    assert len(found["beside"]) == len(found["first"]) and found["canOpen"] == [True, False]
    largest = max(found["first"], key=lambda ids: len(" ".join(ids)))
    assert found["selected"] == largest
    assert all(f"\n{op} " in f"\n{found['inspector']}" for op in largest) or (
        len(largest) > 12 and f"{len(largest):,} ops" in found["inspector"]
    )
    step = report["models"][0]["steps"][-1]
    assert step["ops"] == [every[-1]] and f"{step['instructions']:,} (" in found["last"]
    # All nodes hang together, and none reads a later one.
    order = {id_: i for i, id_ in enumerate(ids[0] for ids in found["reached"])}
    edges = [[one.split(" to ")[0] for one in edge] for edge in found["edges"]]
    inner = [(order[a], order[b]) for a, b in edges if a in order and b in order]
    assert all(a < b for a, b in inner)
    assert {b for _, b in inner} == set(range(1, len(order)))
    assert found["inSight"] and found["named"] and found["overflow"] <= 0
    assert width < 1280 or found["cut"] == 0
    assert found["buttons"] == (["by-op"] if times == 20 else []) + ["by-part", "open"]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("image", IMAGES)
def test_page(image: str, width: int, tmp_path: Path) -> None:
    report = json.loads(Path(f"{image}.report.json").read_text())
    found = look(Path(f"{image}.report.html").read_text(), "reader.js", width, tmp_path)
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
    assert found["texts"] > 100 and found["overlaps"] == []
    assert found["sizes"] and all(size > 0 for size in found["sizes"])


def test_plans_that_the_image_does_not_name_are_missed(tmp_path: Path) -> None:
    report = json.loads(Path(f"{IMAGES[0]}.report.json").read_text())
    text = page(report | {"unnamed_plans": 2}, libraries())
    found = look(text, "reader.js", WIDTHS[0], tmp_path)
    assert found["errors"] == []
    assert "Not listed: steps of 2 plans that the image's plan does not name." in found["text"]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("simulated", [True, False])
def test_cycles_of_a_board(simulated: bool, width: int, tmp_path: Path) -> None:
    report = json.loads(Path(f"{IMAGES[0]}.report.json").read_text())
    profile = cycles_of(report)
    if not simulated:
        (model,) = report["models"]
        steps = [step | {"instructions": None} for step in model["steps"]]
        report |= {"instructions": None, "not_counted": "QEMU has no machine for the board"}
        report["models"] = [model | {"steps": steps}]
    counted = with_cycles(report, profile)
    found = look(page(counted, libraries()), "reader.js", width, tmp_path)
    assert found["errors"] == [] and found["overflow"] <= 0 and found["overlaps"] == []
    every = [step["cycles"] for step in profile["steps"]]
    text = found["text"].replace("\n", " ")
    assert f"{sum(every):,} cycles in the steps of an inference, by the core's own counter" in text
    assert all(f"{cycles:,}" in text for cycles in every)
    assert ("Not counted: QEMU has no machine for the board." in text) != simulated
    assert f"cycles\n{every[1]:,} (" in found["steps"]["down"]["inspector"]


@pytest.mark.parametrize("picture", PICTURES[:2], ids=lambda picture: picture.name)
def test_the_docs_have_pictures_of_the_pages(picture: Picture, tmp_path: Path) -> None:
    taken = tmp_path / f"{picture.name}.webp"
    take(picture, taken, tmp_path)
    assert taken.read_bytes()[:4] == b"RIFF" and taken.stat().st_size > 10_000
