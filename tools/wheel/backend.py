# SPDX-License-Identifier: Apache-2.0
"""Build the wheel for `pip install .`: call //tools/wheel, with the tree's Bazel.

PEP 517 defines these functions. A release's wheel needs neither the tree nor Bazel.
"""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

_TREE = Path(__file__).parents[2]


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    del config_settings, metadata_directory
    with tempfile.TemporaryDirectory() as folder:
        command = [f"{_TREE}/tools/bazel", "run", "//tools/wheel", "--", f"--output={folder}"]
        subprocess.run(command, cwd=_TREE, check=True)
        (wheel,) = Path(folder).iterdir()
        (Path(wheel_directory) / wheel.name).write_bytes(wheel.read_bytes())
        return wheel.name


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    raise RuntimeError("Pilotlight has no source package: use a checkout, or a release's wheel.")
