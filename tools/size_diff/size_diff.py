# SPDX-License-Identifier: Apache-2.0
"""What changed in an image since a commit, or since a report that was kept.

    bazel run //tools:size_diff -- --base=HEAD~1 //boards:corstone300_app
    bazel run //tools:size_diff -- --base=kept.json //boards:corstone300_app
    bazel run //tools:size_diff -- --base=main --page=diff.html //boards:corstone300_app

Both images are built, and run on their simulator. A commit is checked out beside the workspace for
it, in a folder that goes away. A report is what `bazel build //boards:corstone300_app.report.json`
gives. --markdown writes the same for a pull request. Paths are relative to the folder that
`bazel run` is called in.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from absl import app, flags

from tools.size_diff.compare import as_markdown, as_page, as_text

_BASE = flags.DEFINE_string("base", None, "A commit, or a report.json.", required=True)
_MARKDOWN = flags.DEFINE_string("markdown", None, "File to write the differences to as Markdown.")
_PAGE = flags.DEFINE_string("page", None, "File to write the differences to as HTML.")


class DiffError(Exception):
    """There is nothing to compare; the text says why."""


def _run(command: list[str], folder: Path, doing: str) -> str:
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise DiffError(f"{doing} failed: {' '.join(command)}")
    return done.stdout


def built_report(root: Path, target: str) -> Any:
    """Builds an image's report in a copy of the sources, and reads it."""
    print(f"building {target}.report.json in {root}", file=sys.stderr)
    own = root / "tools/bazel"
    bazel = os.environ.get("BAZEL_REAL") or (str(own) if own.exists() else "bazel")
    label = f"{target}.report.json"
    _run([bazel, "build", label], root, f"building {label}")
    files = _run([bazel, "cquery", "--output=files", label], root, f"finding {label}").split()
    base = _run([bazel, "info", "execution_root"], root, "finding what was built").strip()
    return json.loads((Path(base) / files[-1]).read_text())


def report_of_commit(root: Path, commit: str, target: str) -> Any:
    """Builds the report in a folder with what a commit has."""
    folder = Path(tempfile.mkdtemp(prefix="size-diff-"))
    source = folder / "source"
    add = ["git", "worktree", "add", "--detach", "--quiet", str(source), commit]
    try:
        _run(add, root, f"checking out {commit}")
        return built_report(source, target)
    finally:
        if (source / "tools/bazel").exists():
            subprocess.run([source / "tools/bazel", "shutdown"], cwd=source, check=False)
        subprocess.run(["git", "worktree", "remove", "--force", str(source)], cwd=root, check=False)
        shutil.rmtree(folder, ignore_errors=True)


def main(argv: list[str]) -> int:
    if len(argv) != 2 or not argv[1].startswith("//"):
        raise app.UsageError("name one image, as //boards:corstone300_app")
    here = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    root = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    kept = here / _BASE.value
    try:
        if kept.is_file():
            before = json.loads(kept.read_text())
        else:
            before = report_of_commit(root, _BASE.value, argv[1])
        after = built_report(root, argv[1])
    except DiffError as error:
        print(error, file=sys.stderr)
        return 1
    print(as_text(before, after), end="")
    if _MARKDOWN.value:
        (here / _MARKDOWN.value).write_text(as_markdown(before, after))
    if _PAGE.value:
        (here / _PAGE.value).write_text(as_page(before, after))
    return 0


if __name__ == "__main__":
    app.run(main)
