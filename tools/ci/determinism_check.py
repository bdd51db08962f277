# SPDX-License-Identifier: Apache-2.0
"""Build targets twice from scratch, in two folders, and compare the outputs byte for byte.

    tools/bazel run //tools/ci:determinism_check -- TARGET...      (default: //...)

Each build has its own copy of the sources in its own folder, and no cache. It therefore takes more
than twice as long as a first build. The exit status is 1 if any output differs; the outputs are
then kept.
"""

from tools.text.signal_handling import run_main

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.lint.workspace import source_files, workspace_root


class _Build:
    """Copy of the sources and the outputs built from them."""

    def __init__(self, folder: Path, root: Path):
        self._source = folder / "source"
        self._base = folder / "base"
        for name in source_files(root, ["*"]):
            (self._source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, self._source / name)

    def _bazel(self, command: str, *arguments: str) -> str:
        return subprocess.run(
            ["tools/bazel", f"--output_base={self._base}", command, *arguments],
            cwd=self._source,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout

    def outputs(self, targets: Sequence[str]) -> dict[str, dict[str, str]]:
        """Build and return the checksums of the files of each output, by its path."""
        try:
            self._bazel("build", "--disk_cache=", "--", *targets)
            query = f"set({' '.join(targets)})"
            listed = self._bazel("cquery", "--disk_cache=", "--output=files", query).splitlines()
        finally:
            self._bazel("shutdown")
        root = self._base / "execroot/pilotlight"
        return {name: digests(root / name) for name in listed if name.startswith("bazel-out/")}


def digests(path: Path) -> dict[str, str]:
    """Return the checksum of a file, or of each file in a folder."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return {
        str(file.relative_to(path)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
        if file.is_file()
    }


def differences(first: dict[str, dict[str, str]], second: dict[str, dict[str, str]]) -> list[str]:
    """Return the outputs that differ between the builds, or exist in only one."""
    return sorted(name for name in first | second if first.get(name) != second.get(name))


def main(argv: list[str]) -> None:
    targets = argv[1:] or ["//..."]
    root = workspace_root()
    folder = Path(tempfile.mkdtemp(prefix="determinism-"))
    builds = [_Build(folder / name, root) for name in ("first", "second")]
    first, second = [build.outputs(targets) for build in builds]
    if not first:
        raise SystemExit(f"{' '.join(targets)}: these targets build nothing")
    different = differences(first, second)
    for name in different:
        print(f"differs: {name}")
    print(f"{len(first)} outputs, {len(different)} differ")
    if different:
        raise SystemExit(f"the outputs of both builds are in {folder}")
    subprocess.run(["chmod", "-R", "u+w", folder], check=True)
    shutil.rmtree(folder)


if __name__ == "__main__":
    run_main(main)
