# SPDX-License-Identifier: Apache-2.0
import shutil
import subprocess
from pathlib import Path

import pytest

from tools.lint.workspace import source_files

FILES = ["a.py", "deep/er/b.py", "deep/skip/c.py", "d.c", "bazel-out/e.py", "new.py"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".gitignore").write_text("/bazel-*\n")
    return tmp_path


def test_without_git(tree: Path) -> None:
    assert source_files(tree, ["*.py"]) == ["a.py", "deep/er/b.py", "deep/skip/c.py", "new.py"]
    assert source_files(tree, ["deep/*.py"], ["deep/skip/*"]) == ["deep/er/b.py"]


@pytest.mark.skipif(not shutil.which("git"), reason="no git")
def test_with_git_also_new_files_but_no_removed_ones(tree: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    subprocess.run(["git", "add", "a.py", "deep", "d.c"], cwd=tree, check=True)
    (tree / "deep/er/b.py").unlink()
    assert source_files(tree, ["*.py"]) == ["a.py", "deep/skip/c.py", "new.py"]
