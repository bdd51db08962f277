# SPDX-License-Identifier: Apache-2.0
"""Reads tools/versions.env in repository rules."""

def read_versions(repository_ctx):
    """Reads all of the file.

    Args:
        repository_ctx: of the calling rule.

    Returns:
        A dict of strings by name.
    """
    versions = {}
    for line in repository_ctx.read(Label("//tools:versions.env")).splitlines():
        if line and not line.startswith("#"):
            key, _, value = line.partition("=")
            versions[key] = value.strip('"')
    return versions

def version_tuple(text):
    """Return the first number with dots in a text, such as `14.2.1`, as a tuple of ints.

    Args:
        text: for example the output of `--version`.

    Returns:
        A tuple, empty if the text has no such word.
    """
    for word in text.replace("(", " ").replace(")", " ").split(" "):
        parts = word.strip("\n").split(".")
        if len(parts) > 1 and all([part.isdigit() for part in parts]):
            return tuple([int(part) for part in parts])
    return ()
