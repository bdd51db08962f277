# SPDX-License-Identifier: Apache-2.0
"""The container image, the editor's container and the page about them agree."""

import json
import re

from tools.lint.workspace import workspace_root

_ROOT = workspace_root()
_IMAGE = (_ROOT / "Dockerfile").read_text()
_EDITOR = json.loads((_ROOT / ".devcontainer/devcontainer.json").read_text())
_PAGE = (_ROOT / "docs/machines.md").read_text()


def _value(instruction: str) -> str:
    """Return what the only instruction of this kind says."""
    (value,) = re.findall(rf"^{instruction} (.+)$", _IMAGE, re.MULTILINE)
    return str(value)


def test_the_editor_builds_this_image() -> None:
    folder = _ROOT / ".devcontainer"
    assert (folder / _EDITOR["build"]["dockerfile"]).samefile(_ROOT / "Dockerfile")
    assert (folder / _EDITOR["build"]["context"]).samefile(_ROOT)


def test_the_user_owns_the_cache() -> None:
    user, cache = _value("USER"), _value("VOLUME")
    assert f"useradd --create-home --shell /bin/bash {user}" in _IMAGE
    assert f"install --directory --owner={user} --group={user} {cache}" in _IMAGE
    assert cache == f"/home/{user}/.cache"
    assert _EDITOR["remoteUser"] == user
    (mount,) = _EDITOR["mounts"]
    assert (mount["type"], mount["target"]) == ("volume", cache)
    assert f'-v {mount["source"]}:{cache} -v "$PWD:{_value("WORKDIR")}"' in _PAGE


def test_editor_finds_python_where_the_page_says() -> None:
    settings = _EDITOR["customizations"]["vscode"]["settings"]
    python = settings["python.defaultInterpreterPath"].partition("/bazel-")[2]
    assert python.partition("/")[2] in _PAGE
