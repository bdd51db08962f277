# SPDX-License-Identifier: Apache-2.0
"""Writes tools/python/requirements.txt anew from requirements.in, newest versions that fit.

bazel run //tools/python:requirements.update -- --upgrade
"""

from tools.text.stoppable import run_main

import os
import subprocess
import sys
from pathlib import Path

from absl import app, flags

_UPGRADE = flags.DEFINE_bool("upgrade", False, "Take newer versions of what is pinned already.")

_HEADER = """\
# All Python packages of the build, pinned: tools/bazel run //tools/python:requirements.update
"""


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    folder = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / "tools/python"
    options = ["--generate-hashes", "--allow-unsafe", "--strip-extras", "--quiet"]
    options += ["--no-annotate", "--no-header", "--no-emit-index-url", "--no-emit-find-links"]
    options += ["--no-emit-trusted-host", "--no-emit-options"]
    if _UPGRADE.value:
        options.append("--upgrade")
    lock = folder / "requirements.txt"
    print(f"resolving {folder / 'requirements.in'} (takes minutes)", flush=True)
    command = [sys.executable, "-m", "piptools", "compile", *options]
    subprocess.run([*command, f"--output-file={lock}", "requirements.in"], cwd=folder, check=True)
    pins = [line for line in lock.read_text().splitlines() if not line.startswith("#")]
    lock.write_text(_HEADER + "\n" + "\n".join(pins).strip() + "\n")


if __name__ == "__main__":
    run_main(main)
