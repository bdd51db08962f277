# SPDX-License-Identifier: Apache-2.0
"""Registry of a Bazel set up here; examples/outside is built with the real one."""

import json
from pathlib import Path

from tools.bootstrap.registry import REGISTRY, SHARE, SOURCES, dependencies, lay_down_registry

MODULE = """\
module(
    name = "{name}",
    # the releases have another
    version = "1.0",
    compatibility_level = 1,
)

bazel_dep(name = "platforms", version = "0.0.4")
bazel_dep(
    name = "protobuf",
    version = "21.7",
    repo_name = "com_google_protobuf",
)
bazel_dep(name = "stardoc", version = "0.7.0", dev_dependency = True)
"""


def test_dependencies_are_those_of_users() -> None:
    assert list(dependencies(MODULE)) == [("platforms", "0.0.4"), ("protobuf", "21.7")]


def test_every_version_that_is_asked_for_is_there(tmp_path: Path) -> None:
    prefix, final = tmp_path / "work", tmp_path / "bazel"
    for name, folder in SOURCES.items():
        (prefix / SHARE / folder).mkdir(parents=True)
        (prefix / SHARE / folder / "MODULE.bazel").write_text(MODULE.format(name=name))
    (prefix / SHARE / "embedded_tools").mkdir()
    (prefix / SHARE / "embedded_tools/MODULE.bazel").write_text(
        'module(name = "bazel_tools")\nbazel_dep(name = "rules_cc", version = "0.0.11")\n'
    )
    lay_down_registry(prefix, final)

    modules = prefix / REGISTRY / "modules"
    found = {str(path.relative_to(modules)) for path in modules.glob("*/*")}
    asked = {"platforms/0.0.4", "platforms/0.0.7", "protobuf/21.7", "rules_cc/0.0.11"}
    assert found == asked | {f"{name}/1.0" for name in SOURCES}

    def read(name: str, file: str) -> str:
        return (modules / name / file).read_text()

    assert 'version = "0.0.4",\n    compatibility_level' in read("platforms/0.0.4", "MODULE.bazel")
    assert read("protobuf/21.7", "MODULE.bazel") == 'module(name = "protobuf", version = "21.7")\n'
    for name, place in (
        ("rules_cc/0.0.11", SHARE / SOURCES["rules_cc"]),
        ("protobuf/21.7", REGISTRY / "empty"),
    ):
        source = json.loads(read(name, "source.json"))
        assert source == {"type": "local_path", "path": str(final / place)}
        assert (prefix / place).is_dir()
