# SPDX-License-Identifier: Apache-2.0
"""The sources in another folder, built by somebody with another home."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.bootstrap.cache import cache_root
from tools.lint.workspace import source_files

# Cache entries left out of the copy: entries other than tools, and tools of other tests only.
_OWN = ("buildgrid-*", "chromium-*", "disk", "locks", "nginx-*", "postgresql-*")


@dataclass(frozen=True)
class Action:
    """Action requested by a build: its output and its runner."""

    mnemonic: str
    output: str
    runner: str
    key: dict[str, str] = field(repr=False)
    """Parts of its key, by kind: arguments, variables, checksums of inputs."""

    def changes(self, other: Action) -> list[str]:
        """Return the entries with different values in the two keys."""
        return sorted(n for n in self.key | other.key if self.key.get(n) != other.key.get(n))


class Clone:
    """Copy of the sources, with a home folder containing copies of the installed tools."""

    def __init__(self, folder: Path, root: Path):
        self.folder = folder
        self._source = folder / f"sources-{folder.name}"
        self._home = folder / f"home-{folder.name}"
        for name in source_files(root, ["*"]):
            (self._source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, self._source / name)
        tools = self._home / ".cache/pilotlight"
        tools.mkdir(parents=True)
        for tool in cache_root().iterdir():
            if not any(tool.match(pattern) for pattern in _OWN):
                # Hard links take no space, if both folders are on one file system.
                names = [str(tool), str(tools)]
                if subprocess.run(["cp", "-al", *names], capture_output=True).returncode:
                    subprocess.run(["cp", "-a", *names], check=True)

    def bazel(self, command: str, *arguments: str) -> str:
        environment = {"HOME": str(self._home), "PATH": os.environ["PATH"], "USER": "test"}
        done = subprocess.run(
            ["tools/bazel", command, *arguments],
            cwd=self._source,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-8000:]
        return done.stdout

    def run(self, command: str, targets: Sequence[str], *options: str) -> list[Action]:
        """Build or test without a local cache, and return the actions of the build."""
        log = self.folder / "execution.json"
        # An upload may take long on a busy machine. Bazel would continue without it.
        flags = [
            "--disk_cache=",
            "--remote_timeout=3600",
            f"--execution_log_json_file={log}",
            "--jobs=2",
            *options,
        ]
        try:
            self.bazel(command, *flags, "--", *targets)
        finally:
            self.bazel("shutdown")
        return [_action(fields) for fields in _values(log.read_text())]

    def outputs(self) -> dict[str, str]:
        """Return the checksum of each built file, by its path."""
        root = (self._source / "bazel-out").resolve()
        files = [path for path in root.glob("*/bin/**/*") if path.is_file()]
        links = [path for path in files if ".runfiles" not in str(path)]
        return {
            str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in links
        }


def _action(fields: dict[str, Any]) -> Action:
    outputs = fields.get("listedOutputs") or [fields["targetLabel"]]
    key = {f"argument {i}": text for i, text in enumerate(fields.get("commandArgs", []))}
    key |= {f"variable {v['name']}": v["value"] for v in fields.get("environmentVariables", [])}
    key |= {i["path"]: i.get("digest", {}).get("hash", "") for i in fields.get("inputs", [])}
    return Action(fields["mnemonic"], outputs[0], fields["runner"], key)


def _values(text: str) -> list[dict[str, Any]]:
    """Parse Bazel's log: a sequence of JSON values."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        found.append(value)
        while at < len(text) and text[at].isspace():
            at += 1
    return found
