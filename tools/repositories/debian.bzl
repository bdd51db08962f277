# SPDX-License-Identifier: Apache-2.0
"""Debian packages of any suite for repository rules, without root."""

load("//tools/repositories:bootstrap.bzl", "run_bootstrap")

def fetch_debian(
        repository_ctx,
        name,
        suite,
        packages,
        by_hand,
        without = [],
        keep = [],
        links = {},
        checks = []):
    """Set up a tool in the user's cache folder unless it exists already.

    Args:
        repository_ctx: of the calling rule.
        name: name of the tool.
        suite: Debian suite.
        packages: names of packages; their dependencies are included.
        by_hand: alternative for the user after a failure.
        without: packages assumed to be installed.
        keep: patterns of the files to keep, relative to the root of the packages.
        links: dict from path to target of symbolic links to add.
        checks: programs that must answer to `--version`.

    Returns:
        The path of the folder containing `usr`.
    """
    arguments = ["--name", name, "--suite", suite]
    for option, values in {
        "--check": checks,
        "--keep": keep,
        "--link": ["%s=%s" % item for item in links.items()],
        "--without": without,
    }.items():
        for value in values:
            arguments += [option, value]
    return repository_ctx.path(run_bootstrap(
        repository_ctx,
        program = "fetch",
        arguments = arguments + packages,
        problem = "%s could not be set up (see above): %s" % (name, by_hand),
    ))
