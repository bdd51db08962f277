# SPDX-License-Identifier: Apache-2.0
"""Debian packages of any suite for repository rules, without root."""

_SOURCES = ["apt", "cache", "fetch", "prefix", "sources"]

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
    """Sets up a tool in the user's cache folder unless it is there already.

    Args:
        repository_ctx: of the calling rule.
        name: what is set up.
        suite: Debian suite.
        packages: names of packages; what they depend on comes with them.
        by_hand: what the user can do instead when it fails.
        without: packages taken as installed.
        keep: patterns of the files to keep, relative to the root of the packages.
        links: dict from path to target of symbolic links to add.
        checks: programs that must answer to `--version`.

    Returns:
        The path of the folder that holds `usr`.
    """
    for source in _SOURCES:
        script = repository_ctx.path(Label("//tools/debian:%s.py" % source))
    root = script.dirname.dirname.dirname
    python = repository_ctx.which("python3")
    if not python:
        fail("python3 is not on PATH; install Python 3.11 or later")
    arguments = [python, "-m", "tools.debian.fetch", "--name", name, "--suite", suite]
    for option, values in {
        "--check": checks,
        "--keep": keep,
        "--link": ["%s=%s" % item for item in links.items()],
        "--without": without,
    }.items():
        for value in values:
            arguments += [option, value]
    done = repository_ctx.execute(
        arguments + packages,
        timeout = 3600,
        environment = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(root)},
        quiet = False,
    )
    if done.return_code != 0:
        fail("%s could not be set up (see above): %s" % (name, by_hand))
    return repository_ctx.path(done.stdout.strip().splitlines()[-1])
