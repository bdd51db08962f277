# SPDX-License-Identifier: Apache-2.0
"""Differences of an image since a commit, or since a kept report.

    bazel run //tools:size_diff -- --base=HEAD~1 //boards:corstone300_app
    bazel run //tools:size_diff -- --base=kept.json //boards:corstone300_app
    bazel run //tools:size_diff -- --base=main --page=diff.html //boards:corstone300_app

Both images are built, and run on their simulator. A commit is checked out in a temporary folder
next to the repository. A report is the output of `bazel build
//boards:corstone300_app.report.json`. --markdown writes the same for a pull request. If your
workspace uses Pilotlight as a module, the tool is @pilotlight//tools:size_diff. Paths are relative
to the folder of the `bazel run` call.
"""

from tools.text.signal_handling import run_main

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from absl import app, flags

from measure.size_diff.compare import as_markdown, as_page, as_text
from tools.python.bazel import bazel_program
from tools.report.join import FORMAT

_BASE = flags.DEFINE_string("base", None, "A commit, or a report.json.", required=True)
_MARKDOWN = flags.DEFINE_string("markdown", None, "File to write the differences to as Markdown.")
_PAGE = flags.DEFINE_string("page", None, "File to write the differences to as HTML.")


class DiffError(Exception):
    """There is nothing to compare; the text gives the reason."""


def _run(command: list[str], folder: Path, doing: str) -> str:
    try:
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
    except OSError as error:
        raise DiffError(f"{doing} failed: {error}") from error
    if done.returncode != 0:
        raise DiffError(f"{doing} failed: {' '.join(command)}")
    return done.stdout


def built_report(root: Path, target: str) -> Any:
    """Build an image's report in a copy of the sources, and reads it.

    Raises:
      DiffError: it cannot be built, or the target is no image: models have reports, too.
    """
    print(f"building {target}.report.json in {root}", file=sys.stderr)
    bazel = bazel_program(root)
    label = f"{target}.report.json"
    _run([bazel, "build", label], root, f"building {label}")
    files = _run([bazel, "cquery", "--output=files", label], root, f"finding {label}").split()
    base = _run([bazel, "info", "execution_root"], root, "finding what was built").strip()
    report = json.loads((Path(base) / files[-1]).read_text())
    if "advice" not in report:
        raise DiffError(
            f"{target} is not an image: give the label of a firmware_image, or of a macro that "
            "makes one"
        )
    return report


def kept_report(path: Path, target: str) -> Any:
    """Read a kept report."""
    try:
        report = json.loads(path.read_text())
    except ValueError:
        report = None
    known = report.get("format") if isinstance(report, dict) and "advice" in report else None
    if known != FORMAT:
        what = "no report of an image" if known is None else f"a report of format {known}"
        raise DiffError(
            f"{path} is {what}; give the file that `bazel build {target}.report.json` makes"
        )
    return report


def _git(root: Path, *arguments: str) -> str:
    """Return git's output for the workspace's repository, or "" if it has none."""
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return "" if done.returncode else done.stdout.strip()


def commit_of(root: Path, base: str) -> str:
    """Return the commit for --base."""
    commit = _git(root, "rev-parse", "--verify", "--quiet", f"{base}^{{commit}}")
    if not commit:
        raise DiffError(f"--base={base} is neither a file nor a commit of {root}")
    return commit


def report_of_commit(root: Path, base: str, target: str) -> Any:
    """Build the report in a folder with a commit's files."""
    commit = commit_of(root, base)
    top = Path(_git(root, "rev-parse", "--show-toplevel"))
    # Next to the repository: paths out of it then lead to the same place, e.g. to Pilotlight's
    # copy.
    beside = top.parent if os.access(top.parent, os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix=f".{top.name}-size-diff-", dir=beside))
    add = ["git", "worktree", "add", "--detach", "--quiet", str(folder), commit]
    source = folder / _git(root, "rev-parse", "--show-prefix")
    try:
        _run(add, root, f"checking out {base}")
        if (folder / ".gitmodules").exists():
            update = ["git", "submodule", "update", "--init", "--recursive", "--quiet"]
            _run(update, folder, f"checking out the modules of {base}")
        if not source.is_dir():
            raise DiffError(f"{base} has no {source.relative_to(folder)}")
        return built_report(source, target)
    finally:
        if source.is_dir():
            clean = [bazel_program(source), "clean", "--expunge"]
            subprocess.run(clean, cwd=source, capture_output=True, check=False)
        subprocess.run(["git", "worktree", "remove", "--force", folder], cwd=root, check=False)
        shutil.rmtree(folder, ignore_errors=True)


def main(argv: list[str]) -> int:
    if len(argv) != 2 or not argv[1].startswith(("//", "@")):
        raise app.UsageError("give one image, such as //boards:corstone300_app")
    here = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    root = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    kept = here / _BASE.value
    try:
        for path in [here / name for name in (_MARKDOWN.value, _PAGE.value) if name]:
            if not os.access(path.parent, os.W_OK):
                raise DiffError(f"{path}: the folder is not writable")
        if kept.is_file():
            before = kept_report(kept, argv[1])
            after = built_report(root, argv[1])
        else:
            commit = commit_of(root, _BASE.value)
            after = built_report(root, argv[1])  # first: its errors appear soon
            before = report_of_commit(root, commit, argv[1])
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
    run_main(main)
