# SPDX-License-Identifier: Apache-2.0
"""Choice of Bazel for programs started by Bazel, and the start options of its server."""

import os
from pathlib import Path

_OWN = Path(__file__).parents[1] / "bazel"


def bazel_program(root: Path) -> str:
    """Return the program for a workspace: its own tools/bazel, else Pilotlight's. Pilotlight's uses
    an installed Bazel if there is one. Bazelisk's program in BAZEL_REAL has priority.

    Args:
      root: folder of the workspace.
    """
    own = root / "tools/bazel"
    return os.environ.get("BAZEL_REAL") or str(own if own.exists() else _OWN.resolve())


def startup_options(root: Path) -> str:
    """Return the startup lines of a workspace's .bazelrc for its server."""
    lines = (root / ".bazelrc").read_text().splitlines()
    return "".join(f"{line}\n" for line in lines if line.startswith("startup "))
