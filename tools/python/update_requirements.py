# SPDX-License-Identifier: Apache-2.0
"""Writes requirements.txt, checks.txt, docs.txt and proofs.txt anew, newest versions that fit.

bazel run //tools/python:requirements.update -- --upgrade
"""

from tools.text.signal_handling import run_main

import os
import re
import subprocess
import sys
from pathlib import Path

from absl import app, flags

_UPGRADE = flags.DEFINE_bool("upgrade", False, "Take newer versions of what is pinned already.")

_UPDATE = "tools/bazel run //tools/python:requirements.update"
_HEADERS = {
    "requirements": "# Python packages of the build, pinned:",
    "docs": "# Python packages of the site, pinned, beside those of requirements.txt:",
    "proofs": "# Python packages of proofs, pinned, beside those of requirements.txt:",
    "checks": "# Python packages of tests and lint, pinned, beside those of requirements.txt:",
}

# Dependencies of ExecuTorch for parts nothing here imports.
_NOT_IMPORTED = {
    "coremltools",
    "expecttest",
    "hydra-core",
    "hypothesis",
    "kgb",
    "omegaconf",
    "pandas",
    "parameterized",
    "pytorch-tokenizers",
}


def wanted_pins(text: str, asked: str, leave_out: set[str]) -> list[str]:
    """Return the pins of packages required by at least one package not left out.

    Args:
        text: of pip-compile, with annotations.
        asked: name of its input file.
        leave_out: names of unwanted packages.
    """
    pins, parents = {}, {}
    for block in re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]:
        name = block.partition("==")[0]
        notes = re.findall(r"^ +# +(?:via +)?(\S.*)$", block, re.MULTILINE)
        parents[name] = {note for note in notes if note != "via"}
        lines = [line for line in block.splitlines() if line and not line.lstrip().startswith("#")]
        pins[name] = "\n".join(lines)
    kept = {f"-r {asked}"}
    while True:
        more = {name for name, who in parents.items() if who & kept} - leave_out - kept
        if not more:
            return [pins[name] for name in sorted(kept & pins.keys())]
        kept |= more


def _compile(folder: Path, name: str, leave_out: set[str]) -> set[str]:
    """Write one lock file and return the names of its packages."""
    print(f"resolving {folder / name}.in (takes minutes)", flush=True)
    options = ["--generate-hashes", "--allow-unsafe", "--strip-extras", "--quiet"]
    options += ["--no-header", "--no-emit-index-url", "--no-emit-find-links"]
    options += ["--no-emit-trusted-host", "--no-emit-options"]
    if _UPGRADE.value:
        options.append("--upgrade")
    lock = folder / f"{name}.txt"
    command = [sys.executable, "-m", "piptools", "compile", *options]
    subprocess.run([*command, f"--output-file={lock}", f"{name}.in"], cwd=folder, check=True)
    pins = wanted_pins(lock.read_text(), f"{name}.in", leave_out)
    lock.write_text(f"{_HEADERS[name]} {_UPDATE}\n\n" + "\n".join(pins) + "\n")
    return {pin.partition("==")[0] for pin in pins}


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    folder = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / "tools/python"
    of_build = _compile(folder, "requirements", _NOT_IMPORTED)
    _compile(folder, "checks", of_build)
    _compile(folder, "docs", of_build)
    _compile(folder, "proofs", of_build)


if __name__ == "__main__":
    run_main(main)
