# SPDX-License-Identifier: Apache-2.0
"""Which Bazel programs call that Bazel has started."""

import os
from pathlib import Path

_OWN = Path(__file__).parents[1] / "bazel"


def bazel_program(root: Path) -> str:
    """Returns the program for a workspace: its own tools/bazel, else Pilotlight's, which takes an
    installed Bazel where there is one. bazelisk names its own.

    Args:
      root: folder of the workspace.
    """
    own = root / "tools/bazel"
    return os.environ.get("BAZEL_REAL") or str(own if own.exists() else _OWN.resolve())
