# SPDX-License-Identifier: Apache-2.0
"""Sizes of this repository's images, against a baseline.

    bazel run //measure/size_diff:images               prints what changed
    bazel run //measure/size_diff:images -- --update   accepts it

These are the images of a full test run. Use `nightly` in place of `images` for the images outside
of a full test run. The images of //measure/memory are in `memory`. The tests images_test,
nightly_test and memory_test fail in three cases. A memory of an image holds more than 1 % and 32
bytes more than in the baseline. An inference takes more than 1 % more instructions. The two do not
have the same images. Images of the repository outside of any baseline are listed.
"""

from tools.text.signal_handling import run_main

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from absl import flags

from boards.board import load_board
from tools.python.bazel import bazel_program
from tools.simulator.simulate import simulate
from tools.text.progress import counted
from tools.text.table import table

_SIZE = flags.DEFINE_multi_string("size", [], "size.json of an image.")
_RUN = flags.DEFINE_multi_string("run", [], "board.json,program.elf of what is counted.")
_BASELINES = {
    "images": "baseline.json",
    "memory": "baseline_memory.json",
    "nightly": "baseline_nightly.json",
}
_NAME = flags.DEFINE_enum("name", None, list(_BASELINES), "Of the target.", required=True)
_UPDATE = flags.DEFINE_bool("update", False, "Write the baseline into the source tree.")
_CHECK = flags.DEFINE_bool("check", False, "Fail where an image takes more.")

_TOLERANCE = 0.01
_BYTES = 32
_TIME_LIMIT = 240

Images = dict[str, dict[str, int]]
"""Sizes by image: bytes by `<memory>` and by `<memory>: <source>`, and `instructions`."""


def sizes(size: dict[str, Any]) -> dict[str, int]:
    """Return the sizes in an image's size.json, by memory and by source."""
    found = {}
    for memory in size["memories"]:
        if memory["used"]:
            found[memory["name"]] = memory["used"]
            found |= {f"{memory['name']}: {who}": n for who, n in memory["by_origin"].items()}
    return found


def instructions(board: Path, elf: Path) -> int:
    """Return the instructions of one inference."""
    run = simulate(elf, load_board(board), time_limit=_TIME_LIMIT, count=True)
    if run.counts is None:
        raise SystemExit(f"{elf.name}: {run.problem}")
    if 0 not in run.counts.regions:
        raise SystemExit(
            f"{elf.name} has no markers around its inference, so only its size can be compared"
        )
    inference = run.counts.regions[0]
    return inference.instructions // inference.entries


def label(path: str) -> str:
    """Return the image label for a file."""
    package, _, name = path.rpartition("/")
    return f"//{package}:{name.removesuffix('.elf').removesuffix('.size.json')}"


def measure() -> Images:
    """Measure the images given by flags."""
    found = {label(path): sizes(json.loads(Path(path).read_text())) for path in _SIZE.value}
    pairs = [pair.split(",") for pair in _RUN.value]
    for board, elf in counted(pairs, "counting image"):
        found[label(elf)]["instructions"] = instructions(Path(board), Path(elf))
    return found


def changes(before: Images, after: Images) -> list[tuple[str, ...]]:
    """Return rows of image, item, before, after and change."""
    rows: list[tuple[str, ...]] = []
    for image in sorted(before | after):
        old, new = before.get(image, {}), after.get(image, {})
        for key in old | new:
            a, b = old.get(key, 0), new.get(key, 0)
            if a != b:
                rows.append((image, key, f"{a:,}", f"{b:,}", f"{b - a:+,}"))
    return rows


def too_much(before: Images, after: Images) -> list[str]:
    """Return images over the tolerance, and images missing on one side."""
    found = [f"{image}: not in both" for image in sorted(before.keys() ^ after.keys())]
    for image in sorted(before.keys() & after.keys()):
        old, new = before[image], after[image]
        for key in (key for key in old if ":" not in key):
            if key not in new:
                found.append(f"{image}: {key} is not measured any more")
                continue
            slack = 0 if key == "instructions" else _BYTES
            if new[key] > old[key] * (1 + _TOLERANCE) and new[key] > old[key] + slack:
                found.append(f"{image}: {key} {old[key]:,} -> {new[key]:,}")
    return found


def verdict(name: str, before: Images, after: Images) -> str:
    """Return the excess over a target's baseline and the command to accept it, or ""."""
    more = too_much(before, after)
    if not more:
        return ""
    head = f"More than in measure/size_diff/{_BASELINES[name]}:"
    accept = f"If it has to be: bazel run //measure/size_diff:{name} -- --update"
    return "\n".join([head, *more, accept])


def unlisted(root: Path, listed: Iterable[str]) -> list[str]:
    """Return a workspace's images without a baseline."""
    command = [bazel_program(root), "query", "--noshow_progress", "kind(_firmware_image, //...)"]
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True, check=True)
    return sorted(set(done.stdout.split()).difference(listed))


def main(argv: list[str]) -> int:
    del argv
    after = measure()
    baseline = _BASELINES[_NAME.value]
    before: Images = json.loads((Path(__file__).parent / baseline).read_text())
    rows = changes(before, after)
    head = ("image", "", "before", "after", "change")
    print(table([head, *rows], "llrrr") if rows else f"{len(after)} images, nothing changed")
    if _UPDATE.value:
        folder = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / "measure/size_diff"
        text = json.dumps(dict(sorted(after.items())), indent=1)
        (folder / baseline).write_text(text + "\n")
    if not _CHECK.value:
        files = (Path(__file__).parent / file for file in _BASELINES.values())
        listed = [image for file in files for image in json.loads(file.read_text())]
        missing = unlisted(Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]), [*listed, *after])
        if missing:
            print("In no baseline:", *missing, sep="\n")
    more = verdict(_NAME.value, before, after)
    if _CHECK.value and more:
        print(f"\n{more}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    run_main(main)
