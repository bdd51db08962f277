# SPDX-License-Identifier: Apache-2.0
"""Python names of sources, from module_name.bzl (PL_NAMES: a JSON list)."""

import json
import os

import pytest

_NAMES: list[list[str | None]] = json.loads(os.environ["PL_NAMES"])


@pytest.mark.parametrize(
    ("package", "source", "name"),
    [
        ("examples/gesture", "model.py", "examples.gesture.model"),
        ("", "rootmodel.py", "rootmodel"),
        ("nets", ":model.py", "nets.model"),
        ("nets", "small/model.py", "nets.small.model"),
        ("", "small/model.py", "small.model"),
        ("nets", "//other:model.py", None),
        ("nets", "@else//:model.py", None),
        ("nets", ":model", None),
    ],
)
def test_name(package: str, source: str, name: str | None) -> None:
    assert [package, source, name] in _NAMES
    _NAMES.remove([package, source, name])


def test_every_name_has_a_case() -> None:
    assert _NAMES == []
