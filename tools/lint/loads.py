# SPDX-License-Identifier: Apache-2.0
"""Check .bzl and BUILD files for loads missing in some supported Bazel.

Rules come from the running Bazel (WORKSPACE mode): those packaged with it, or with bazelisk
rules_cc 0.0.9, rules_python 0.24.0 and bazel_skylib 1.6.1. A file of later versions only would load
on one machine and not on another. Actions use `run_action` (tools/actions.bzl): other functions
drop the variables of --action_env.

    bazel run //tools/lint:loads
"""

from tools.text.signal_handling import run_main

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

# Repositories made by Pilotlight, and its own.
_TOOLS = {"arm_gnu_toolchain", "buildifier", "host_gcc", "pilotlight", "python_env", "qemu"}


def wrong_loads(text: str) -> list[tuple[int, str]]:
    """Return line number and label of each forbidden load."""
    found = []
    for match in re.finditer(r'^load\(\s*"@+([\w.-]+)//([^"]+)"', text, re.MULTILINE):
        repository, file = match.groups()
        if repository not in _TOOLS and file not in _ALLOWED.get(repository, ()):
            found.append((text.count("\n", 0, match.start()) + 1, f"@{repository}//{file}"))
    return found


def bare_actions(text: str) -> list[int]:
    """Return the lines running a program without the variables of --action_env."""
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
