# SPDX-License-Identifier: Apache-2.0
"""Python's module name of a source file in the workspace."""

def module_name(package, source):
    """Returns the module name of a file.

    Args:
      package: the package of the file, "" for the workspace's root.
      source: the file, in or below the package: `model.py`, `:model.py` or
        `nets/model.py`.

    Returns:
      The name for imports, `package.nets.model`. None if it is no Python file of the
        package.
    """
    path = source.removeprefix(":")
    if not path.endswith(".py") or ":" in path or path.startswith("@"):
        return None
    folders = package.split("/") if package else []
    return ".".join(folders + path.removesuffix(".py").split("/"))
