# SPDX-License-Identifier: Apache-2.0
"""Create a registry of the modules in Debian's Bazel, for builds without internet.

Bazel looks up its own module and dependencies in a registry, by default the public one on the
internet. Debian's Bazel carries the sources of most modules: they become local modules. Nothing
here loads the rest: they become empty ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

SHARE = Path("usr/share/bazel")
REGISTRY = Path("registry")

# Location of a module in Debian's Bazel, below SHARE.
SOURCES = {
    "bazel_features": "tools/features",
    "bazel_skylib": "tools/skylib",
    "platforms": "tools/platforms",
    "rules_cc": "rules/cc",
    "rules_java": "rules/java",
    "rules_license": "rules/license",
    "rules_proto": "rules/proto",
    "rules_python": "rules/python",
}

# Dependency of the module `local_config_platform`, a part of the program.
_BUILT_IN = {("platforms", "0.0.7")}

_VERSION = re.compile(r'(module\([^)]*?\bversion = ")([^"]*)')
_DEPENDENCY = re.compile(r"^bazel_dep\(([^)]*)\)", re.MULTILINE)


def dependencies(text: str) -> Iterator[tuple[str, str]]:
    """Yield name and version of a MODULE.bazel's dependencies, except for development
    dependencies.
    """
    for call in _DEPENDENCY.findall(text):
        arguments = dict(re.findall(r'(\w+) = "?([^",]+)', call))
        if arguments.get("dev_dependency") != "True":
            yield arguments["name"], arguments["version"]


def lay_down_registry(prefix: Path, final: Path) -> None:
    """Write the registry into the folder `registry` of an unpacked Bazel.

    Every requested version of a module is present, with the content packaged with Bazel.

    Args:
        prefix: folder with Debian's Bazel.
        final: its later path.
    """
    share, registry = prefix / SHARE, prefix / REGISTRY
    texts = {
        name: (share / folder / "MODULE.bazel").read_text() for name, folder in SOURCES.items()
    }
    asked = _BUILT_IN | {
        (name, match[2]) for name, text in texts.items() if (match := _VERSION.search(text))
    }
    for text in [*texts.values(), (share / "embedded_tools/MODULE.bazel").read_text()]:
        asked |= set(dependencies(text))
    (registry / "empty").mkdir(parents=True)
    (registry / "bazel_registry.json").write_text("{}\n")
    for name, version in sorted(asked):
        folder = registry / "modules" / name / version
        folder.mkdir(parents=True)
        text = texts.get(name, f'module(name = "{name}", version = "")\n')
        (folder / "MODULE.bazel").write_text(_VERSION.sub(rf"\g<1>{version}", text, count=1))
        source = SHARE / SOURCES[name] if name in SOURCES else REGISTRY / "empty"
        place = {"type": "local_path", "path": str(final / source)}
        (folder / "source.json").write_text(json.dumps(place) + "\n")
