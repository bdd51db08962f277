# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from tools.ci.determinism_check import differences, digests


def test_differences(tmp_path: Path) -> None:
    (tmp_path / "folder/deep").mkdir(parents=True)
    (tmp_path / "folder/deep/a").write_text("1")
    (tmp_path / "b").write_text("2")
    outputs = {name: digests(tmp_path / name) for name in ("folder", "b")}
    assert differences(outputs, outputs) == []
    (tmp_path / "folder/deep/a").write_text("3")
    changed = {name: digests(tmp_path / name) for name in ("folder", "b")}
    assert differences(outputs, changed) == ["folder"]
    assert differences(outputs, {"b": outputs["b"]}) == ["folder"]
    assert differences({"b": outputs["b"]}, outputs) == ["folder"]
