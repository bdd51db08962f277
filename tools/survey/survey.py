# SPDX-License-Identifier: Apache-2.0
"""Which models fit on which boards, and what they take there.

    bazel run //tools:survey -- --models=//aot/models/digits,//aot/models/resnet8 \\
        --boards=//boards/corstone300,//boards/microbit
    bazel run //tools:survey -- --models=//aot/models/digits --boards=//boards/corstone300 \\
        --quantization=int8,int16 --json=survey.json --page=survey.html

A model is a pte_model. Every combination becomes an image that runs on its board's simulator; one
that cannot be is refused, with the reason. One build makes all of them: as much of it as the
machine can at once, and elsewhere with flags of Bazel behind `--bazel=` (docs/scale.md). Without
--quantization models are as their targets say. Paths are relative to the folder that `bazel run` is
called in.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from absl import app, flags

from tools.survey.matrix import (
    PACKAGE,
    Cell,
    Outcome,
    as_json,
    as_page,
    as_text,
    build_file,
    cells,
    outcome,
    refusal,
)
from tools.text.progress import clear, show

_MODELS = flags.DEFINE_list("models", None, "Labels of pte_models.", required=True)
_BOARDS = flags.DEFINE_list("boards", None, "Labels of boards.", required=True)
_KINDS = flags.DEFINE_list("quantization", [], "As pte_model's: int8, int16, ...")
_JSON = flags.DEFINE_string("json", None, "File for the matrix as JSON.")
_PAGE = flags.DEFINE_string("page", None, "File for the matrix as HTML.")
_BAZEL = flags.DEFINE_multi_string("bazel", [], "A flag for the builds, such as --config=remote.")


class _Bazel:
    """Bazel in the workspace, with the survey's package beside it."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = root
        self._paths = f"--package_path=%workspace%:{folder}"
        self._program = os.environ.get("BAZEL_REAL") or str(root / "tools/bazel")

    def prepare(self, *arguments: str) -> None:
        """Builds what can be built. On a terminal Bazel shows how far it is, and nothing else."""
        command = [self._program, "build", self._paths, "--keep_going", *arguments]
        quiet = ["--ui_event_filters=", "--show_result=0", "--noshow_loading_progress"]
        said = None if sys.stderr.isatty() else subprocess.DEVNULL
        subprocess.run([*command, *quiet], cwd=self._root, stderr=said, check=False)

    def run(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self._program, command, self._paths, *arguments],
            cwd=self._root,
            capture_output=True,
            text=True,
            check=False,
        )

    def lowering_of(self, model: str) -> str:
        """The command that lowers a model."""
        done = self.run("query", "--output=streamed_jsonproto", f"{model}.lowering")
        if done.returncode:
            raise SystemExit(f"{model} is no pte_model:\n{done.stderr}")
        attributes = json.loads(done.stdout)["rule"]["attribute"]
        return next(str(a["stringValue"]) for a in attributes if a["name"] == "cmd")


def survey(bazel: _Bazel, folder: Path, matrix: list[Cell]) -> list[Outcome]:
    """Builds every image, and reads what came of each."""
    changed = sorted({cell.model for cell in matrix if cell.quantization})
    commands = {model: bazel.lowering_of(_full(model)) for model in changed}
    package = folder / PACKAGE
    package.mkdir()
    (package / "BUILD.bazel").write_text(build_file(matrix, commands))
    labels = {cell: f"//{PACKAGE}:{cell.name}.report.json" for cell in matrix}
    print(f"building {len(matrix)} images: the first time takes minutes", file=sys.stderr)
    bazel.prepare(*_BAZEL.value, *labels.values())
    found = []
    for number, (cell, label) in enumerate(labels.items(), 1):
        done = bazel.run("build", "--noshow_progress", "--color=no", *_BAZEL.value, label)
        if done.returncode:
            found.append(refusal(cell, done.stderr))
        else:
            listed = bazel.run("cquery", "--output=files", *_BAZEL.value, label).stdout.split()
            base = bazel.run("info", "execution_root").stdout.strip()
            found.append(outcome(cell, json.loads((Path(base) / listed[-1]).read_text())))
        show(f"reading image {number} of {len(matrix)}: {cell.name}")
    clear()
    return found


def _full(label: str) -> str:
    return label if ":" in label else f"{label}:{label.rsplit('/', 1)[-1]}"


def main(argv: list[str]) -> None:
    del argv
    here = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    root = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    matrix = cells(_MODELS.value, _BOARDS.value, _KINDS.value or [""])
    with tempfile.TemporaryDirectory(prefix="survey-") as folder:
        found = survey(_Bazel(root, Path(folder)), Path(folder), matrix)
    print(as_text(found))
    if _JSON.value:
        (here / _JSON.value).write_text(json.dumps(as_json(found), indent=1) + "\n")
    if _PAGE.value:
        (here / _PAGE.value).write_text(as_page(found))


if __name__ == "__main__":
    app.run(main)
