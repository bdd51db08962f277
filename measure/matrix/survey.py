# SPDX-License-Identifier: Apache-2.0
"""Fit of models on boards, and their cost there.

    bazel run //tools:survey -- --models=//aot/models/digits,//aot/models/resnet8 \\
        --boards=//boards/corstone300,//boards/microbit
    bazel run //tools:survey -- --models=//aot/models/digits --boards=//boards/corstone300 \\
        --quantization=int8,int16 --json=survey.json --page=survey.html

A model is a pte_model. Every combination becomes an image that runs on its board's simulator. An
impossible combination is refused, with the reason. One build makes all images, with as many
parallel actions as the machine allows. Put flags of Bazel for other machines after `--bazel=`
(docs/scale.md). Without --quantization models keep the quantization of their targets. If your
workspace uses Pilotlight as a module, the tool is @pilotlight//tools:survey. Boards are then
@pilotlight//boards/corstone300 or your own. Paths are relative to the folder of the `bazel run`
call.
"""

from tools.text.signal_handling import run_main

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from absl import app, flags

from measure.matrix.matrix import (
    PACKAGE,
    Cell,
    MatrixModel,
    SurveyError,
    as_written,
    attributes,
    build_file,
    cells,
    lowering_labels,
)
from measure.matrix.outcome import Outcome, as_json, as_page, as_text, outcome, refusal
from tools.python.bazel import bazel_program
from tools.text.progress import clear, show

_MODELS = flags.DEFINE_list("models", None, "Labels of pte_models.", required=True)
_BOARDS = flags.DEFINE_list("boards", None, "Labels of boards.", required=True)
_KINDS = flags.DEFINE_list("quantization", [], "As pte_model's: int8, int16, ...")
_KERNELS = flags.DEFINE_list("kernels", [], "Labels of kernels of your own that models need.")
_JSON = flags.DEFINE_string("json", None, "File for the matrix as JSON.")
_PAGE = flags.DEFINE_string("page", None, "File for the matrix as HTML.")
_BAZEL = flags.DEFINE_multi_string("bazel", [], "A flag for the builds, such as --config=remote.")


class _Bazel:
    """Bazel in the workspace, with the survey's package added."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = root
        self._paths = f"--package_path=%workspace%:{folder}"
        self._program = bazel_program(root)
        self.pilotlight = "" if (root / "firmware/apps/check_image.bzl").exists() else "@pilotlight"
        # Whoever may build a model may look at it.
        self.flags = ["--nocheck_visibility", *_BAZEL.value]

    def prepare(self, *labels: str) -> None:
        """Build all targets that build. On a terminal Bazel shows only its progress."""
        command = [self._program, "build", self._paths, "--keep_going", *self.flags, *labels]
        quiet = ["--ui_event_filters=", "--show_result=0", "--noshow_loading_progress"]
        said = None if sys.stderr.isatty() else subprocess.DEVNULL
        subprocess.run([*command, *quiet], cwd=self._root, stderr=said, check=False)

    def run(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self._program, command, self._paths, *arguments],
            cwd=self._root,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )

    def rules(self, labels: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return the BUILD attributes of some targets; files have none.

        Each label takes one call: Bazel writes labels of other repositories in its own way.
        """
        found = {}
        for label in labels:
            # Quoted, because letters such as ö would end the name.
            done = self.run("query", "--output=streamed_jsonproto", f'"{label}"')
            if done.returncode:
                errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR: ")]
                raise SurveyError(errors[0].removeprefix("ERROR: ") if errors else done.stderr)
            one = json.loads(as_written(done.stdout))
            found[label] = attributes(one["rule"]) if one["type"] == "RULE" else {}
        return found


def _models(bazel: _Bazel, matrix: Sequence[Cell]) -> dict[str, MatrixModel]:
    """Return the models by label. Raise an error for labels of other rules."""
    rules = bazel.rules({label: None for cell in matrix for label in (cell.model, cell.board)})
    for name, kind, named in (
        ("pte_model", "lowered", {cell.model for cell in matrix}),
        ("board", "board_rule", {cell.board for cell in matrix}),
    ):
        for label in sorted(named):
            if rules[label].get("rule class") != kind:
                raise SurveyError(f"{label} is not a {name}")
    labels = {m: lowering_labels(rules[m]) for m in {cell.model for cell in matrix}}
    lowerings = bazel.rules(label for engines in labels.values() for label in engines.values())
    return {
        model: MatrixModel(
            {engine: lowerings[label] for engine, label in engines.items()},
            rules[model]["optimize"],
        )
        for model, engines in labels.items()
    }


def survey(bazel: _Bazel, folder: Path, matrix: list[Cell]) -> list[Outcome]:
    """Build every image, and read its outcome."""
    models = _models(bazel, matrix)
    built = [c for c in matrix if not (c.quantization and models[c.model].is_quantized)]
    package = folder / PACKAGE
    package.mkdir()
    (package / "BUILD.bazel").write_text(
        build_file(built, models, _KERNELS.value, bazel.pilotlight)
    )
    labels = {cell: f"//{PACKAGE}:{cell.name}.report.json" for cell in built}
    print(f"building {len(built)} images: the first time takes minutes", file=sys.stderr)
    bazel.prepare(*labels.values())
    base = Path(bazel.run("info", "execution_root").stdout.strip())
    found = []
    for number, cell in enumerate(matrix, 1):
        show(f"reading image {number} of {len(matrix)}: {cell.model} on {cell.board}")
        if cell not in labels:
            why = "its .tflite file is quantized: remove --quantization"
            found.append(Outcome(cell.model, cell.board, cell.quantization, refused=why))
            continue
        label = labels[cell]
        done = bazel.run("build", "--noshow_progress", "--color=no", *bazel.flags, label)
        if done.returncode:
            found.append(refusal(cell, done.stderr))
        else:
            listed = bazel.run("cquery", "--output=files", *bazel.flags, label).stdout.split()
            found.append(outcome(cell, json.loads((base / listed[-1]).read_text())))
    clear()
    return found


def main(argv: list[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected argument {argv[1]}; write lists without spaces")
    here = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    root = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    try:
        for path in [here / name for name in (_JSON.value, _PAGE.value) if name]:
            if not os.access(path.parent, os.W_OK):
                raise SurveyError(f"{path}: the folder is not writable")
        matrix = cells(_MODELS.value, _BOARDS.value, _KINDS.value or [""])
        with tempfile.TemporaryDirectory(prefix="survey-") as folder:
            found = survey(_Bazel(root, Path(folder)), Path(folder), matrix)
    except SurveyError as error:
        print(error, file=sys.stderr)
        return 1
    print(as_text(found))
    if _JSON.value:
        (here / _JSON.value).write_text(json.dumps(as_json(found), indent=1) + "\n")
    if _PAGE.value:
        (here / _PAGE.value).write_text(as_page(found))
    return 0


if __name__ == "__main__":
    run_main(main)
