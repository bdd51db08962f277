# SPDX-License-Identifier: Apache-2.0
"""Checks that .bzl and BUILD files load only what every supported Bazel brings along.

Rules come from the Bazel that runs (WORKSPACE mode): those packaged with it, or with bazelisk
rules_cc 0.0.9, rules_python 0.24.0 and bazel_skylib 1.6.1. Files that only later versions have
would load on one machine and not on another. Actions go through `run_action` (tools/actions.bzl):
others drop the variables of --action_env.

    bazel run //tools/lint:loads
"""

from tools.text.stoppable import run_main

import re

from absl import app

from tools.lint.workspace import source_files, workspace_root

_ALLOWED = {
    "bazel_skylib": {"lib:selects.bzl", "rules:common_settings.bzl"},
    "bazel_tools": {"tools/build_defs/repo:utils.bzl", "tools/cpp:toolchain_utils.bzl"},
    "rules_cc": {
        "cc:action_names.bzl",
        "cc:cc_toolchain_config_lib.bzl",
        "cc:defs.bzl",
        "cc:find_cc_toolchain.bzl",
    },
    "rules_python": {"python:defs.bzl"},
}

_ACTIONS = "tools/actions.bzl"

# Repositories that Pilotlight makes, and its own.
_TOOLS = {"arm_gnu_toolchain", "buildifier", "host_gcc", "pilotlight", "python_env", "qemu"}


def wrong_loads(text: str) -> list[tuple[int, str]]:
    """Returns line number and label of each load that is not allowed."""
    found = []
    for match in re.finditer(r'^load\(\s*"@+([\w.-]+)//([^"]+)"', text, re.MULTILINE):
        repository, file = match.groups()
        if repository not in _TOOLS and file not in _ALLOWED.get(repository, ()):
            found.append((text.count("\n", 0, match.start()) + 1, f"@{repository}//{file}"))
    return found


def bare_actions(text: str) -> list[int]:
    """Returns the lines that run a program without the variables of --action_env."""
    calls = re.finditer(r"^(?!\s*#).*\.actions\.run(_shell)?\(", text, re.MULTILINE)
    return [text.count("\n", 0, match.start()) + 1 for match in calls]


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    root = workspace_root()
    files = source_files(root, ["*.bzl", "*BUILD.bazel", "*.BUILD", "*WORKSPACE"])
    wrong = 0
    for name in files:
        for line, label in wrong_loads((root / name).read_text(encoding="utf-8")):
            print(f"{name}:{line}: {label} is not part of every supported Bazel (see loads.py)")
            wrong += 1
        for line in [] if name == _ACTIONS else bare_actions((root / name).read_text("utf-8")):
            print(f"{name}:{line}: use run_action of //tools:actions.bzl")
            wrong += 1
    print(f"loads: {len(files)} files, {wrong} wrong lines")
    if wrong or not files:
        raise SystemExit(1)


if __name__ == "__main__":
    run_main(main)
