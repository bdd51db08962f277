# SPDX-License-Identifier: Apache-2.0
"""What Python calls a source file of the workspace."""

def module_name(package, source):
    """Makes a module's name of a file's place.

    Args:
      package: that the file is in, "" for the workspace's root.
      source: the file, in or below the package: `model.py`, `:model.py` or `nets/model.py`.

    Returns:
      The name that it is imported by, `package.nets.model`. None if it is no Python file of the
      package.
    """
    path = source.removeprefix(":")
    if not path.endswith(".py") or ":" in path or path.startswith("@"):
        return None
    folders = package.split("/") if package else []
    return ".".join(folders + path.removesuffix(".py").split("/"))
